// Tables: aligned, fitted to the width, harmless.

import { expect, it } from 'vitest';
import { tableLines } from '../../src/terminal/table.ts';

const COLUMNS = [
  { header: 'slot' },
  { header: 'keeps', align: 'right' },
  { header: 'state' },
] as const;
const plain = { header: (text: string) => text };
const rows = [
  ['audit', '1.2 GB', 'inactive for 12 days'],
  ['漢字', '87 B', 'read by pgtail'],
];

it('aligns text to the left and numbers to the right, whatever a character is wide', () => {
  expect(tableLines(COLUMNS, rows, { ...plain, width: Number.POSITIVE_INFINITY })).toEqual([
    'slot    keeps  state',
    'audit  1.2 GB  inactive for 12 days',
    '漢字     87 B  read by pgtail',
  ]);
});

it('cuts the widest cell where the terminal is narrow, and says so', () => {
  const lines = tableLines(COLUMNS, rows, { ...plain, width: 28 });
  expect(lines).toEqual([
    'slot    keeps  state',
    'audit  1.2 GB  inactive for…',
    '漢字     87 B  read by pgta…',
  ]);
});

it('shows no control character of a cell, and paints only its text', () => {
  const paint = (text: string): string => `<${text}>`;
  const row = [{ text: 'a\x1b[2J', paint }, '1', ''];
  expect(tableLines(COLUMNS, [row], { ...plain, width: 80 })[1]).toBe('<a\\x1b[2J>      1');
});

it('has a header also without rows', () => {
  expect(tableLines(COLUMNS, [], { ...plain, width: 80 })).toEqual(['slot  keeps  state']);
});
