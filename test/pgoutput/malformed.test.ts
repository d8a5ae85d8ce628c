// Bytes that are not what the protocol says end in a ProtocolViolation that tells what and where.

import { describe, expect, it } from 'vitest';
import { EXIT, type ProtocolViolation } from '../../src/errors.ts';
import { PgoutputDecoder } from '../../src/pgoutput/decoder.ts';
import {
  UNCHANGED,
  type WireRelation,
  type WireValue,
  writeBegin,
  writeBeginPrepare,
  writeCommit,
  writeCommitPrepared,
  writeDelete,
  writeInsert,
  writeMessage,
  writeOrigin,
  writePrepare,
  writeRelation,
  writeRollbackPrepared,
  writeStreamAbort,
  writeStreamCommit,
  writeStreamPrepare,
  writeStreamStart,
  writeStreamStop,
  writeTruncate,
  writeType,
  writeUpdate,
} from '../support/pgoutput-writer.ts';
import { RecordingHandler } from '../support/recording-handler.ts';
import { violationOf } from '../support/violation.ts';

const AT = { high: 0, low: 0x13be_1348 };
const ORDERS = 16_392;

const orders: WireRelation = {
  relationId: ORDERS,
  schema: 'shop',
  name: 'orders',
  identity: 'd',
  columns: [
    { name: 'id', typeId: 20, typmod: -1, key: true },
    { name: 'total', typeId: 1700, typmod: 655_366, key: false },
    { name: 'note', typeId: 25, typmod: -1, key: false },
  ],
};
const STREAM_START = writeStreamStart({ xid: 745, first: true });

/** The violation in the last of the messages; those before it are good. */
function violationIn(...messages: readonly Buffer[]): ProtocolViolation {
  const decoder = new PgoutputDecoder(new RecordingHandler());
  const feed = (bytes: Buffer) => decoder.decode(bytes, 0, bytes.length, AT);
  for (const good of messages.slice(0, -1)) feed(good);
  return violationOf(() => feed(messages.at(-1)!));
}

/** `bytes` with the bytes from `offset` on replaced. */
function patched(bytes: Buffer, offset: number, ...replacement: readonly number[]): Buffer {
  const copy = Buffer.from(bytes);
  copy.set(replacement, offset);
  return copy;
}

const INT32_600_MB = [0x25, 0x80, 0, 0];
const INT32_512 = [0, 0, 2, 0];
const INT32_MINUS_1 = [0xff, 0xff, 0xff, 0xff];
const withRelation = [writeRelation(orders)];
const commit = { commitLsn: 1n, endLsn: 2n, commitTime: 3n };
const prepare = { prepareLsn: 1n, endLsn: 2n, prepareTime: 3n, xid: 745, gid: 'g' };
const rollback = {
  prepareEndLsn: 1n,
  rollbackEndLsn: 2n,
  prepareTime: 3n,
  rollbackTime: 4n,
  xid: 745,
  gid: 'g',
};
const oldKey = { part: 'K', values: ['1', null, null] } as const;
const logical = { transactional: true, lsn: 9n, prefix: 'app', content: 'hello' };
const insert = writeInsert(ORDERS, ['1', '12.50', 'x'.repeat(41)]);
/** Tag, relation id, 'N', column count; then kind, length, '1'; kind, length, '12.50'; kind. */
const NOTE_LENGTH_OFFSET = 8 + 6 + 10 + 1;

describe('the text of a violation', () => {
  it('names message, LSN, column, both numbers and the offset in the message', () => {
    const error = violationIn(...withRelation, patched(insert, NOTE_LENGTH_OFFSET, ...INT32_512));
    expect(error.message).toBe(
      'insert at 0/13BE1348: column 3 "note": 512 bytes announced, 41 left (offset 29)',
    );
    expect(error).toMatchObject({
      name: 'ProtocolViolation',
      exitCode: EXIT.protocol,
      field: 'column 3 "note"',
      problem: '512 bytes announced, 41 left',
      offset: 29,
    });
  });

  it('counts the offset from the start of the message, not of the buffer', () => {
    const decoder = new PgoutputDecoder(new RecordingHandler());
    const chunk = Buffer.concat([Buffer.alloc(100), patched(writeCommit(commit), 1, 7)]);
    const error = violationOf(() => decoder.decode(chunk, 100, chunk.length, AT));
    expect(error.message).toBe('commit at 0/13BE1348: flags: expected 0, got 7 (offset 2)');
  });

  it('holds no value of the row', () => {
    const secret = writeInsert(ORDERS, ['1', 'hunter2', null]);
    const error = violationIn(...withRelation, Buffer.concat([secret, Buffer.from('hunter2')]));
    expect(error.message).not.toContain('hunter2');
  });
});

