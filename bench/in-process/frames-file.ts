// The file format of recorded messages: gzip over Int64 position, Int32 length, bytes, and so on.

import { gunzipSync, gzipSync } from 'node:zlib';
import type { LsnWords } from '../../src/wire/replication.ts';

/** One message of pgoutput and where it stood; 0/0 for Relation and Type. */
export interface RecordedMessage {
  readonly walStart: LsnWords;
  readonly bytes: Buffer;
}

/** The same as it lies among others: in `chunk[start, end)`. */
export interface ReadMessage extends RecordedMessage {
  readonly chunk: Buffer;
  readonly start: number;
  readonly end: number;
}

const HEADER = 12;

export function packMessages(messages: readonly RecordedMessage[]): Buffer {
  const parts = messages.flatMap(({ walStart, bytes }) => {
    const header = Buffer.alloc(HEADER);
    header.writeUInt32BE(walStart.high, 0);
    header.writeUInt32BE(walStart.low, 4);
    header.writeUInt32BE(bytes.length, 8);
    return [header, bytes];
  });
  return gzipSync(Buffer.concat(parts), { level: 9 });
}

/** All messages lie in one buffer, as those do that a socket's read brings. */
export function unpackMessages(file: Buffer): ReadMessage[] {
  const chunk = gunzipSync(file);
  const messages: ReadMessage[] = [];
  for (let at = 0; at < chunk.length; ) {
    const walStart = { high: chunk.readUInt32BE(at), low: chunk.readUInt32BE(at + 4) };
    const start = at + HEADER;
    const end = start + chunk.readUInt32BE(at + 8);
    messages.push({ walStart, bytes: chunk.subarray(start, end), chunk, start, end });
    at = end;
  }
  return messages;
}
