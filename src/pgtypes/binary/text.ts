// Values that travel as their text: text itself, names, enum labels, json; and "char", one byte.
// https://www.postgresql.org/docs/current/datatype-character.html

import { type BinaryToText, expectLength, malformed } from './conversion.ts';

// below this a loop is quicker than the call of copy()
const SHORT = 32;

export const textToText: BinaryToText = (out, source, start, end) => {
  const length = end - start;
  out.reserve(length);
  if (length >= SHORT) {
    source.copy(out.bytes, out.length, start, end);
  } else {
    const bytes = out.bytes;
    let at = out.length;
    for (let i = start; i < end; i++) bytes[at++] = source[i]!;
  }
  out.length += length;
};

/** jsonb and jsonpath: a version, then the text. */
export function versionedText(type: string): BinaryToText {
  return (out, source, start, end) => {
    if (start === end) throw malformed(type, 'no version');
    if (source[start] !== 1) throw malformed(type, `version 1 expected, got ${source[start]}`);
    textToText(out, source, start + 1, end);
  };
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
