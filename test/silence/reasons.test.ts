// Why nothing arrives: from two looks at the server.

import { describe, expect, it } from 'vitest';
import type { Activity, TableActivity } from '../../src/silence/activity.ts';
import type { PublishedTable } from '../../src/silence/published.ts';
import {
  changedTables,
  reasonKey,
  type SilenceReason,
  silenceReasons,
} from '../../src/silence/reasons.ts';

const ORDERS = 16_400;

const NOTHING: Activity = {
  walEnd: 0x100_0000n,
  decoded: 0x100_0000n,
  tables: new Map(),
  otherDatabases: new Map(),
  rollbacks: 0,
  open: [],
  seesOthers: true,
};

function orders(
  rows: Partial<TableActivity['rows']>,
  different: Partial<TableActivity> = {},
): ReadonlyMap<number, TableActivity> {
  const table = { schema: 'shop', name: 'orders', quoted: 'shop.orders', isLogged: true };
  const counts = { insert: 0, update: 0, delete: 0, truncate: 0, ...rows };
  return new Map([
    [ORDERS, { ...table, file: 16_401, isEmpty: false, rows: counts, ...different }],
  ]);
}

const sent: PublishedTable = {
  publication: 'shop',
  sentAs: { schema: 'shop', name: 'orders' },
  operations: ['insert', 'update', 'delete', 'truncate'],
  rowFilter: undefined,
};

function reasonsOf(
  before: Partial<Activity>,
  after: Partial<Activity>,
  published: readonly PublishedTable[] = [],
) {
  return silenceReasons({
    before: { activity: { ...NOTHING, ...before }, at: 0 },
    after: { activity: { ...NOTHING, ...after }, at: 10_000 },
    published: new Map([[ORDERS, published]]),
    isPrinted: () => true,
  });
}

describe('why nothing arrives', () => {
  it('is nothing to tell if nothing was written', () => {
    expect(reasonsOf({}, {})).toEqual([]);
  });

  it('is the decoder, if it is far behind the end of WAL, and how fast it reads', () => {
    const found = reasonsOf({ decoded: 0n }, { decoded: 0x80_0000n });
    expect(found).toEqual([
      { kind: 'decoding', decoded: 0x80_0000n, behind: 0x80_0000, rate: 838_860.8 },
    ]);
  });

  it('is no decoder that is behind by what a server writes by itself', () => {
    expect(reasonsOf({}, { decoded: 0xff_f000n })).toEqual([]);
  });

  it('counts only what was written between the looks, for each operation that is not sent', () => {
    const before = { tables: orders({ insert: 5, update: 7 }) };
    const after = { tables: orders({ insert: 5, update: 9, delete: 1 }) };
    const found = reasonsOf(before, after, [{ ...sent, operations: ['insert', 'truncate'] }]);
    expect(found).toMatchObject([
      {
        kind: 'operation not published',
        op: 'update',
        count: 2,
        published: ['insert', 'truncate'],
      },
      {
        kind: 'operation not published',
        op: 'delete',
        count: 1,
        published: ['insert', 'truncate'],
      },
    ]);
  });

  it('may be a TRUNCATE that is not sent, if a table has another file and no rows', () => {
    const before = { tables: orders({ insert: 5 }) };
    const rewritten = { tables: orders({ insert: 5 }, { file: 16_500 }) };
    const emptied = { tables: orders({ insert: 5 }, { file: 16_500, isEmpty: true }) };
    const withoutTruncate = { ...sent, operations: ['insert'] as const };
    expect(reasonsOf(before, rewritten, [withoutTruncate])).toEqual([]);
    expect(reasonsOf(before, emptied, [withoutTruncate])).toMatchObject([
      { kind: 'operation not published', op: 'truncate', published: ['insert'] },
    ]);
    expect(reasonsOf(before, emptied)).toMatchObject([
      { kind: 'not published', rows: { insert: 0, truncate: 1 } },
    ]);
    const filtered = { ...sent, rowFilter: '(id > 5)' };
    expect(reasonsOf(before, { ...emptied, rollbacks: 1 }, [filtered])).toEqual([]);
  });

  it('is no TRUNCATE of a table that had no rows: VACUUM FULL gives it another file too', () => {
    const empty = { tables: orders({ insert: 5 }, { isEmpty: true }) };
    const rewritten = { tables: orders({ insert: 5 }, { file: 16_500, isEmpty: true }) };
    expect(reasonsOf(empty, rewritten)).toEqual([]);
    const filled = { tables: orders({ insert: 6 }, { file: 16_500, isEmpty: true }) };
    expect(reasonsOf(empty, filled)).toMatchObject([
      { kind: 'not published', rows: { insert: 1, truncate: 1 } },
    ]);
  });

  it('counts anew after the statistics were reset', () => {
    const changed = changedTables(
      { ...NOTHING, tables: orders({ insert: 500 }) },
      { ...NOTHING, tables: orders({ insert: 3 }) },
    );
    expect(changed.get(ORDERS)?.rows.insert).toBe(3);
  });

  it('is no filter if another publication sends every row', () => {
    const after = { tables: orders({ insert: 1 }) };
    const filtered = { ...sent, rowFilter: '(id > 5)' };
    expect(reasonsOf({}, after, [filtered, sent])).toEqual([]);
    expect(reasonsOf({}, after, [filtered])).toMatchObject([{ kind: 'row filter' }]);
  });

  it('says rolled back only if something was, and the decoder has read everything', () => {
    const after = { tables: orders({ insert: 1 }), rollbacks: 1 };
    expect(reasonsOf({}, after, [sent])).toMatchObject([{ kind: 'rolled back' }]);
    expect(reasonsOf({ rollbacks: 1 }, after, [sent])).toEqual([]);
    expect(reasonsOf({}, { ...after, decoded: 0n }, [sent])).toMatchObject([{ kind: 'decoding' }]);
  });

  it('speaks of other databases, and of what it may not see, only for want of better', () => {
    const otherDatabases = new Map([['stock', 9]]);
    const before = { otherDatabases: new Map([['stock', 2]]) };
    const moved = { walEnd: 0x100_1000n, decoded: 0x100_1000n };
    expect(reasonsOf(before, { otherDatabases, seesOthers: false, ...moved })).toEqual([
      { kind: 'other databases', databases: [{ name: 'stock', changes: 7 }] },
      { kind: 'others not seen' },
    ]);
    expect(reasonsOf({}, { seesOthers: false })).toEqual([]);
    const tables = orders({ insert: 1 });
    expect(reasonsOf(before, { otherDatabases, tables, seesOthers: false })).toMatchObject([
      { kind: 'not published' },
    ]);
  });
});

it('is another reason where rows are certain than where only a TRUNCATE is likely', () => {
  const key = (rows: Partial<TableActivity['rows']>): string => {
    const counts = { insert: 0, update: 0, delete: 0, truncate: 0, ...rows };
    const reason: SilenceReason = { kind: 'not published', table: 'shop.orders', rows: counts };
    return reasonKey(reason);
  };
  expect(key({ insert: 1000 })).not.toBe(key({ truncate: 1 }));
  expect(key({ insert: 1000 })).toBe(key({ update: 2, truncate: 1 }));
});
