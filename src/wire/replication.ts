// The replication protocol inside CopyData: XLogData and keepalives in, status updates out.
// https://www.postgresql.org/docs/current/protocol-replication.html

import { ProtocolViolation } from '../errors.ts';
import { type Lsn, lsnFromWords } from '../lsn.ts';
import type { PgTimestamp } from './timestamp.ts';

export const XLOG_DATA = 0x77; // 'w'
export const PRIMARY_KEEPALIVE = 0x6b; // 'k'
const STANDBY_STATUS_UPDATE = 0x72; // 'r'

/** Byte1 tag, Int64 walStart, Int64 walEnd, Int64 sendTime. */
export const XLOG_DATA_HEADER_LENGTH = 25;
const KEEPALIVE_LENGTH = 18;

/** A WAL position as the two unsigned halves on the wire: no BigInt is made for a row. */
export interface LsnWords {
  high: number;
  low: number;
}

export interface PrimaryKeepalive {
  /** The current end of WAL on the server. */
  readonly walEnd: Lsn;
  /** The server asks for a status update at once, to see that we live. */
  readonly replyRequested: boolean;
}

/** Reads the start position of the XLogData frame `bytes[start, end)` into `walStart`. */
export function readWalStart(bytes: Buffer, start: number, end: number, walStart: LsnWords): void {
  if (end - start < XLOG_DATA_HEADER_LENGTH) throw shortFrame('XLogData', end - start);
  walStart.high = bytes.readUInt32BE(start + 1);
  walStart.low = bytes.readUInt32BE(start + 5);
}

/** Reads the keepalive frame `bytes[start, end)`. */
export function readKeepalive(bytes: Buffer, start: number, end: number): PrimaryKeepalive {
  if (end - start !== KEEPALIVE_LENGTH) throw shortFrame('keepalive', end - start);
  return {
    walEnd: lsnFromWords(bytes.readUInt32BE(start + 1), bytes.readUInt32BE(start + 5)),
    replyRequested: bytes[start + 17] !== 0,
  };
}

export interface StandbyStatus {
  /** Everything before this was received. */
  readonly write: Lsn;
  /** Everything before this is safe with us: the server may forget it. */
  readonly flush: Lsn;
  readonly apply: Lsn;
  readonly clientTime: PgTimestamp;
  /** Asks the server to answer with a keepalive at once. */
  readonly replyRequested: boolean;
}

/** Fields in wire order: write, flush, apply, clock, reply. */
export function encodeStandbyStatus(status: StandbyStatus): Buffer {
  const frame = Buffer.allocUnsafe(34);
  frame[0] = STANDBY_STATUS_UPDATE;
  frame.writeBigUInt64BE(status.write, 1);
  frame.writeBigUInt64BE(status.flush, 9);
  frame.writeBigUInt64BE(status.apply, 17);
  frame.writeBigInt64BE(status.clientTime, 25);
  frame[33] = status.replyRequested ? 1 : 0;
  return frame;
}

function shortFrame(name: string, length: number): ProtocolViolation {
  return new ProtocolViolation(name, `a frame of ${length} bytes`, 0);
}