/** Good messages, then one that breaks the rule in the first column of the table. */
const VIOLATIONS: readonly (readonly [string, readonly Buffer[], string])[] = [
  [
    'no message at all',
    [Buffer.alloc(0)],
    'message at 0/13BE1348: message type: 1 bytes needed, 0 left (offset 0)',
  ],
  [
    'an unknown tag',
    [Buffer.from('Z')],
    'message at 0/13BE1348: message type: unknown tag 0x5a (offset 1)',
  ],
  [
    'an unknown tag below 0x10',
    [Buffer.from([0])],
    'message at 0/13BE1348: message type: unknown tag 0x00 (offset 1)',
  ],
  [
    'a row of an unknown relation',
    [writeInsert(4_000_000_000, ['1'])],
    'insert at 0/13BE1348: relation id: relation 4000000000 was never announced (offset 5)',
  ],
  [
    'a truncate of an unknown relation among known ones',
    [...withRelation, writeTruncate([ORDERS, 7], { cascade: false, restartIdentity: false })],
    'truncate at 0/13BE1348: relation id: relation 7 was never announced (offset 14)',
  ],
  [
    'fewer columns than announced',
    [...withRelation, writeInsert(ORDERS, ['1', '2'])],
    'insert at 0/13BE1348: column count: 2 columns, but the relation was announced with 3 (offset 8)',
  ],
  [
    'more columns than announced',
    [...withRelation, writeDelete(ORDERS, { part: 'O', values: ['1', '2', '3', '4'] })],
    'delete at 0/13BE1348: column count: 4 columns, but the relation was announced with 3 (offset 8)',
  ],
  [
    'another number of columns in the new row than in the old one',
    [...withRelation, writeUpdate(ORDERS, ['1'], oldKey)],
    'update at 0/13BE1348: column count: 1 columns, but the relation was announced with 3 (offset 19)',
  ],
  [
    'a negative column length',
    [...withRelation, patched(insert, NOTE_LENGTH_OFFSET, ...INT32_MINUS_1)],
    'insert at 0/13BE1348: column 3 "note": -1 bytes announced, 41 left (offset 29)',
  ],
  [
    'an unknown kind of column',
    [...withRelation, patched(insert, NOTE_LENGTH_OFFSET - 1, 0x78)],
    `insert at 0/13BE1348: column 3 "note": expected kind 'n', 'u', 't' or 'b', got 0x78 (offset 25)`,
  ],
  [
    'an insert without a new row',
    [...withRelation, patched(insert, 5, 0x4b)],
    `insert at 0/13BE1348: tuple part: expected 'N', got "K" (offset 6)`,
  ],
  [
    'an update with an unknown part',
    [...withRelation, patched(writeUpdate(ORDERS, ['1', '2', '3']), 5, 0x58)],
    `update at 0/13BE1348: tuple part: expected 'N', 'O' or 'K', got "X" (offset 6)`,
  ],
  [
    'an update with two old rows',
    [...withRelation, patched(writeUpdate(ORDERS, ['1', '2', '3'], oldKey), 16, 0x4f)],
    `update at 0/13BE1348: tuple part: expected 'N', got "O" (offset 17)`,
  ],
  [
    'a delete with a new row',
    [...withRelation, patched(writeDelete(ORDERS, oldKey), 5, 0x4e)],
    `delete at 0/13BE1348: tuple part: expected 'O' or 'K', got "N" (offset 6)`,
  ],
  [
    'an unknown replica identity',
    [patched(writeRelation(orders), 17, 0x78)],
    `relation at 0/13BE1348: replica identity: expected 'd', 'n', 'f' or 'i', got "x" (offset 18)`,
  ],
  [
    'a name without an end',
    [Buffer.from('O\0\0\0\0\0\0\0\x01node_a')],
    'origin at 0/13BE1348: origin name: no NUL byte ends the string (offset 9)',
  ],
  [
    'a message content longer than the message',
    [patched(writeMessage(logical), 14, ...INT32_600_MB)],
    'message at 0/13BE1348: content: 629145600 bytes announced, 5 left (offset 18)',
  ],
  [
    'a negative content length',
    [patched(writeMessage(logical), 14, ...INT32_MINUS_1)],
    'message at 0/13BE1348: content: -1 bytes announced, 5 left (offset 18)',
  ],
  [
    'a message content shorter than the message',
    [patched(writeMessage(logical), 14, 0, 0, 0, 4)],
    'message at 0/13BE1348: end of message: 1 bytes left over (offset 22)',
  ],
  [
    'a stream block within a stream block',
    [STREAM_START, STREAM_START],
    'stream start at 0/13BE1348: stream start: the previous stream block is still open (offset 1)',
  ],
  [
    'a stream stop without a start',
    [writeStreamStop()],
    'stream stop at 0/13BE1348: stream stop: no stream block is open (offset 1)',
  ],
  [
    'a second stream stop',
    [STREAM_START, writeStreamStop(), writeStreamStop()],
    'stream stop at 0/13BE1348: stream stop: no stream block is open (offset 1)',
  ],
  [
    'a row without its xid inside a stream block',
    [...withRelation, STREAM_START, writeInsert(ORDERS, ['1', null, null])],
    'insert at 0/13BE1348: relation id: relation 1308623732 was never announced (offset 9)',
  ],
  [
    'a stream abort with a position but no time',
    [writeStreamAbort(745, 746, { lsn: 1n, time: 2n }).subarray(0, 17)],
    'stream abort at 0/13BE1348: abort time: 8 bytes needed, 0 left (offset 17)',
  ],
];

