// Paragraphs in lines of a width.

import { expect, it } from 'vitest';
import { wrapText } from '../../src/terminal/wrap.ts';

it('breaks between words, at the width at most', () => {
  expect(wrapText('nobody reads slot "audit", which keeps WAL', 20)).toEqual([
    'nobody reads slot',
    '"audit", which keeps',
    'WAL',
  ]);
});

it('breaks a word only where it is wider than a line', () => {
  expect(wrapText(`slot ${'a'.repeat(45)} is lost`, 20)).toEqual([
    'slot',
    'a'.repeat(20),
    'a'.repeat(20),
    'aaaaa is lost',
  ]);
});

it('counts wide characters as two columns', () => {
  expect(wrapText('漢字漢字漢字漢字漢字漢字', 20)).toEqual(['漢字漢字漢字漢字漢字', '漢字']);
});

it('keeps to one line where nobody says how wide it may be', () => {
  expect(wrapText('a '.repeat(500).trim(), Number.POSITIVE_INFINITY)).toHaveLength(1);
});

it('shows line breaks and escapes of the text as such', () => {
  expect(wrapText('a\nb \x1b[2J', 80)).toEqual(['a\\nb \\x1b[2J']);
});
