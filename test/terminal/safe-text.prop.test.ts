// For any text at all: nothing unsafe comes out, and widths are what they are said to be.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitText, safeText } from '../../src/terminal/safe-text.ts';
import { cutToWidth, displayWidth } from '../../src/terminal/width.ts';
import { anyText, UNSAFE_ON_A_TERMINAL } from './any-text.ts';

describe('any text', () => {
  it('comes out without a character that could do more than be read', () => {
    fc.assert(fc.property(anyText, (text) => !UNSAFE_ON_A_TERMINAL.test(safeText(text))));
  });

  it('is already safe the second time', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const safe = safeText(text);
        expect(safeText(safe)).toBe(safe);
      }),
    );
  });

  it('fits into any number of columns, as wide as it says', () => {
    fc.assert(
      fc.property(anyText, fc.nat(60), (text, columns) => {
        const fitted = fitText(text, columns);
        expect(fitted.width).toBeLessThanOrEqual(columns);
        expect(displayWidth(fitted.text)).toBe(fitted.width);
        expect(safeText(text).startsWith(fitted.text)).toBe(true);
      }),
    );
  });

  it('is cut to any width', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 60 }), (text, columns) => {
        expect(displayWidth(cutToWidth(safeText(text), columns))).toBeLessThanOrEqual(columns);
      }),
    );
  });
});