describe('a violation is told for', () => {
  it.each(VIOLATIONS)('%s', (_, messages, text) => {
    expect(violationIn(...messages).message).toBe(text);
  });

  it.each([
    ['commit', writeCommit(commit), 1],
    ['prepare', writePrepare(prepare), 1],
    ['stream prepare', writeStreamPrepare(prepare), 1],
    ['commit prepared', writeCommitPrepared({ ...commit, xid: 745, gid: 'g' }), 1],
    ['rollback prepared', writeRollbackPrepared(rollback), 1],
    ['stream commit', writeStreamCommit({ xid: 745, ...commit }), 5],
  ])('flags that are not zero in %s, which has none', (name, bytes, offset) => {
    for (const flags of [1, 0x80, 0xff]) {
      expect(violationIn(patched(bytes, offset, flags)).message).toBe(
        `${name} at 0/13BE1348: flags: expected 0, got ${flags} (offset ${offset + 1})`,
      );
    }
  });
});

/** The fields of a message in the order of the protocol, each with its length. */
type Layout = readonly (readonly [string, number])[];

const TAG = ['message type', 1] as const;
const FLAGS = ['flags', 1] as const;
const XID = ['xid', 4] as const;
const END: Layout = [
  ['commit lsn', 8],
  ['end lsn', 8],
  ['commit time', 8],
];
const PREPARE: Layout = [['prepare lsn', 8], ['end lsn', 8], ['prepare time', 8], XID, ['gid', 2]];
const RELATION_ID = ['relation id', 4] as const;
const KEY_TUPLE: Layout = [
  ['tuple part', 1],
  ['column count', 2],
  ['column kind', 1],
  ['column length', 4],
  ['column 1 "id"', 1],
  ['column kind', 1],
  ['column kind', 1],
];
const NEW_TUPLE: Layout = [
  ...KEY_TUPLE.slice(0, -2),
  ['column kind', 1],
  ['column length', 4],
  ['column 2 "total"', 5],
  ['column kind', 1],
];
const RELATION: Layout = [
  RELATION_ID,
  ['namespace', 5],
  ['relation name', 7],
  ['replica identity', 1],
  ['column count', 2],
  ...['id', 'total', 'note'].flatMap(
    (name): Layout => [
      ['column flags', 1],
      ['column name', name.length + 1],
      ['column type id', 4],
      ['column typmod', 4],
    ],
  ),
];
const TYPE: Layout = [
  ['type id', 4],
  ['namespace', 5],
  ['type name', 5],
];
const TRUNCATE: Layout = [['relation count', 4], ['options', 1], RELATION_ID, RELATION_ID];
const MESSAGE: Layout = [
  FLAGS,
  ['message lsn', 8],
  ['prefix', 4],
  ['content length', 4],
  ['content', 5],
];

