// Whatever the server sends and whatever is filtered: units end where the server said, in order,
// and what is printed is a part of what would be printed without filters, with the same numbers.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LINE_OPS } from '../../src/changes/selection.ts';
import type { NdjsonLine } from '../../src/format/ndjson/schema.ts';
import {
  writeCommitPrepared,
  writeRelation,
  writeRollbackPrepared,
  writeStreamAbort,
  writeStreamCommit,
  writeStreamPrepare,
  writeStreamStart,
  writeStreamStop,
} from '../support/pgoutput-writer.ts';
import { follow } from './followed.ts';
import {
  audit,
  insert,
  message,
  orders,
  prepared,
  preparedTransaction,
  remove,
  TIME,
  transaction,
  truncate,
  update,
} from './shop-stream.ts';

/** A piece of a stream: its messages, and where units end in it. */
interface Piece {
  readonly messages: readonly Buffer[];
  readonly ends: readonly bigint[];
}

const position = fc.bigInt({ min: 0x100n, max: 0xffff_ffffn });
const relation = fc.constantFrom(orders, audit);
const id = fc.integer({ min: 1, max: 99 });

const change = (xid: number): fc.Arbitrary<Buffer> =>
  fc.oneof(
    ...[insert, update, remove].map((write) =>
      fc.tuple(relation, id).map(([table, row]) => write(table, row, xid)),
    ),
    relation.map((table) => writeRelation(table, xid)),
  );

const body = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: change(0) },
    { weight: 1, arbitrary: fc.constantFrom(truncate(orders, audit), truncate(audit)) },
    { weight: 1, arbitrary: fc.constant(message(true)) },
  ),
  { maxLength: 6 },
);

const committed = fc
  .tuple(position, body)
  .map(
    ([lsn, messages]): Piece => ({ messages: transaction(lsn, ...messages), ends: [lsn + 0x30n] }),
  );

const standalone = position.map((lsn): Piece => ({ messages: [message(false, lsn)], ends: [lsn] }));

const twoPhase = fc
  .tuple(position, position, body, fc.boolean())
  .map(([lsn, later, messages, commits]): Piece => {
    const gid = `order ${lsn}`;
    const commit = { commitLsn: later, endLsn: later + 0x30n, commitTime: TIME, xid: 7, gid };
    const rollback = {
      prepareEndLsn: lsn + 0x30n,
      rollbackEndLsn: later + 0x30n,
      prepareTime: TIME,
      rollbackTime: TIME,
      xid: 7,
      gid,
    };
    const end = commits ? writeCommitPrepared(commit) : writeRollbackPrepared(rollback);
    return {
      messages: [...preparedTransaction(lsn, gid, ...messages), end],
      ends: [lsn + 0x30n, later + 0x30n],
    };
  });

const STREAM_XID = 900;

const streamed = fc
  .tuple(
    position,
    fc.array(fc.array(change(STREAM_XID), { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('commit', 'abort', 'prepare'),
  )
  .map(([lsn, blocks, end]): Piece => {
    const messages = blocks.flatMap((rows, i) => [
      writeStreamStart({ xid: STREAM_XID, first: i === 0 }),
      ...rows,
      writeStreamStop(),
    ]);
    if (end === 'abort') {
      return { messages: [...messages, writeStreamAbort(STREAM_XID, STREAM_XID)], ends: [] };
    }
    const last =
      end === 'commit'
        ? writeStreamCommit({
            commitLsn: lsn,
            endLsn: lsn + 0x30n,
            commitTime: TIME,
            xid: STREAM_XID,
          })
        : writeStreamPrepare({ ...prepared(lsn, `big ${lsn}`), xid: STREAM_XID });
    return { messages: [...messages, last], ends: [lsn + 0x30n] };
  });

const ANNOUNCED = transaction(0x10n, writeRelation(orders), writeRelation(audit));

const aStream = fc
  .array(fc.oneof(committed, standalone, twoPhase, streamed), { maxLength: 8 })
  .map((pieces) => ({
    messages: [...ANNOUNCED, ...pieces.flatMap((piece) => piece.messages)],
    ends: [0x40n, ...pieces.flatMap((piece) => piece.ends)],
  }));

const filters = fc.record({
  tables: fc.subarray(['orders', '!audit_*', 'shop.*', 'carts']),
  ops: fc.option(fc.subarray([...LINE_OPS], { minLength: 1 }), { nil: undefined }),
  keepsFrame: fc.boolean(),
});

const withoutUndefined = ({
  ops,
  ...rest
}: typeof filters extends fc.Arbitrary<infer F> ? F : never) =>
  ops === undefined ? rest : { ...rest, ops };

const isChange = (line: NdjsonLine): boolean =>
  ['insert', 'update', 'delete', 'message'].includes(line.op);

describe('any stream', () => {
  it('ends its units exactly where the server ended them, whatever is filtered', () => {
    fc.assert(
      fc.property(aStream, filters, ({ messages, ends }, filter) => {
        expect(follow(messages, withoutUndefined(filter)).ends).toEqual(ends);
      }),
    );
  });

  it('prints with filters a part of what it prints without, with the same numbers', () => {
    fc.assert(
      fc.property(aStream, filters, ({ messages }, filter) => {
        const all = follow(messages).lines.map((line) => JSON.stringify(line));
        const some = follow(messages, withoutUndefined(filter)).lines.filter(isChange);
        let from = 0;
        for (const line of some) {
          const at = all.indexOf(JSON.stringify(line), from);
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + 1;
        }
      }),
    );
  });

  it('has a begin line before and an end line behind every row', () => {
    fc.assert(
      fc.property(aStream, filters, ({ messages }, { tables }) => {
        const { ops } = follow(messages, { tables });
        const opens = ops.filter((op) => /^(begin|begin_prepare|stream_start)$/.test(op)).length;
        const closes = ops.filter((op) => /^(commit|prepare|stream_stop)$/.test(op)).length;
        expect(opens).toBe(closes);
      }),
    );
  });

  it('prints at most as many lines as the limit says, and acknowledges only what is whole', () => {
    fc.assert(
      fc.property(aStream, fc.integer({ min: 1, max: 10 }), ({ messages, ends }, limit) => {
        const followed = follow(messages, { limit });
        const rows = followed.ops.filter((op) => /^(insert|update|delete|truncate)$/.test(op));
        expect(rows.length).toBeLessThanOrEqual(limit);
        expect(followed.ends).toEqual(ends.slice(0, followed.ends.length));
        const whole = follow(messages).lines.map((line) => JSON.stringify(line));
        const cut = followed.lines.map((line) => JSON.stringify(line));
        expect(cut).toEqual(whole.slice(0, cut.length));
      }),
    );
  });
});
