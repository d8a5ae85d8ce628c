// Which lines come out of a stream of messages, in which order, and where its units end.

import { describe, expect, it } from 'vitest';
import { LINE_OPS } from '../../src/changes/selection.ts';
import { ProtocolViolation } from '../../src/errors.ts';
import {
  writeCommitPrepared,
  writeOrigin,
  writeRelation,
  writeRollbackPrepared,
  writeStreamAbort,
  writeStreamCommit,
  writeStreamPrepare,
  writeStreamStart,
  writeStreamStop,
  writeType,
} from '../support/pgoutput-writer.ts';
import { follow } from './followed.ts';
import {
  AUDIT,
  audit,
  insert,
  message,
  ORDERS,
  orders,
  prepared,
  preparedTransaction,
  remove,
  TIME,
  transaction,
  truncate,
  update,
} from './shop-stream.ts';

const twoTables = transaction(
  0x1000n,
  ORDERS,
  AUDIT,
  insert(orders, 1),
  insert(audit, 2),
  update(orders, 1),
  truncate(orders, audit),
  message(true),
  remove(audit, 2),
);

const seqs = (messages: readonly Buffer[], options: Parameters<typeof follow>[1]): unknown[] =>
  follow(messages, options).lines.flatMap((line) => ('seq' in line ? [line.seq] : []));

