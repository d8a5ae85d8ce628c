// Every message of protocol 1 to 4, written as a server writes it, gives the call it stands for.

import { beforeEach, describe, expect, it } from 'vitest';
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
import { type RecordedCall, RecordingHandler } from '../support/recording-handler.ts';

const BEGIN_LSN = 0x16_b374_d848n;
const COMMIT_LSN = 0xffff_fffe_8000_0001n;
const END_LSN = 0xffff_fffe_8000_0031n;
const COMMIT_TIME = 0x0003_046f_057c_76c5n;
/** Beyond 2^31: xids and OIDs are unsigned. */
const XID = 4_294_967_200;
const ORDERS = 4_000_000_392;

const orders = {
  relationId: ORDERS,
  schema: 'shop',
  name: 'orders',
  identity: 'd',
  columns: [
    { name: 'id', typeId: 20, typmod: -1, key: true },
    { name: 'total', typeId: 1700, typmod: 655_366, key: false },
    { name: 'note', typeId: 25, typmod: -1, key: false },
  ],
} as const satisfies WireRelation;

const announcedOrders = { ...orders, identity: 'default' } as const;
const notes: WireRelation = { ...orders, relationId: 16_999, name: 'notes', identity: 'f' };
const announcedNotes = { ...notes, identity: 'full' };

const row: readonly WireValue[] = ['1', '12.50', null];
const recordedRow = [{ kind: 't', text: '1' }, { kind: 't', text: '12.50' }, { kind: 'n' }];
const key: readonly WireValue[] = ['7', null, null];
const recordedKey = [{ kind: 't', text: '7' }, { kind: 'n' }, { kind: 'n' }];

let handler: RecordingHandler;
let decoder: PgoutputDecoder;

beforeEach(() => {
  handler = new RecordingHandler();
  decoder = new PgoutputDecoder(handler);
});

/** Feeds messages that all stand at BEGIN_LSN and returns the last call they made. */
function decode(...messages: readonly Buffer[]): RecordedCall | undefined {
  const walStart = { high: 0x16, low: 0xb374_d848 };
  for (const bytes of messages) decoder.decode(bytes, 0, bytes.length, walStart);
  return handler.calls.at(-1);
}

const at = { lsn: BEGIN_LSN, streamXid: 0 };
const commit = { commitLsn: COMMIT_LSN, endLsn: END_LSN, commitTime: COMMIT_TIME };
const prepare = {
  prepareLsn: COMMIT_LSN,
  endLsn: END_LSN,
  prepareTime: COMMIT_TIME,
  xid: XID,
  gid: 'transfer-Ünï',
};

describe('transactions', () => {
  it('begin with the commit position, the commit time and the xid', () => {
    const begin = { commitLsn: COMMIT_LSN, commitTime: COMMIT_TIME, xid: XID };
    expect(decode(writeBegin(begin))).toEqual({ call: 'begin', begin });
  });

  it('end with both positions of the commit record', () => {
    expect(decode(writeCommit(commit))).toEqual({ call: 'commit', commit });
  });

  it('may have an origin, with a clock before 2000', () => {
    const begin = { commitLsn: COMMIT_LSN, commitTime: -1n, xid: 3 };
    const origin = { originLsn: END_LSN, name: 'node_a' };
    decode(writeBegin(begin), writeOrigin(origin));
    expect(handler.calls).toEqual([
      { call: 'begin', begin },
      { call: 'origin', origin },
    ]);
  });
});

describe('relations and types', () => {
  it.each([
    ['d', 'default'],
    ['n', 'nothing'],
    ['f', 'full'],
    ['i', 'index'],
  ] as const)('announce replica identity %s as %s', (identity, name) => {
    expect(decode(writeRelation({ ...orders, identity }))).toEqual({
      call: 'relation',
      relation: { ...orders, identity: name },
    });
  });

  it('stand in pg_catalog when the namespace is empty on the wire', () => {
    const domain = { typeId: 16_999, schema: 'pg_catalog', name: 'numeric' };
    expect(writeType(domain).includes('pg_catalog')).toBe(false);
    expect(decode(writeType(domain))).toEqual({ call: 'type', type: domain });
    const pgClass = { ...orders, schema: 'pg_catalog', name: 'pg_class' };
    expect(decode(writeRelation(pgClass))).toMatchObject({ relation: { schema: 'pg_catalog' } });
  });

  it('name user types by an unsigned OID', () => {
    const mood = { typeId: 4_000_000_000, schema: 'Ünï "q"', name: 'mood' };
    expect(decode(writeType(mood))).toEqual({ call: 'type', type: mood });
  });

  it('take only the lowest flag of a column for the key', () => {
    const bytes = writeRelation({ ...orders, columns: [orders.columns[1]] });
    bytes[bytes.indexOf('total') - 1] = 0xfe;
    expect(decode(bytes)).toMatchObject({ relation: { columns: [{ name: 'total', key: false }] } });
  });
});

