// Values that travel as their text: text itself, names, enum labels, json; and "char", one byte.
// https://www.postgresql.org/docs/current/datatype-character.html

import { appendRange } from '../../byte-writer.ts';
import { type BinaryToText, expectLength, malformed } from './conversion.ts';

/** From so many bytes on a call of copy() is quicker than a loop over words. */
const LONG = 64;

export const textToText: BinaryToText = (out, source, start, end) => {
  const length = end - start;
  out.reserve(length);
  if (length < LONG) return appendRange(out, source, start, end);
  source.copy(out.bytes, out.length, start, end);
  out.length += length;
};

/** jsonb and jsonpath: a version, then the text. */
export function versionedText(type: string): BinaryToText {
  return (out, source, start, end) => {
    textToText(out, source, afterVersion(type, source, start, end), end);
  };
}

/** Where the text begins. */
export function afterVersion(type: string, source: Buffer, start: number, end: number): number {
  if (start === end) throw malformed(type, 'no version');
  if (source[start] !== 1) throw malformed(type, `version 1 expected, got ${source[start]}`);
  return start + 1;
}

const BACKSLASH = 0x5c;
const ZERO = 0x30;

/** "char" since 15: a byte beyond ASCII is shown as an octal escape. The NUL byte is ''. */
export const charToText: BinaryToText = (out, source, start, end) => {
  expectLength('"char"', start, end, 1);
  const byte = source[start]!;
  if (byte < 0x80) return rawCharToText(out, source, start, end);
  out.reserve(4);
  const bytes = out.bytes;
  bytes[out.length++] = BACKSLASH;
  bytes[out.length++] = ZERO + (byte >> 6);
  bytes[out.length++] = ZERO + ((byte >> 3) & 7);
  bytes[out.length++] = ZERO + (byte & 7);
};

/** "char" before 15: the byte as it is. */
export const rawCharToText: BinaryToText = (out, source, start, end) => {
  expectLength('"char"', start, end, 1);
  const byte = source[start]!;
  if (byte === 0) return;
  out.reserve(1);
  out.bytes[out.length++] = byte;
};
