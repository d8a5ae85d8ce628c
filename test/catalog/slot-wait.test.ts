// What is shown of a statement that belongs to somebody else.

import { expect, it } from 'vitest';
import { withoutValues } from '../../src/catalog/slot-wait.ts';

it.each([
  [
    `UPDATE orders SET note = 'it''s secret' WHERE id = 42`,
    'UPDATE orders SET note = … WHERE id = …',
  ],
  [`SELECT E'a\\'b', 'unfinished`, 'SELECT …, …'],
  ['DO $$ BEGIN secret(); END $$', 'DO …'],
  ['DO $body$ secret $body$; SELECT $1', 'DO …; SELECT $1'],
  ['SELECT 1.5e-3, 0x1f -- secret\nFROM t /* secret */', 'SELECT …, … FROM t'],
  [`INSERT INTO t VALUES ('a', 'b')`, 'INSERT INTO t VALUES (…, …)'],
])('%j is shown without its values', (sql, shown) => {
  expect(withoutValues(sql)).toBe(shown);
});

it('is cut where it is long', () => {
  expect(withoutValues(`SELECT ${'x, '.repeat(100)}y`)).toHaveLength(80);
});
