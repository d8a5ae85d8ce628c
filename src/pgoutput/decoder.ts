// The pgoutput decoder, protocol versions 1 to 4: bytes in, handler calls out.
// https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html

import { ProtocolViolation, UndecodableText } from '../errors.ts';
import { formatLsn, formatLsnWords, INVALID_LSN, type Lsn } from '../lsn.ts';
import { Cursor, type TextReader } from '../wire/cursor.ts';
import type { LsnWords } from '../wire/replication.ts';
import type { PgoutputHandler } from './handler.ts';
import type { Prepare } from './messages.ts';
import type { Relation, RelationColumn, ReplicaIdentity } from './relation.ts';
import { readTuple, TupleData } from './tuple.ts';

const ascii = (letter: string): number => letter.charCodeAt(0);

const OLD_KEY = ascii('K');
const OLD_ROW = ascii('O');
const NEW_ROW = ascii('N');

const TRUNCATE_CASCADE = 1;
const TRUNCATE_RESTART_IDENTITY = 2;
const MESSAGE_TRANSACTIONAL = 1;

const MESSAGE_NAMES: Readonly<Record<string, string>> = {
  B: 'begin',
  C: 'commit',
  O: 'origin',
  R: 'relation',
  Y: 'type',
  I: 'insert',
  U: 'update',
  D: 'delete',
  T: 'truncate',
  M: 'message',
  S: 'stream start',
  E: 'stream stop',
  c: 'stream commit',
  A: 'stream abort',
  b: 'begin prepare',
  P: 'prepare',
  K: 'commit prepared',
  r: 'rollback prepared',
  p: 'stream prepare',
};

const IDENTITIES: Readonly<Record<string, ReplicaIdentity>> = {
  d: 'default',
  n: 'nothing',
  f: 'full',
  i: 'index',
};

/** Replaces the values of a tuple by their text in UTF-8, in the tuple. */
export interface TupleValues {
  /** @throws ProtocolViolation or UndecodableText */
  toText(relation: Relation, tuple: TupleData): void;
}

/**
 * Decodes one message a call and pushes it into the handler. Keeps the relations announced so far
 * and whether a stream block is open: a new connection needs a new decoder.
 */
export class PgoutputDecoder {
  readonly #handler: PgoutputHandler;
  readonly #relations = new Map<number, Relation>();
  readonly #cursor: Cursor;
  readonly #newRow = new TupleData('new');
  readonly #keyRow = new TupleData('key');
  readonly #oldRow = new TupleData('old');
  readonly #values: TupleValues | null;
  readonly #at = { lsnHigh: 0, lsnLow: 0, streamXid: 0 };
  /** Of the last Begin: the only position near a relation or a type, which have none. */
  #commitLsn: Lsn = INVALID_LSN;
  #inStream = false;
  #isKept = false;

  /**
   * `values` makes text of what is none yet; without it values are handed on as they are. `readText`
   * reads names and other strings that are not UTF-8.
   */
  constructor(handler: PgoutputHandler, values: TupleValues | null = null, readText?: TextReader) {
    this.#handler = handler;
    this.#values = values;
    this.#cursor = new Cursor(readText);
  }

  /**
   * Decodes a message that was sent inside a stream block and kept: it starts with an xid as there,
   * but its transaction has committed since, so that the handler is told of no stream.
   */
  decodeKept(bytes: Buffer, walStart: LsnWords): void {
    this.#isKept = true;
    try {
      this.decode(bytes, 0, bytes.length, walStart);
    } finally {
      this.#isKept = false;
    }
  }

