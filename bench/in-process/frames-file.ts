// The file format of recorded messages: gzip over Int64 position, Int32 length, bytes, and so on.

import { gunzipSync, gzipSync } from 'node:zlib';
import type { LsnWords } from '../../src/wire/replication.ts';

/** One message of pgoutput and where it stood; 0/0 for Relation and Type. */
export interface RecordedMessage {
  readonly walStart: LsnWords;
  readonly bytes: Buffer;
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

/** The messages are views into one buffer, as those are that a socket's reads bring. */
export function unpackMessages(file: Buffer): RecordedMessage[] {
  const all = gunzipSync(file);
  const messages: RecordedMessage[] = [];
  for (let at = 0; at < all.length; ) {
    const walStart = { high: all.readUInt32BE(at), low: all.readUInt32BE(at + 4) };
    const start = at + HEADER;
    at = start + all.readUInt32BE(at + 8);
    messages.push({ walStart, bytes: all.subarray(start, at) });
  }
  return messages;
}
