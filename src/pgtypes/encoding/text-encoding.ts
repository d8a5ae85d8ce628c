// What reading text in one of the server's encodings means, and the ways that need no tables.
// https://www.postgresql.org/docs/current/multibyte.html

import { isUtf8 } from 'node:buffer';
import type { ByteWriter } from '../../byte-writer.ts';
import { UndecodableText } from '../../errors.ts';
import type { TextReader } from '../../wire/cursor.ts';

/** Bytes below are ASCII, in each of the server's encodings. */
export const FIRST_HIGH_BYTE = 0x80;

/** No character takes more bytes in UTF-8 for each of its own. */
const MOST_UTF8_BYTES = 3;

/**
 * Appends `source[start, end)` as UTF-8, into room that was reserved. False: the bytes are not valid,
 * and what was appended until then means nothing.
 */
export type AppendUtf8 = (out: ByteWriter, source: Buffer, start: number, end: number) => boolean;

export interface TextEncoding {
  /** PostgreSQL's own name. */
  readonly name: string;
  readonly append: AppendUtf8;
}

/** Text that is UTF-8 already, but that nobody checked. */
export const appendUtf8: AppendUtf8 = (out, source, start, end) => {
  const text = source.subarray(start, end);
  if (!isUtf8(text)) return false;
  out.raw(text);
  return true;
};

/** Reserves the room that `append` may need. */
export function reserveUtf8(out: ByteWriter, length: number): void {
  out.reserve(length * MOST_UTF8_BYTES);
}

/** Whether the bytes are ASCII, and so the same in UTF-8. */
export function isAscii(source: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (source[i]! >= FIRST_HIGH_BYTE) return false;
  return true;
}

/** Reads names, of which there are few. @throws UndecodableText */
export function nameReader({ name, append }: TextEncoding, out: ByteWriter): TextReader {
  return (source, start, end, field) => {
    out.length = 0;
    reserveUtf8(out, end - start);
    if (!append(out, source, start, end)) throw new UndecodableText(field, name);
    return out.bytes.toString('utf8', 0, out.length);
  };
}