  /**
   * Decodes the message in `bytes[start, end)`, which stood at `walStart`.
   * @throws ProtocolViolation with the message's name, the field, the byte offset and the LSN;
   * UndecodableText with the message's name and the LSN.
   */
  decode(bytes: Buffer, start: number, end: number, walStart: LsnWords): void {
    this.#at.lsnHigh = walStart.high;
    this.#at.lsnLow = walStart.low;
    this.#cursor.reset(bytes, start, end);
    try {
      this.#message(this.#cursor);
    } catch (error) {
      const isUnplaced = error instanceof ProtocolViolation || error instanceof UndecodableText;
      throw isUnplaced ? error.within(this.#where(bytes, start, end)) : error;
    }
  }

  #where(bytes: Buffer, start: number, end: number): string {
    const tag = start < end ? String.fromCharCode(bytes[start]!) : '';
    const name = MESSAGE_NAMES[tag] ?? 'message';
    const { lsnHigh, lsnLow } = this.#at;
    const hasPosition = lsnHigh !== 0 || lsnLow !== 0;
    if (hasPosition) return `${name} at ${formatLsnWords(lsnHigh, lsnLow)}`;
    return `${name} in the transaction at ${formatLsn(this.#commitLsn)}`;
  }

  #message(c: Cursor): void {
    const tag = c.u8('message type');
    switch (tag) {
      case 0x49: // I
        return this.#insert(c);
      case 0x55: // U
        return this.#update(c);
      case 0x44: // D
        return this.#delete(c);
      case 0x42: // B
        return this.#begin(c);
      case 0x43: // C
        return this.#commit(c);
      case 0x52: // R
        return this.#relation(c);
      case 0x59: // Y
        return this.#type(c);
      case 0x54: // T
        return this.#truncate(c);
      case 0x4d: // M
        return this.#logicalMessage(c);
      case 0x4f: // O
        return this.#origin(c);
      case 0x53: // S
        return this.#streamStart(c);
      case 0x45: // E
        return this.#streamStop(c);
      case 0x63: // c
        return this.#streamCommit(c);
      case 0x41: // A
        return this.#streamAbort(c);
      case 0x62: // b
        return this.#beginPrepare(c);
      case 0x50: // P
        return this.#prepare(c);
      case 0x4b: // K
        return this.#commitPrepared(c);
      case 0x72: // r
        return this.#rollbackPrepared(c);
      case 0x70: // p
        return this.#streamPrepare(c);
      default:
        throw c.violation('message type', `unknown tag 0x${tag.toString(16).padStart(2, '0')}`);
    }
  }

  #begin(c: Cursor): void {
    const commitLsn = c.lsn('commit lsn');
    const commitTime = c.i64('commit time');
    const xid = c.u32('xid');
    c.drained();
    this.#commitLsn = commitLsn;
    this.#handler.begin({ commitLsn, commitTime, xid });
  }

  #commit(c: Cursor): void {
    unusedFlags(c);
    const commitLsn = c.lsn('commit lsn');
    const endLsn = c.lsn('end lsn');
    const commitTime = c.i64('commit time');
    c.drained();
    this.#handler.commit({ commitLsn, endLsn, commitTime });
  }

  // Has no xid prefix, not even inside a stream block.
  #origin(c: Cursor): void {
    const originLsn = c.lsn('origin lsn');
    const name = c.cstring('origin name');
    c.drained();
    this.#handler.origin({ originLsn, name });
  }

  #relation(c: Cursor): void {
    this.#streamPrefix(c);
    const relationId = c.u32('relation id');
    const schema = namespace(c);
    const name = c.cstring('relation name');
    const identity = replicaIdentity(c);
    const columnCount = c.u16('column count');
    const columns: RelationColumn[] = [];
    for (let i = 0; i < columnCount; i++) columns.push(readColumn(c));
    c.drained();
    const relation: Relation = Object.freeze({
      relationId,
      schema,
      name,
      identity,
      columns: Object.freeze(columns),
    });
    this.#relations.set(relationId, relation);
    this.#handler.relation(relation);
  }

  #type(c: Cursor): void {
    this.#streamPrefix(c);
    const typeId = c.u32('type id');
    const schema = namespace(c);
    const name = c.cstring('type name');
    c.drained();
    this.#handler.type({ typeId, schema, name });
  }

  #insert(c: Cursor): void {
    this.#streamPrefix(c);
    const relation = this.#knownRelation(c);
    const part = c.u8('tuple part');
    if (part !== NEW_ROW) throw unexpectedPart(c, "'N'", part);
    this.#tuple(c, relation, this.#newRow);
    c.drained();
    this.#handler.insert(this.#at, relation, this.#newRow);
  }

  #update(c: Cursor): void {
    this.#streamPrefix(c);
    const relation = this.#knownRelation(c);
    let part = c.u8('tuple part');
    let oldRow: TupleData | null = null;
    // 'K' or 'O' comes first only if the key changed or REPLICA IDENTITY is FULL
    if (part === OLD_KEY || part === OLD_ROW) {
      oldRow = part === OLD_KEY ? this.#keyRow : this.#oldRow;
      this.#tuple(c, relation, oldRow);
      part = c.u8('tuple part');
      if (part !== NEW_ROW) throw unexpectedPart(c, "'N'", part);
    } else if (part !== NEW_ROW) {
      throw unexpectedPart(c, "'N', 'O' or 'K'", part);
    }
    this.#tuple(c, relation, this.#newRow);
    c.drained();
    this.#handler.update(this.#at, relation, this.#newRow, oldRow);
  }

  #delete(c: Cursor): void {
    this.#streamPrefix(c);
    const relation = this.#knownRelation(c);
    const part = c.u8('tuple part');
    if (part !== OLD_KEY && part !== OLD_ROW) throw unexpectedPart(c, "'O' or 'K'", part);
    const oldRow = part === OLD_KEY ? this.#keyRow : this.#oldRow;
    this.#tuple(c, relation, oldRow);
    c.drained();
    this.#handler.delete(this.#at, relation, oldRow);
  }

  #truncate(c: Cursor): void {
    this.#streamPrefix(c);
    const count = c.u32('relation count');
    const flags = c.u8('options');
    const relations: Relation[] = [];
    for (let i = 0; i < count; i++) relations.push(this.#knownRelation(c));
    c.drained();
    this.#handler.truncate(this.#at, relations, {
      cascade: (flags & TRUNCATE_CASCADE) !== 0,
      restartIdentity: (flags & TRUNCATE_RESTART_IDENTITY) !== 0,
    });
  }

  #logicalMessage(c: Cursor): void {
    this.#streamPrefix(c);
    const flags = c.u8('flags');
    const lsn = c.lsn('message lsn');
    const prefix = c.cstring('prefix');
    const length = c.i32('content length');
    const from = c.skip(length, 'content');
    c.drained();
    this.#handler.message(this.#at, {
      transactional: (flags & MESSAGE_TRANSACTIONAL) !== 0,
      lsn,
      prefix,
      content: c.bytes.subarray(from, from + length),
    });
  }

  #streamStart(c: Cursor): void {
    if (this.#inStream)
      throw c.violation('stream start', 'the previous stream block is still open');
    const xid = c.u32('xid');
    const first = c.u8('first segment') === 1;
    c.drained();
    this.#inStream = true;
    this.#handler.streamStart({ xid, first });
  }

  #streamStop(c: Cursor): void {
    if (!this.#inStream) throw c.violation('stream stop', 'no stream block is open');
    c.drained();
    this.#inStream = false;
    this.#at.streamXid = 0;
    this.#handler.streamStop();
  }

  #streamCommit(c: Cursor): void {
    const xid = c.u32('xid');
    unusedFlags(c);
    const commitLsn = c.lsn('commit lsn');
    const endLsn = c.lsn('end lsn');
    const commitTime = c.i64('commit time');
    c.drained();
    this.#handler.streamCommit({ xid, commitLsn, endLsn, commitTime });
  }

  #streamAbort(c: Cursor): void {
    const xid = c.u32('xid');
    const subxid = c.u32('subxid');
    // only streaming 'parallel' (protocol 4) sends where and when
    const abort =
      c.remaining === 0 ? undefined : { lsn: c.lsn('abort lsn'), time: c.i64('abort time') };
    c.drained();
    this.#handler.streamAbort({ xid, subxid, abort });
  }

  #beginPrepare(c: Cursor): void {
    this.#handler.beginPrepare(readPrepare(c));
  }

  #prepare(c: Cursor): void {
    unusedFlags(c);
    this.#handler.prepare(readPrepare(c));
  }

  #streamPrepare(c: Cursor): void {
    unusedFlags(c);
    this.#handler.streamPrepare(readPrepare(c));
  }

  #commitPrepared(c: Cursor): void {
    unusedFlags(c);
    const commitLsn = c.lsn('commit lsn');
    const endLsn = c.lsn('end lsn');
    const commitTime = c.i64('commit time');
    const xid = c.u32('xid');
    const gid = c.cstring('gid');
    c.drained();
    this.#handler.commitPrepared({ commitLsn, endLsn, commitTime, xid, gid });
  }

  #rollbackPrepared(c: Cursor): void {
    unusedFlags(c);
    const prepareEndLsn = c.lsn('prepare end lsn');
    const rollbackEndLsn = c.lsn('rollback end lsn');
    const prepareTime = c.i64('prepare time');
    const rollbackTime = c.i64('rollback time');
    const xid = c.u32('xid');
    const gid = c.cstring('gid');
    c.drained();
    this.#handler.rollbackPrepared({
      prepareEndLsn,
      rollbackEndLsn,
      prepareTime,
      rollbackTime,
      xid,
      gid,
    });
  }

  #tuple(c: Cursor, relation: Relation, tuple: TupleData): void {
    readTuple(c, relation, tuple);
    this.#values?.toText(relation, tuple);
  }

  /** Inside a stream block relations, types, rows, truncates and messages start with an xid. */
  #streamPrefix(c: Cursor): void {
    if (this.#isKept) c.u32('xid');
    else if (this.#inStream) this.#at.streamXid = c.u32('xid');
  }

  #knownRelation(c: Cursor): Relation {
    const relationId = c.u32('relation id');
    const relation = this.#relations.get(relationId);
    if (relation === undefined) {
      throw c.violation('relation id', `relation ${relationId} was never announced`);
    }
    return relation;
  }
}

