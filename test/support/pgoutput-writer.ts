// Writes pgoutput messages and replication frames as a server does, so that tests can decode them.
// https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html
//
// Written from that page and never from our decoder: a field that one side reads in the wrong
// place must show up as a difference.

/** The TOAST value of a column that the UPDATE did not touch. */
export const UNCHANGED = Symbol('unchanged TOAST value');

/** null is NULL, a string is text format, bytes are binary format. */
export type WireValue = null | typeof UNCHANGED | string | Uint8Array;

/** The xid of messages outside a stream block: it is not sent. */
const NOT_STREAMED = 0;

export interface WireColumn {
  readonly name: string;
  readonly typeId: number;
  readonly typmod: number;
  readonly key: boolean;
}

export interface WireRelation {
  readonly relationId: number;
  readonly schema: string;
  readonly name: string;
  /** pg_class.relreplident */
  readonly identity: 'd' | 'n' | 'f' | 'i';
  readonly columns: readonly WireColumn[];
}

export interface WireTransactionEnd {
  readonly commitLsn: bigint;
  readonly endLsn: bigint;
  readonly commitTime: bigint;
}

export interface WirePrepare {
  readonly prepareLsn: bigint;
  readonly endLsn: bigint;
  readonly prepareTime: bigint;
  readonly xid: number;
  readonly gid: string;
}

/** Collects fields in network byte order. */
class MessageBuffer {
  readonly #parts: Buffer[] = [];

  byte(value: number | string): this {
    this.#parts.push(Buffer.from([typeof value === 'string' ? value.charCodeAt(0) : value]));
    return this;
  }

  int16(value: number): this {
    const part = Buffer.alloc(2);
    part.writeUInt16BE(value & 0xffff);
    this.#parts.push(part);
    return this;
  }

  /** Signed and unsigned numbers alike: OIDs and xids are unsigned, a typmod may be -1. */
  int32(value: number): this {
    const part = Buffer.alloc(4);
    part.writeUInt32BE(value >>> 0);
    this.#parts.push(part);
    return this;
  }

  int64(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigUInt64BE(BigInt.asUintN(64, value));
    this.#parts.push(part);
    return this;
  }

  string(value: string): this {
    this.#parts.push(Buffer.from(value, 'utf8'));
    return this.byte(0);
  }

  /** Int32 length, then the bytes. */
  counted(value: string | Uint8Array): this {
    const bytes = Buffer.from(value);
    this.int32(bytes.length).#parts.push(bytes);
    return this;
  }

  /** Inside a stream block the transaction's id comes first. */
  streamXid(xid: number): this {
    return xid === NOT_STREAMED ? this : this.int32(xid);
  }

  /** pg_catalog is sent as the empty string. */
  namespace(schema: string): this {
    return this.string(schema === 'pg_catalog' ? '' : schema);
  }

  tuple(values: readonly WireValue[]): this {
    this.int16(values.length);
    for (const value of values) this.#value(value);
    return this;
  }