describe('rows', () => {
  beforeEach(() => {
    decode(writeRelation(orders), writeRelation(notes));
  });

  it('insert a new row', () => {
    expect(decode(writeInsert(ORDERS, row))).toEqual({
      call: 'insert',
      at,
      relation: announcedOrders,
      newRow: { role: 'new', columns: recordedRow },
    });
  });

  it('update without an old row when the key did not change', () => {
    expect(decode(writeUpdate(ORDERS, ['1', '13.00', UNCHANGED]))).toEqual({
      call: 'update',
      at,
      relation: announcedOrders,
      newRow: {
        role: 'new',
        columns: [{ kind: 't', text: '1' }, { kind: 't', text: '13.00' }, { kind: 'u' }],
      },
      oldRow: null,
    });
  });

  it('update with the old key when the key changed', () => {
    expect(decode(writeUpdate(ORDERS, row, { part: 'K', values: key }))).toMatchObject({
      newRow: { role: 'new', columns: recordedRow },
      oldRow: { role: 'key', columns: recordedKey },
    });
  });

  it('update with the whole old row under REPLICA IDENTITY FULL', () => {
    expect(decode(writeUpdate(16_999, row, { part: 'O', values: key }))).toMatchObject({
      relation: announcedNotes,
      newRow: { role: 'new', columns: recordedRow },
      oldRow: { role: 'old', columns: recordedKey },
    });
  });

  it.each([
    ['K', 'key'],
    ['O', 'old'],
  ] as const)('delete with part %s of the old row as its %s', (part, role) => {
    expect(decode(writeDelete(ORDERS, { part, values: key }))).toEqual({
      call: 'delete',
      at,
      relation: announcedOrders,
      oldRow: { role, columns: recordedKey },
    });
  });

  it('hold binary values as bytes', () => {
    const id = Buffer.from('00000000000000ff', 'hex');
    expect(decode(writeInsert(ORDERS, [id, Buffer.alloc(0), UNCHANGED]))).toMatchObject({
      newRow: {
        columns: [{ kind: 'b', bytes: id }, { kind: 'b', bytes: Buffer.alloc(0) }, { kind: 'u' }],
      },
    });
  });

  it('tell the empty string, the text NULL and NULL apart', () => {
    expect(decode(writeInsert(ORDERS, ['', 'NULL', null]))).toMatchObject({
      newRow: { columns: [{ kind: 't', text: '' }, { kind: 't', text: 'NULL' }, { kind: 'n' }] },
    });
  });

  it('belong to the relation as it was last announced', () => {
    const renamed = { ...orders, name: 'purchases', columns: orders.columns.slice(0, 1) };
    expect(decode(writeRelation(renamed), writeInsert(ORDERS, ['2']))).toMatchObject({
      relation: { name: 'purchases' },
      newRow: { columns: [{ kind: 't', text: '2' }] },
    });
  });

  it('stand at the position of their frame, with both halves unsigned', () => {
    const bytes = writeInsert(ORDERS, row);
    decoder.decode(bytes, 0, bytes.length, { high: 0xffff_fffe, low: 0x8000_0001 });
    expect(handler.calls.at(-1)).toMatchObject({ at: { lsn: COMMIT_LSN, streamXid: 0 } });
  });
});

describe('a truncate', () => {
  it.each([
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ])('names its relations, cascade: %s, restart identity: %s', (cascade, restartIdentity) => {
    const options = { cascade, restartIdentity };
    decode(writeRelation(orders), writeRelation(notes));
    expect(decode(writeTruncate([16_999, ORDERS], options))).toEqual({
      call: 'truncate',
      at,
      relations: [announcedNotes, announcedOrders],
      options,
    });
  });
});

describe('a logical message', () => {
  it.each([
    [true, Buffer.from('hello')],
    [false, Buffer.from('00ff80c3', 'hex')],
    [true, Buffer.alloc(0)],
  ])('holds its bytes as they are, transactional: %s', (transactional, content) => {
    const message = { transactional, lsn: COMMIT_LSN, prefix: 'app', content };
    expect(decode(writeMessage(message))).toEqual({ call: 'message', at, message });
  });
});