function readColumn(c: Cursor): RelationColumn {
  const key = (c.u8('column flags') & 1) !== 0;
  const name = c.cstring('column name');
  const typeId = c.u32('column type id');
  const typmod = c.i32('column typmod');
  return Object.freeze({ name, typeId, typmod, key });
}

/** Begin Prepare, Prepare and Stream Prepare end alike. */
function readPrepare(c: Cursor): Prepare {
  const prepareLsn = c.lsn('prepare lsn');
  const endLsn = c.lsn('end lsn');
  const prepareTime = c.i64('prepare time');
  const xid = c.u32('xid');
  const gid = c.cstring('gid');
  c.drained();
  return { prepareLsn, endLsn, prepareTime, xid, gid };
}

function replicaIdentity(c: Cursor): ReplicaIdentity {
  const letter = String.fromCharCode(c.u8('replica identity'));
  const identity = IDENTITIES[letter];
  if (identity === undefined) {
    throw c.violation(
      'replica identity',
      `expected 'd', 'n', 'f' or 'i', got ${JSON.stringify(letter)}`,
    );
  }
  return identity;
}

/** An empty namespace on the wire is pg_catalog. */
function namespace(c: Cursor): string {
  const schema = c.cstring('namespace');
  return schema === '' ? 'pg_catalog' : schema;
}

function unusedFlags(c: Cursor): void {
  const flags = c.u8('flags');
  if (flags !== 0) throw c.violation('flags', `expected 0, got ${flags}`);
}

function unexpectedPart(c: Cursor, expected: string, got: number): ProtocolViolation {
  const shown = JSON.stringify(String.fromCharCode(got));
  return c.violation('tuple part', `expected ${expected}, got ${shown}`);
}
