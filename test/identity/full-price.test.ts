// What FULL is said to cost, from what the statistics say.

import { describe, expect, it } from 'vitest';
import { fullPrice, priceText } from '../../src/identity/full-price.ts';
import type { Column, Table } from '../../src/identity/table.ts';

const column = (facts: Partial<Column>): Column => ({
  number: 1,
  name: 'note',
  notNull: false,
  generated: undefined,
  toastable: true,
  width: 40,
  nullFraction: 0,
  readable: true,
  ...facts,
});

const table = (facts: Partial<Table>): Table => ({
  id: 1,
  schemaId: 1,
  schema: 'shop',
  name: 'orders',
  partitioned: false,
  unlogged: false,
  identity: 'default',
  ancestors: [],
  hasHeirs: false,
  columns: [column({})],
  indexes: [],
  rows: undefined,
  analyzed: true,
  toastSize: 0,
  changes: undefined,
  ...facts,
});

describe('the price of FULL', () => {
  it('is the old row, with as much of a column as is not null', () => {
    const columns = [column({ width: 40, nullFraction: 0.5 }), column({ width: 4 })];
    expect(fullPrice(table({ columns }), undefined).bytes).toBe(20 + 4 + 8);
  });

  it('has values out of line, and not what is computed when it is read', () => {
    const columns = [column({ width: 18 }), column({ generated: 'virtual', width: undefined })];
    const found = table({ columns, toastSize: 1_000_000, rows: 1000 });
    expect(fullPrice(found, undefined).bytes).toBe(18 + 1000 + 8);
  });

  it('is told for a day where changes have been counted', () => {
    const price = fullPrice(table({ changes: 3000 }), 1.5);
    expect(price.changesPerDay).toBe(2000);
    expect(priceText(price)).toBe(
      'about 48 B of WAL more for each UPDATE and DELETE, about 93.8 kB a day',
    );
  });

  it('is told for all changes where nobody knows since when they were counted', () => {
    expect(priceText(fullPrice(table({ changes: 3000 }), undefined))).toBe(
      'about 48 B of WAL more for each UPDATE and DELETE, 141 kB for those counted so far',
    );
  });

  it('is not guessed without statistics', () => {
    const unread = column({ width: undefined });
    expect(priceText(fullPrice(table({ columns: [unread] }), 1))).toMatch(/run ANALYZE$/);
    const hidden = column({ width: undefined, readable: false });
    expect(priceText(fullPrice(table({ columns: [hidden] }), 1))).toMatch(
      /in statistics that this role may not read$/,
    );
  });

  it('as measured goes before an estimate', () => {
    const measured = { rows: 100, update: 62, delete: 52 };
    expect(priceText(fullPrice(table({ changes: 0 }), 1, measured))).toBe(
      '62 B of WAL more for each UPDATE and 52 B for each DELETE, as measured',
    );
  });
});
