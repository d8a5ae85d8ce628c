// JSON.parse is the judge of what is JSON.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJson } from '../../src/pgtypes/json-check.ts';

function check(text: string): boolean {
  // what stands around it must not leak in
  const source = Buffer.from(`1,${text}"]}`);
  return isJson(source, 2, source.length - 3);
}

function judge(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const pieces = fc
  .array(
    fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '"a"',
        '"\\u00e9"',
        '"\\x"',
        '\\',
        '0',
        '-1.5e+3',
        '01',
      ],
      ...['1.', 'true', 'null', 'nul', ' ', '\n', '\t', '\u0001', 'é', '-', '+1', '1e5', '""'],
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('whether a text is JSON', () => {
  it('is what JSON.parse says of whatever was put together', () => {
    fc.assert(
      fc.property(pieces, (text) => {
        expect(check(text)).toBe(judge(text));
      }),
      { numRuns: 20_000 },
    );
  });

  it('is what JSON.parse says of values with one byte changed', () => {
    const changed = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', ',', '}', ']', '\\', '0', ' '))
      .map(([text, at, byte]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + byte + text.slice(place + 1);
      });
    fc.assert(
      fc.property(fc.oneof(fc.json(), changed), (text) => {
        expect(check(text)).toBe(judge(text));
      }),
      { numRuns: 3000 },
    );
  });

  it('is told of deep nesting without running out of stack', () => {
    const deep = 500_000;
    expect(check('['.repeat(deep) + ']'.repeat(deep))).toBe(true);
    expect(check('['.repeat(deep))).toBe(false);
  });
});
