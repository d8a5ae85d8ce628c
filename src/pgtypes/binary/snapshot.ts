// pg_snapshot and txid_snapshot: `xmin:xmax:` and the transactions in progress between them.
// https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT

import type { ByteWriter } from '../../byte-writer.ts';
import { type BinaryToText, malformed } from './conversion.ts';
import { INT64_ROOM, storeUint64, writeByte } from './digits.ts';
import { int32At, uint32At } from './words.ts';

const COUNT = 4;
const XID8 = 8;
const HEADER = COUNT + 2 * XID8;
const COLON = 0x3a;
const COMMA = 0x2c;

export const snapshotToText: BinaryToText = (out, source, start, end) => {
  const count = transactionCount(source, start, end);
  writeXid8(out, source, start + COUNT);
  writeByte(out, COLON);
  writeXid8(out, source, start + COUNT + XID8);
  writeByte(out, COLON);
  for (let i = 0; i < count; i++) {
    if (i > 0) writeByte(out, COMMA);
    writeXid8(out, source, start + HEADER + i * XID8);
  }
};

function transactionCount(source: Buffer, start: number, end: number): number {
  const held = end - start - HEADER;
  if (held < 0) throw malformed('pg_snapshot', `${HEADER} bytes needed, got ${end - start}`);
  const count = int32At(source, start);
  if (count < 0 || count * XID8 !== held) {
    throw malformed('pg_snapshot', `${count} transactions announced, got ${held} bytes`);
  }
  return count;
}

function writeXid8(out: ByteWriter, source: Buffer, at: number): void {
  out.reserve(INT64_ROOM);
  const high = uint32At(source, at);
  out.length = storeUint64(out.words, out.length, high, uint32At(source, at + 4));
}