  #value(value: WireValue): void {
    if (value === null) this.byte('n');
    else if (value === UNCHANGED) this.byte('u');
    else if (typeof value === 'string') this.byte('t').counted(value);
    else this.byte('b').counted(value);
  }

  done(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

const message = (tag: string): MessageBuffer => new MessageBuffer().byte(tag);

export function writeBegin(begin: {
  readonly commitLsn: bigint;
  readonly commitTime: bigint;
  readonly xid: number;
}): Buffer {
  return message('B').int64(begin.commitLsn).int64(begin.commitTime).int32(begin.xid).done();
}

export function writeCommit(commit: WireTransactionEnd): Buffer {
  return message('C')
    .byte(0)
    .int64(commit.commitLsn)
    .int64(commit.endLsn)
    .int64(commit.commitTime)
    .done();
}

/** Has no xid, not even inside a stream block. */
export function writeOrigin(origin: { readonly originLsn: bigint; readonly name: string }): Buffer {
  return message('O').int64(origin.originLsn).string(origin.name).done();
}

export function writeRelation(relation: WireRelation, xid: number = NOT_STREAMED): Buffer {
  const out = message('R')
    .streamXid(xid)
    .int32(relation.relationId)
    .namespace(relation.schema)
    .string(relation.name)
    .byte(relation.identity)
    .int16(relation.columns.length);
  for (const column of relation.columns) {
    out
      .byte(column.key ? 1 : 0)
      .string(column.name)
      .int32(column.typeId)
      .int32(column.typmod);
  }
  return out.done();
}

export function writeType(
  type: { readonly typeId: number; readonly schema: string; readonly name: string },
  xid: number = NOT_STREAMED,
): Buffer {
  return message('Y')
    .streamXid(xid)
    .int32(type.typeId)
    .namespace(type.schema)
    .string(type.name)
    .done();
}

export function writeInsert(
  relationId: number,
  newRow: readonly WireValue[],
  xid: number = NOT_STREAMED,
): Buffer {
  return message('I').streamXid(xid).int32(relationId).byte('N').tuple(newRow).done();
}

/** The row before the change: its key ('K', key columns only) or the whole of it ('O', FULL). */
export interface WireOldRow {
  readonly part: 'K' | 'O';
  readonly values: readonly WireValue[];
}

export function writeUpdate(
  relationId: number,
  newRow: readonly WireValue[],
  oldRow: WireOldRow | null = null,
  xid: number = NOT_STREAMED,
): Buffer {
  const out = message('U').streamXid(xid).int32(relationId);
  if (oldRow !== null) out.byte(oldRow.part).tuple(oldRow.values);
  return out.byte('N').tuple(newRow).done();
}

export function writeDelete(
  relationId: number,
  oldRow: WireOldRow,
  xid: number = NOT_STREAMED,
): Buffer {
  return message('D')
    .streamXid(xid)
    .int32(relationId)
    .byte(oldRow.part)
    .tuple(oldRow.values)
    .done();
}

export function writeTruncate(
  relationIds: readonly number[],
  options: { readonly cascade: boolean; readonly restartIdentity: boolean },
  xid: number = NOT_STREAMED,
): Buffer {
  const out = message('T')
    .streamXid(xid)
    .int32(relationIds.length)
    .byte((options.cascade ? 1 : 0) | (options.restartIdentity ? 2 : 0));
  for (const relationId of relationIds) out.int32(relationId);
  return out.done();
}

export function writeMessage(
  logical: {
    readonly transactional: boolean;
    readonly lsn: bigint;
    readonly prefix: string;
    readonly content: string | Uint8Array;
  },
  xid: number = NOT_STREAMED,
): Buffer {
  return message('M')
    .streamXid(xid)
    .byte(logical.transactional ? 1 : 0)
    .int64(logical.lsn)
    .string(logical.prefix)
    .counted(logical.content)
    .done();
}

export function writeStreamStart(start: { readonly xid: number; readonly first: boolean }): Buffer {
  return message('S')
    .int32(start.xid)
    .byte(start.first ? 1 : 0)
    .done();
}

export function writeStreamStop(): Buffer {
  return message('E').done();
}

export function writeStreamCommit(commit: WireTransactionEnd & { readonly xid: number }): Buffer {
  return message('c')
    .int32(commit.xid)
    .byte(0)
    .int64(commit.commitLsn)
    .int64(commit.endLsn)
    .int64(commit.commitTime)
    .done();
}

/** `abort` is only sent with streaming 'parallel' (protocol 4). */
export function writeStreamAbort(
  xid: number,
  subxid: number,
  abort?: { readonly lsn: bigint; readonly time: bigint },
): Buffer {
  const out = message('A').int32(xid).int32(subxid);
  if (abort !== undefined) out.int64(abort.lsn).int64(abort.time);
  return out.done();
}

/** Unlike Prepare it has no flags. */
export function writeBeginPrepare(prepare: WirePrepare): Buffer {
  return prepareFields(message('b'), prepare);
}

export function writePrepare(prepare: WirePrepare): Buffer {
  return prepareFields(message('P').byte(0), prepare);
}

export function writeStreamPrepare(prepare: WirePrepare): Buffer {
  return prepareFields(message('p').byte(0), prepare);
}

function prepareFields(out: MessageBuffer, prepare: WirePrepare): Buffer {
  return out
    .int64(prepare.prepareLsn)
    .int64(prepare.endLsn)
    .int64(prepare.prepareTime)
    .int32(prepare.xid)
    .string(prepare.gid)
    .done();
}

export function writeCommitPrepared(
  commit: WireTransactionEnd & { readonly xid: number; readonly gid: string },
): Buffer {
  return message('K')
    .byte(0)
    .int64(commit.commitLsn)
    .int64(commit.endLsn)
    .int64(commit.commitTime)
    .int32(commit.xid)
    .string(commit.gid)
    .done();
}

export function writeRollbackPrepared(rollback: {
  readonly prepareEndLsn: bigint;
  readonly rollbackEndLsn: bigint;
  readonly prepareTime: bigint;
  readonly rollbackTime: bigint;
  readonly xid: number;
  readonly gid: string;
}): Buffer {
  return message('r')
    .byte(0)
    .int64(rollback.prepareEndLsn)
    .int64(rollback.rollbackEndLsn)
    .int64(rollback.prepareTime)
    .int64(rollback.rollbackTime)
    .int32(rollback.xid)
    .string(rollback.gid)
    .done();
}

/** The frame inside CopyData that carries one message. Relation and Type come with 0/0, 0/0. */
export function writeXLogData(
  payload: Uint8Array,
  at: { readonly walStart: bigint; readonly walEnd?: bigint; readonly sendTime?: bigint },
): Buffer {
  const header = message('w')
    .int64(at.walStart)
    .int64(at.walEnd ?? at.walStart)
    .int64(at.sendTime ?? 0n)
    .done();
  return Buffer.concat([header, payload]);
}

export function writeKeepalive(keepalive: {
  readonly walEnd: bigint;
  readonly sendTime?: bigint;
  readonly replyRequested: boolean;
}): Buffer {
  return message('k')
    .int64(keepalive.walEnd)
    .int64(keepalive.sendTime ?? 0n)
    .byte(keepalive.replyRequested ? 1 : 0)
    .done();
}
