// Whatever names, values and messages hold: the terminal gets only text, colours and line breaks,
// and no line is wider than it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Transaction } from '../../../src/format/formatter.ts';
import type { ColorLevel } from '../../../src/terminal/color.ts';
import { displayWidth } from '../../../src/terminal/width.ts';
import { anyText, UNSAFE_ON_A_TERMINAL } from '../../terminal/any-text.ts';
import { COMMIT, change, orders, row, type Screen, screen, TYPES, UNCHANGED } from './shop.ts';

const OUR_COLOURS = /\x1b\[\d+m/g;

const value = fc.oneof(
  anyText,
  anyText.map((text) => text.repeat(40)),
  fc.constant(null),
);
const sentValue = fc.oneof(value, fc.constant(UNCHANGED), fc.constant(Buffer.from('binary')));

const aTable = fc.record({
  schema: anyText,
  name: anyText,
  identity: fc.constantFrom('default', 'index', 'full', 'nothing' as const),
  columns: fc.array(
    fc.record({
      name: anyText,
      typeId: fc.constantFrom(...Object.values(TYPES)),
      typmod: fc.constant(-1),
      key: fc.boolean(),
      newValue: sentValue,
      oldValue: value,
    }),
    { maxLength: 12 },
  ),
  keyOnly: fc.boolean(),
});

type AnyTable = typeof aTable extends fc.Arbitrary<infer T> ? T : never;

const XIDS = [745, 750, 4_294_967_000, 4_294_967_295];
const SUBXIDS = [0, 746, 747, 751, 4_294_967_294];
const METHODS = [
  'begin',
  'commit',
  'origin',
  'relation',
  'insert',
  'update',
  'key update',
  'delete',
  'truncate',
  'message',
  'message outside',
  'beginPrepare',
  'prepare',
  'commitPrepared',
  'rollbackPrepared',
  'streamStart',
  'streamStop',
  'streamCommit',
  'streamAbort',
  'subtransaction abort',
  'streamPrepare',
  'restart',
] as const;

/** One call of the formatter, whatever came before it. */
const aCall = fc.record({
  method: fc.constantFrom(...METHODS),
  kind: fc.constantFrom('committed', 'prepared', 'streamed' as const),
  xid: fc.constantFrom(...XIDS),
  subxid: fc.constantFrom(...SUBXIDS),
  text: anyText,
  lsn: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  time: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  number: fc.nat(),
});

type AnyCall = typeof aCall extends fc.Arbitrary<infer T> ? T : never;

function transactionOf({ kind, xid, text: gid, lsn, time }: AnyCall): Transaction {
  switch (kind) {
    case 'committed':
      return { kind, xid, commitLsn: lsn, commitTime: time };
    case 'prepared':
      return { kind, xid, gid, prepareLsn: lsn, prepareTime: time };
    case 'streamed':
      return { kind, xid };
  }
}

function rowsOf({ columns, keyOnly }: AnyTable) {
  const newValues = columns.map((column) => column.newValue);
  const oldValues = columns.map((column) => column.oldValue);
  return { newRow: row('new', newValues), oldRow: row(keyOnly ? 'key' : 'old', oldValues) };
}

function make({ format }: Screen, table: AnyTable, call: AnyCall): void {
  const { xid, subxid, text, lsn, time, number } = call;
  const transaction = transactionOf(call);
  const at = change(transaction, transaction.kind === 'streamed' ? subxid : 0);
  const relation = { ...table, relationId: 16_392 };
  const { newRow, oldRow } = rowsOf(table);
  const content = Buffer.from(text);
  const end = { commitLsn: lsn, endLsn: lsn, commitTime: time, xid };
  const prepare = { prepareLsn: lsn, endLsn: lsn, prepareTime: time, xid, gid: text };
  switch (call.method) {
    case 'begin':
      return format.begin(transaction);
    case 'commit':
      return format.commit(transaction, end, number);
    case 'origin':
      return format.origin(transaction, { originLsn: lsn, name: text });
    case 'relation':
      return format.relation({ ...relation, name: text, columns: [] }, relation);
    case 'insert':
      return format.insert(at, relation, newRow);
    case 'update':
      return format.update(at, relation, newRow, oldRow);
    case 'key update':
      return format.update(at, relation, newRow, null);
    case 'delete':
      return format.delete(at, relation, oldRow);
    case 'truncate':
      return format.truncate(at, [relation, relation], { cascade: true, restartIdentity: true });
    case 'message':
      return format.message(at, { transactional: true, lsn, prefix: text, content });
    case 'message outside':
      return format.message(null, { transactional: false, lsn, prefix: text, content });
    case 'beginPrepare':
      return format.beginPrepare(transaction, prepare);
    case 'prepare':
      return format.prepare(transaction, prepare, number);
    case 'commitPrepared':
      return format.commitPrepared({ ...end, gid: text });
    case 'rollbackPrepared':
      return format.rollbackPrepared({ ...rolledBackAt(lsn, time), xid, gid: text });
    case 'streamStart':
      return format.streamStart(transaction, number % 2 === 0);
    case 'streamStop':
      return format.streamStop(transaction);
    case 'streamCommit':
      return format.streamCommit(transaction, end, number);
    case 'streamAbort':
      return format.streamAbort(transaction, { xid, subxid: xid, abort: undefined });
    case 'subtransaction abort':
      return format.streamAbort(transaction, { xid, subxid, abort: { lsn, time } });
    case 'streamPrepare':
      return format.streamPrepare(transaction, prepare, number);
    case 'restart':
      return format.restart(number % 2 === 0 ? lsn : undefined, XIDS.slice(number % 5));
  }
}

function rolledBackAt(lsn: bigint, time: bigint) {
  return { prepareEndLsn: lsn, rollbackEndLsn: lsn, prepareTime: time, rollbackTime: time };
}

describe('pretty output', () => {
  it('is harmless and inside the width for any text, in any order of calls', () => {
    fc.assert(
      fc.property(
        aTable,
        fc.array(aCall, { maxLength: 40 }),
        fc.integer({ min: 40, max: 200 }),
        fc.constantFrom<ColorLevel>(0, 1, 2, 3),
        (table, calls, columns, colors) => {
          const shown = screen({ columns, colors });
          for (const call of calls) make(shown, table, call);
          const lines = shown.text().replace(OUR_COLOURS, '').split('\n');
          expect(lines.filter((line) => UNSAFE_ON_A_TERMINAL.test(line))).toEqual([]);
          expect(lines.filter((line) => displayWidth(line) > columns)).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** A row of a subtransaction, or its rollback. */
const aStep = fc.record({
  xid: fc.constantFrom(745, 850, 950),
  level: fc.nat({ max: 3 }),
  isRollback: fc.boolean(),
});

describe('interleaved streamed transactions', () => {
  it('are told to have as many rows as were shown and not taken back', () => {
    const order = row('new', ['1001', '7', 'new', '129.90', null]);
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 60 }), (steps) => {
        const { format, text } = screen();
        const standing = new Map<number, number[]>();
        for (const { xid, level, isRollback } of steps) {
          const transaction: Transaction = { kind: 'streamed', xid };
          const subxid = level === 0 ? 0 : xid + level;
          const rows = standing.get(xid) ?? [];
          if (isRollback && subxid !== 0) {
            format.streamAbort(transaction, { xid, subxid, abort: undefined });
            standing.set(
              xid,
              rows.filter((one) => one !== subxid),
            );
          } else {
            format.streamStart(transaction, false);
            format.insert(change(transaction, subxid), orders, order);
            format.streamStop(transaction);
            standing.set(xid, [...rows, subxid]);
          }
        }
        text();
        for (const [xid, rows] of standing) {
          format.streamCommit({ kind: 'streamed', xid }, { ...COMMIT, xid }, 0);
          const count = rows.length === 1 ? '1 row stands' : `${rows.length} rows stand`;
          expect(text()).toContain(`─ ${xid}  commit  ${count}`);
        }
      }),
    );
  });
});