const newRow: readonly WireValue[] = ['1', '12.50', UNCHANGED];
const mood = { typeId: 16_390, schema: 'shop', name: 'mood' };
const twoOrders = [ORDERS, ORDERS];
const truncateOptions = { cascade: true, restartIdentity: true };

const LAYOUTS: readonly (readonly [string, Buffer, Layout])[] = [
  [
    'begin',
    writeBegin({ commitLsn: 1n, commitTime: 2n, xid: 745 }),
    [TAG, ['commit lsn', 8], ['commit time', 8], XID],
  ],
  ['commit', writeCommit(commit), [TAG, FLAGS, ...END]],
  [
    'origin',
    writeOrigin({ originLsn: 1n, name: 'node_a' }),
    [TAG, ['origin lsn', 8], ['origin name', 7]],
  ],
  ['relation', writeRelation(orders), [TAG, ...RELATION]],
  ['type', writeType(mood), [TAG, ...TYPE]],
  ['insert', writeInsert(ORDERS, newRow), [TAG, RELATION_ID, ...NEW_TUPLE]],
  ['update', writeUpdate(ORDERS, newRow, oldKey), [TAG, RELATION_ID, ...KEY_TUPLE, ...NEW_TUPLE]],
  ['delete', writeDelete(ORDERS, oldKey), [TAG, RELATION_ID, ...KEY_TUPLE]],
  ['truncate', writeTruncate(twoOrders, truncateOptions), [TAG, ...TRUNCATE]],
  ['message', writeMessage(logical), [TAG, ...MESSAGE]],
  ['stream start', STREAM_START, [TAG, XID, ['first segment', 1]]],
  ['stream commit', writeStreamCommit({ xid: 745, ...commit }), [TAG, XID, FLAGS, ...END]],
  ['stream abort', writeStreamAbort(745, 746), [TAG, XID, ['subxid', 4]]],
  ['begin prepare', writeBeginPrepare(prepare), [TAG, ...PREPARE]],
  ['prepare', writePrepare(prepare), [TAG, FLAGS, ...PREPARE]],
  ['stream prepare', writeStreamPrepare(prepare), [TAG, FLAGS, ...PREPARE]],
  [
    'commit prepared',
    writeCommitPrepared({ ...commit, xid: 745, gid: 'g' }),
    [TAG, FLAGS, ...END, XID, ['gid', 2]],
  ],
  [
    'rollback prepared',
    writeRollbackPrepared(rollback),
    [
      TAG,
      FLAGS,
      ['prepare end lsn', 8],
      ['rollback end lsn', 8],
      ['prepare time', 8],
      ['rollback time', 8],
      XID,
      ['gid', 2],
    ],
  ],
];

const STREAMED_LAYOUTS: typeof LAYOUTS = [
  ['relation', writeRelation(orders, 746), [TAG, XID, ...RELATION]],
  ['type', writeType(mood, 746), [TAG, XID, ...TYPE]],
  ['insert', writeInsert(ORDERS, newRow, 746), [TAG, XID, RELATION_ID, ...NEW_TUPLE]],
  [
    'update',
    writeUpdate(ORDERS, newRow, oldKey, 746),
    [TAG, XID, RELATION_ID, ...KEY_TUPLE, ...NEW_TUPLE],
  ],
  ['delete', writeDelete(ORDERS, oldKey, 746), [TAG, XID, RELATION_ID, ...KEY_TUPLE]],
  ['truncate', writeTruncate(twoOrders, truncateOptions, 746), [TAG, XID, ...TRUNCATE]],
  ['message', writeMessage(logical, 746), [TAG, XID, ...MESSAGE]],
];

/** Cuts `bytes` at every length and expects the field that was cut, at its start. */
function expectEveryCutToNameItsField(
  before: readonly Buffer[],
  name: string,
  bytes: Buffer,
  layout: Layout,
): void {
  let start = 0;
  for (const [field, length] of layout) {
    for (let end = start; end < start + length; end++) {
      const error = violationIn(...before, bytes.subarray(0, end));
      expect({ end, field: error.field, offset: error.offset }).toEqual({
        end,
        field,
        offset: start,
      });
      const shown = end === 0 ? 'message' : name;
      expect(error.message.startsWith(`${shown} at 0/13BE1348: ${field}: `)).toBe(true);
    }
    start += length;
  }
  expect(start).toBe(bytes.length);
}

