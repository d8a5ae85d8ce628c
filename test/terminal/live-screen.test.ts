// A picture that is drawn again in its place.

import { expect, it } from 'vitest';
import { screenFrame } from '../../src/terminal/live-screen.ts';

it('draws over the picture before, and clears only what is left of it', () => {
  expect(screenFrame(['slots', 'audit'], 24)).toBe('\x1b[Hslots\x1b[K\r\naudit\x1b[K\x1b[J');
});

it('counts the lines that do not fit', () => {
  expect(screenFrame(['1', '2', '3', '4'], 3)).toBe(
    '\x1b[H1\x1b[K\r\n2\x1b[K\r\n… 2 more lines\x1b[K\x1b[J',
  );
});