describe('a stream block', () => {
  const inStream = { lsn: BEGIN_LSN, streamXid: XID };

  it.each([true, false])('starts with its transaction and whether it is the first: %s', (first) => {
    const start = { xid: XID, first };
    expect(decode(writeStreamStart(start))).toEqual({ call: 'streamStart', start });
  });

  it('puts an xid before relations, types, rows, truncates and messages', () => {
    const type = { typeId: 16_390, schema: 'shop', name: 'mood' };
    const options = { cascade: true, restartIdentity: false };
    const message = {
      transactional: true,
      lsn: END_LSN,
      prefix: 'app',
      content: Buffer.from('hi'),
    };
    decode(
      writeStreamStart({ xid: 745, first: true }),
      writeType(type, XID),
      writeRelation(orders, XID),
      writeInsert(ORDERS, row, XID),
      writeUpdate(ORDERS, row, { part: 'K', values: key }, XID),
      writeDelete(ORDERS, { part: 'K', values: key }, XID),
      writeTruncate([ORDERS], options, XID),
      writeMessage(message, XID),
      writeStreamStop(),
    );
    const [relation, newRow] = [announcedOrders, { role: 'new', columns: recordedRow }];
    const oldRow = { role: 'key', columns: recordedKey };
    expect(handler.calls).toEqual([
      { call: 'streamStart', start: { xid: 745, first: true } },
      { call: 'type', type },
      { call: 'relation', relation },
      { call: 'insert', at: inStream, relation, newRow },
      { call: 'update', at: inStream, relation, newRow, oldRow },
      { call: 'delete', at: inStream, relation, oldRow },
      { call: 'truncate', at: inStream, relations: [relation], options },
      { call: 'message', at: inStream, message },
      { call: 'streamStop' },
    ]);
  });

  it('puts no xid before an origin', () => {
    const origin = { originLsn: END_LSN, name: 'node_a' };
    decode(writeStreamStart({ xid: XID, first: true }));
    expect(decode(writeOrigin(origin))).toEqual({ call: 'origin', origin });
  });

  it('is over after its stop: what follows has no xid', () => {
    decode(writeStreamStart({ xid: XID, first: true }), writeRelation(orders, XID));
    decode(writeStreamStop());
    expect(decode(writeInsert(ORDERS, row))).toMatchObject({ at: { streamXid: 0 } });
  });

  it('may hold nothing, and another may follow', () => {
    decode(writeStreamStart({ xid: XID, first: true }), writeStreamStop());
    decode(writeStreamStart({ xid: XID, first: false }), writeStreamStop());
    expect(handler.calls.map(({ call }) => call)).toEqual([
      'streamStart',
      'streamStop',
      'streamStart',
      'streamStop',
    ]);
  });
});

describe('a streamed transaction', () => {
  it('commits with its xid and both positions', () => {
    const streamCommit = { xid: XID, ...commit };
    expect(decode(writeStreamCommit(streamCommit))).toEqual({
      call: 'streamCommit',
      commit: streamCommit,
    });
  });

  it('aborts a subtransaction, without a position before protocol 4', () => {
    expect(decode(writeStreamAbort(745, XID))).toEqual({
      call: 'streamAbort',
      abort: { xid: 745, subxid: XID, abort: undefined },
    });
  });

  it('aborts with position and time when it is streamed in parallel', () => {
    const abort = { lsn: COMMIT_LSN, time: -COMMIT_TIME };
    expect(decode(writeStreamAbort(XID, 746, abort))).toEqual({
      call: 'streamAbort',
      abort: { xid: XID, subxid: 746, abort },
    });
  });
});

describe('two-phase transactions', () => {
  it.each([
    ['beginPrepare', writeBeginPrepare],
    ['prepare', writePrepare],
    ['streamPrepare', writeStreamPrepare],
  ] as const)('%s with both positions, the time, the xid and the gid', (call, write) => {
    expect(decode(write(prepare))).toEqual({ call, prepare });
  });

  it('commit what was prepared', () => {
    const prepared = { ...commit, xid: XID, gid: prepare.gid };
    expect(decode(writeCommitPrepared(prepared))).toEqual({
      call: 'commitPrepared',
      commit: prepared,
    });
  });

  it('roll back what was prepared, with the positions and times of both records', () => {
    const rollback = {
      prepareEndLsn: COMMIT_LSN,
      rollbackEndLsn: END_LSN,
      prepareTime: COMMIT_TIME,
      rollbackTime: -COMMIT_TIME,
      xid: XID,
      gid: '',
    };
    expect(decode(writeRollbackPrepared(rollback))).toEqual({ call: 'rollbackPrepared', rollback });
  });
});

describe('a message in a larger buffer', () => {
  it('is read from its start to its end', () => {
    const bytes = writeCommit(commit);
    const chunk = Buffer.concat([Buffer.from('before'), bytes, Buffer.from('after')]);
    decoder.decode(chunk, 6, 6 + bytes.length, { high: 0, low: 0 });
    expect(handler.calls).toEqual([{ call: 'commit', commit }]);
  });

  it("passes the handler's own failure on as it is", () => {
    const failure = new RangeError('the output is full');
    handler.commit = () => {
      throw failure;
    };
    expect(() => decode(writeCommit(commit))).toThrow(failure);
  });
});