describe('a message cut short anywhere names the field that was cut', () => {
  it.each(LAYOUTS)('%s', (name, bytes, layout) => {
    expectEveryCutToNameItsField(withRelation, name, bytes, layout);
  });

  it.each(STREAMED_LAYOUTS)('%s inside a stream block', (name, bytes, layout) => {
    expectEveryCutToNameItsField([...withRelation, STREAM_START], name, bytes, layout);
  });

  it('stream abort of protocol 4, which cut at the right place is one of protocol 2', () => {
    const bytes = writeStreamAbort(745, 746, { lsn: 1n, time: 2n });
    for (let end = 10; end < bytes.length; end++) {
      const error = violationIn(bytes.subarray(0, end));
      expect(error.field).toBe(end < 17 ? 'abort lsn' : 'abort time');
    }
  });
});

describe('bytes left over', () => {
  const stop = ['stream stop', writeStreamStop(), []] as const;
  // more bytes after a short stream abort are the start of a long one
  const longAbort = writeStreamAbort(745, 746, { lsn: 1n, time: 2n });
  const closed = LAYOUTS.map(
    ([name, bytes]) => [name, name === 'stream abort' ? longAbort : bytes] as const,
  );

  it.each(closed)('are refused after %s', (name, bytes) => {
    const long = Buffer.concat([bytes, Buffer.from([0])]);
    expect(violationIn(...withRelation, long).message).toBe(
      `${name} at 0/13BE1348: end of message: 1 bytes left over (offset ${long.length - 1})`,
    );
  });

  it.each([stop, ...STREAMED_LAYOUTS])('are refused after %s inside a stream', (name, bytes) => {
    const long = Buffer.concat([bytes, Buffer.from('more')]);
    expect(violationIn(...withRelation, STREAM_START, long).message).toBe(
      `${name} at 0/13BE1348: end of message: 4 bytes left over (offset ${long.length - 4})`,
    );
  });
});

describe('claims that are larger than the message', () => {
  const columnClaim = patched(insert, NOTE_LENGTH_OFFSET, ...INT32_600_MB);
  const contentClaim = patched(writeMessage(logical), 14, ...INT32_600_MB);
  const truncate = writeTruncate(twoOrders, truncateOptions);
  const relationCountClaim = patched(truncate, 1, ...INT32_MINUS_1);
  const columnCountClaim = patched(writeRelation(orders), 18, 0xff, 0xff);

  it.each([
    ['a column of 600 MB', columnClaim, 'column 3 "note"'],
    ['a content of 600 MB', contentClaim, 'content'],
    ['4294967295 relations', relationCountClaim, 'relation id'],
    ['65535 columns', columnCountClaim, 'column flags'],
  ])('are refused without room being made for them: %s', (_, bytes, field) => {
    const before = process.memoryUsage();
    const errors = Array.from({ length: 20 }, () => violationIn(...withRelation, bytes));
    const after = process.memoryUsage();
    expect(errors.map((error) => error.field)).toEqual(Array(20).fill(field));
    expect(after.external - before.external).toBeLessThan(1_000_000);
    expect(after.heapTotal - before.heapTotal).toBeLessThan(100_000_000);
  });
});

describe('after a malformed message', () => {
  it('no call was made for it', () => {
    const handler = new RecordingHandler();
    const decoder = new PgoutputDecoder(handler);
    const feed = (bytes: Buffer) => decoder.decode(bytes, 0, bytes.length, AT);
    feed(writeRelation(orders));
    for (const bytes of [insert, writeCommit(commit), writeMessage(logical), writeType(mood)]) {
      violationOf(() => feed(bytes.subarray(0, -1)));
      violationOf(() => feed(Buffer.concat([bytes, Buffer.from([0])])));
    }
    expect(handler.calls.map(({ call }) => call)).toEqual(['relation']);
  });

  it('a relation that was cut replaces nothing', () => {
    const decoder = new PgoutputDecoder(new RecordingHandler());
    const feed = (bytes: Buffer) => decoder.decode(bytes, 0, bytes.length, AT);
    feed(writeRelation(orders));
    violationOf(() => feed(writeRelation({ ...orders, columns: [] }).subarray(0, -1)));
    expect(() => feed(insert)).not.toThrow();
  });
});