describe('a transaction', () => {
  it('is acknowledged at its exact end', () => {
    const { units } = follow(transaction(0x1000n, ORDERS, insert(orders)));
    expect(units).toEqual(['open', 0x1030n]);
  });

  it('of nothing but a message has a frame for --op commit too', () => {
    const { ops } = follow(transaction(0x1000n, message(true)), { ops: ['begin', 'commit'] });
    expect(ops).toEqual(['begin', 'commit']);
  });

  it('with nothing to print is acknowledged silently', () => {
    const { lines, ends } = follow([...transaction(0x1000n), ...transaction(0x2000n, ORDERS)]);
    expect(lines).toEqual([]);
    expect(ends).toEqual([0x1030n, 0x2030n]);
  });

  it('that is filtered out leaves no trace, neither of its origin', () => {
    const origin = writeOrigin({ originLsn: 5n, name: 'node_a' });
    const messages = transaction(0x1000n, origin, AUDIT, insert(audit));
    const { lines, ends } = follow(messages, { tables: ['!audit_*'] });
    expect(lines).toEqual([]);
    expect(ends).toEqual([0x1030n]);
  });

  it('begins with its first line: begin, origin, relation, change', () => {
    const origin = writeOrigin({ originLsn: 5n, name: 'node_a' });
    const { ops } = follow(transaction(0x1000n, origin, ORDERS, insert(orders), update(orders)));
    expect(ops).toEqual(['begin', 'origin', 'relation', 'insert', 'update', 'commit']);
  });

  it('counts what the server sent before filters, and the lines that are printed', () => {
    const selected = { tables: ['orders'] };
    expect(seqs(twoTables, {})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(seqs(twoTables, selected)).toEqual([1, 3, 4]);
    expect(follow(twoTables, selected).lines.at(-1)).toMatchObject({ op: 'commit', changes: 3 });
  });

  it('shows of a truncate only the tables that are selected', () => {
    const { lines } = follow(twoTables, { tables: ['orders'] });
    expect(lines.find(({ op }) => op === 'truncate')).toMatchObject({
      tables: [{ schema: 'shop', table: 'orders' }],
    });
    expect(follow(twoTables, { tables: ['carts'] }).lines).toEqual([]);
  });

  it('cannot begin inside another one, nor rows stand outside', () => {
    const [begin] = transaction(0x1000n);
    expect(() => follow([begin!, begin!])).toThrow(ProtocolViolation);
    expect(() => follow([ORDERS, insert(orders)])).toThrow(/insert outside a transaction/);
  });
});

describe('a relation', () => {
  it('is printed once, however often the server announces it', () => {
    const one = transaction(0x1000n, ORDERS, insert(orders));
    const two = transaction(0x2000n, ORDERS, insert(orders), ORDERS, truncate(orders));
    expect(follow([...one, ...two]).ops.filter((op) => op === 'relation')).toHaveLength(1);
  });

  it('is printed again once it differs', () => {
    const changed = [
      { ...orders, name: 'purchases' },
      { ...orders, schema: 'archive' },
      { ...orders, identity: 'f' as const },
      { ...orders, columns: orders.columns.slice(1) },
      { ...orders, columns: orders.columns.map((column) => ({ ...column, typmod: 24 })) },
      { ...orders, columns: orders.columns.map((column) => ({ ...column, key: false })) },
      { ...orders, columns: orders.columns.map((column) => ({ ...column, typeId: 23 })) },
      { ...orders, columns: orders.columns.map((column) => ({ ...column, name: 'x' })) },
    ];
    for (const relation of changed) {
      const messages = [ORDERS, insert(orders), writeRelation(relation), truncate(orders)];
      const { ops } = follow(transaction(0x1000n, ...messages));
      expect(ops.filter((op) => op === 'relation')).toHaveLength(2);
    }
  });

  it('that was announced for nothing is not printed', () => {
    expect(follow(transaction(0x1000n, ORDERS, AUDIT, insert(audit))).lines).toMatchObject([
      { op: 'begin' },
      { op: 'relation', table: 'audit_log' },
      { op: 'insert' },
      { op: 'commit' },
    ]);
  });

  it('comes with the types it uses, once, and again if a type changed', () => {
    const column = { name: 'mood', typeId: 16_999, typmod: -1, key: false };
    const relation = { ...orders, columns: [...orders.columns, column] };
    const type = (name: string): Buffer => writeType({ typeId: 16_999, schema: 'shop', name });
    const unused = writeType({ typeId: 17_000, schema: 'shop', name: 'unused' });
    const shown = [writeRelation(relation), truncate(orders)];
    const messages = [unused, type('mood'), ...shown, type('mood'), ...shown, type('humour')];
    const { ops } = follow(transaction(0x1000n, ...messages, ...shown));
    const truncated = ['type', 'relation', 'truncate'];
    expect(ops).toEqual(['begin', ...truncated, 'truncate', ...truncated, 'commit']);
  });
});

describe('a message', () => {
  it('outside a transaction is a unit of its own', () => {
    const { lines, units } = follow([message(false, 0x500n)]);
    expect(lines).toMatchObject([{ op: 'message', lsn: '0/500', transactional: false }]);
    expect(units).toEqual([0x500n]);
  });

  it('that is not printed is acknowledged all the same', () => {
    const { lines, ends } = follow([message(false, 0x500n)], { tables: ['orders'] });
    expect(lines).toEqual([]);
    expect(ends).toEqual([0x500n]);
  });

  it('belongs to no table: certain tables leave it out, unless --op asks for it', () => {
    const messages = transaction(0x1000n, message(true));
    expect(follow(messages, { tables: ['orders'] }).lines).toEqual([]);
    expect(follow(messages, { tables: ['!audit_*'] }).ops).toContain('message');
    expect(follow(messages, { tables: ['orders'], ops: ['message'] }).ops).toEqual(['message']);
  });

  it('does not count as a change, nor towards the limit', () => {
    const messages = transaction(0x1000n, message(true), ORDERS, insert(orders), message(true));
    const { lines, finished } = follow(messages, { limit: 2 });
    expect(lines.at(-1)).toMatchObject({ op: 'commit', changes: 1 });
    expect(finished).toBe(false);
  });

  it('inside a stream block ends no unit', () => {
    for (const transactional of [true, false]) {
      const inside = message(transactional, 0x500n, 745);
      const block = [writeStreamStart({ xid: 745, first: true }), inside, writeStreamStop()];
      expect(follow(block).units).toEqual(['open', 'aside']);
    }
  });
});

describe('--op', () => {
  it('prints exactly the lines named', () => {
    for (const op of LINE_OPS.slice(0, 8)) {
      const { ops } = follow(twoTables, { ops: [op] });
      expect(new Set(ops)).toEqual(new Set([op]));
    }
  });

  it('keeps the frame for people', () => {
    const { ops } = follow(twoTables, { ops: ['delete'], keepsFrame: true });
    expect(ops).toEqual(['begin', 'relation', 'delete', 'commit']);
  });

  it('that names only the frame prints it for each transaction with changes', () => {
    const messages = [...twoTables, ...transaction(0x2000n)];
    const { lines } = follow(messages, { ops: ['begin', 'commit'] });
    expect(lines).toMatchObject([{ op: 'begin' }, { op: 'commit', changes: 0 }]);
  });

  it('leaves no relation behind where no line of it was printed', () => {
    const { ops } = follow(twoTables, { ops: ['delete', 'relation'], tables: ['orders'] });
    expect(ops).toEqual(['relation']);
  });
});

describe('--limit', () => {
  const two = [
    ...transaction(0x1000n, ORDERS, insert(orders, 1), insert(orders, 2)),
    ...transaction(0x2000n, insert(orders, 3)),
  ];

  it('takes the end of the transaction, if it is the next message', () => {
    const { ops, ends, finished, taken } = follow(two, { limit: 2 });
    expect(ops).toEqual(['begin', 'relation', 'insert', 'insert', 'commit']);
    expect(ends).toEqual([0x1030n]);
    expect(finished).toBe(true);
    expect(taken).toBe(5);
  });

  it('cuts the transaction else, which is not acknowledged', () => {
    const { ops, ends, finished } = follow(two, { limit: 1 });
    expect(ops).toEqual(['begin', 'relation', 'insert']);
    expect(ends).toEqual([]);
    expect(finished).toBe(true);
  });

  it('counts truncate lines and only what is printed', () => {
    const messages = transaction(0x1000n, ORDERS, AUDIT, insert(audit), truncate(orders));
    const { ops, ends } = follow(messages, { limit: 1, tables: ['orders'] });
    expect(ops).toEqual(['begin', 'relation', 'truncate', 'commit']);
    expect(ends).toEqual([0x1030n]);
  });

  it('takes the end of a prepared transaction too', () => {
    const messages = preparedTransaction(0x1000n, 'order 77', ORDERS, insert(orders));
    const { ops, ends } = follow(messages, { limit: 1 });
    expect(ops.at(-1)).toBe('prepare');
    expect(ends).toEqual([0x1030n]);
  });

  it('inside a stream block cuts it', () => {
    const block = [
      writeStreamStart({ xid: 745, first: true }),
      writeRelation(orders, 745),
      insert(orders, 1, 745),
      writeStreamStop(),
    ];
    const { ops, units, finished } = follow(block, { limit: 1 });
    expect(ops).toEqual(['stream_start', 'relation', 'insert']);
    expect(units).toEqual(['open']);
    expect(finished).toBe(true);
  });
});

describe('the end of what is wanted', () => {
  const three = [
    ...transaction(0x1000n, ORDERS, insert(orders, 1)),
    ...transaction(0x2000n, insert(orders, 2)),
    ...transaction(0x3000n, insert(orders, 3)),
  ];

  it('takes what was committed before it, and ends with the transaction that reaches it', () => {
    const { ends, finished, lines } = follow(three, { stopAt: 0x2030n });
    expect(ends).toEqual([0x1030n, 0x2030n]);
    expect(finished).toBe(true);
    expect(lines.at(-1)).toMatchObject({ op: 'commit', commit_lsn: '0/2000' });
  });

  it('ends at the first transaction beyond, of which nothing is printed', () => {
    const { ends, units, lines } = follow(three, { stopAt: 0x2000n });
    expect(ends).toEqual([0x1030n]);
    expect(units).toEqual(['open', 0x1030n]);
    expect(lines.at(-1)).toMatchObject({ op: 'commit', commit_lsn: '0/1000' });
  });

  it('holds for messages and prepared transactions too', () => {
    expect(follow([message(false, 0x500n)], { stopAt: 0x500n }).ends).toEqual([0x500n]);
    expect(follow([message(false, 0x501n)], { stopAt: 0x500n }).lines).toEqual([]);
    const late = preparedTransaction(0x1000n, 'order 77', ORDERS, insert(orders));
    expect(follow(late, { stopAt: 0x1000n })).toMatchObject({ lines: [], finished: true });
  });
});

describe('a streamed transaction', () => {
  const block = (first: boolean, ...messages: readonly Buffer[]): Buffer[] => [
    writeStreamStart({ xid: 745, first }),
    ...messages,
    writeStreamStop(),
  ];
  const END = { commitLsn: 0x1000n, endLsn: 0x1030n, commitTime: TIME };
  const row = (id: number, xid = 745): Buffer => insert(orders, id, xid);
  const RELATION = writeRelation(orders, 745);
  const commit = writeStreamCommit({ ...END, xid: 745 });

  it('ends with its commit, and its blocks are only set aside', () => {
    const messages = [...block(true, RELATION, row(1)), ...block(false, row(2, 746)), commit];
    const { units, lines } = follow(messages);
    expect(units).toEqual(['open', 'aside', 'open', 'aside', 0x1030n]);
    expect(lines).toMatchObject([
      { op: 'stream_start', first: true },
      { op: 'relation' },
      { op: 'insert', seq: 1, streamed: true },
      { op: 'stream_stop' },
      { op: 'stream_start', first: false },
      { op: 'insert', seq: 2, subxid: 746 },
      { op: 'stream_stop' },
      { op: 'stream_commit', changes: 2 },
    ]);
  });

  it('may have others between its blocks, each with its own count', () => {
    const between = transaction(0x900n, ORDERS, insert(orders, 9));
    const messages = [
      ...block(true, RELATION, row(1)),
      ...between,
      ...block(false, row(2)),
      commit,
    ];
    expect(seqs(messages, {})).toEqual([1, 1, 2]);
    expect(follow(messages).ends).toEqual([0x930n, 0x1030n]);
  });

  it('shows no block without a line, and nothing at all if no block has one', () => {
    const empty = [...block(true), ...block(false, RELATION, row(1)), ...block(false), commit];
    expect(follow(empty).ops).toEqual([
      'stream_start',
      'relation',
      'insert',
      'stream_stop',
      'stream_commit',
    ]);
    expect(follow(empty, { tables: ['audit_log'] })).toMatchObject({ lines: [], ends: [0x1030n] });
  });

  it('that is rolled back ends no unit, and is forgotten', () => {
    const rolledBack = [...block(true, RELATION, row(1)), writeStreamAbort(745, 745)];
    const { units, ops } = follow(rolledBack);
    expect(units).toEqual(['open', 'aside']);
    expect(ops.at(-1)).toBe('stream_abort');
    expect(seqs([...rolledBack, ...block(true, row(2))], {})).toEqual([1, 1]);
  });

  it('survives the rollback of a subtransaction, even of one never seen', () => {
    const aborts = [writeStreamAbort(745, 746), writeStreamAbort(745, 999)];
    const { ops, ends } = follow([...block(true, RELATION, row(1, 746)), ...aborts, commit]);
    expect(ops.slice(-3)).toEqual(['stream_abort', 'stream_abort', 'stream_commit']);
    expect(ends).toEqual([0x1030n]);
  });

  it('can end prepared', () => {
    const prepare = writeStreamPrepare({ ...prepared(0x1000n, 'big'), xid: 745 });
    const { ops, ends } = follow([...block(true, RELATION, row(1)), prepare]);
    expect(ops.at(-1)).toBe('stream_prepare');
    expect(ends).toEqual([0x1030n]);
  });
});

describe('a prepared transaction', () => {
  const shown = preparedTransaction(0x1000n, 'order 77', ORDERS, insert(orders));
  const end = { commitLsn: 0x2000n, endLsn: 0x2030n, commitTime: TIME, xid: 1, gid: 'order 77' };
  const commit = writeCommitPrepared(end);
  const rollback = writeRollbackPrepared({
    prepareEndLsn: 0x1030n,
    rollbackEndLsn: 0x2030n,
    prepareTime: TIME,
    rollbackTime: TIME,
    xid: 1,
    gid: 'order 77',
  });

  it('is a unit, and so is its commit or rollback', () => {
    expect(follow([...shown, commit]).units).toEqual(['open', 0x1030n, 0x2030n]);
    expect(follow([...shown, rollback]).units).toEqual(['open', 0x1030n, 0x2030n]);
    expect(follow([...shown, rollback]).ops.slice(-2)).toEqual(['prepare', 'rollback_prepared']);
  });

  it('with nothing to print says nothing at its end either', () => {
    const silent = preparedTransaction(0x1000n, 'order 77');
    for (const last of [commit, rollback]) {
      expect(follow([...silent, last])).toMatchObject({ lines: [], ends: [0x1030n, 0x2030n] });
    }
  });

  it('that was prepared before the start is told to be committed', () => {
    expect(follow([commit]).ops).toEqual(['commit_prepared']);
  });

  it('may use a gid again', () => {
    const silent = preparedTransaction(0x1000n, 'order 77');
    const { ops } = follow([...silent, commit, ...shown, commit]);
    expect(ops.slice(-2)).toEqual(['prepare', 'commit_prepared']);
  });
});
