// "char": one byte that need be no character. Before 15 the server sends such a byte raw, and the line
// would not be UTF-8; since then it sends a backslash and three octal digits, as is printed here.
// https://www.postgresql.org/docs/current/datatype-character.html

import { isUtf8 } from 'node:buffer';
import { ByteWriter } from '../byte-writer.ts';
import { type ColumnEncoder, encodeString, growing, worstCase } from './encoder.ts';

const FIRST_HIGH_BYTE = 0x80;
const BACKSLASH = 0x5c;
const ZERO = 0x30;

/** Whether the value is a raw byte beyond ASCII. */
export const isRawChar = (source: Uint8Array, start: number, end: number): boolean =>
  end - start === 1 && source[start]! >= FIRST_HIGH_BYTE;

/** `\303`: four bytes. */
export function octalChar(byte: number): Buffer {
  const digits = [byte >> 6, (byte >> 3) & 7, byte & 7];
  return Buffer.from([BACKSLASH, ...digits.map((digit) => ZERO + digit)]);
}

export const encodeChar: ColumnEncoder = (out, source, start, end) => {
  if (!isRawChar(source, start, end)) return encodeString(out, source, start, end);
  encodeString(out, octalChar(source[start]!), 0, 4);
};

/** The server's text of whatever holds a "char". */
export const encodeTextWithChars: ColumnEncoder = growing((out, source, start, end) => {
  const text = withoutRawChars(source.subarray(start, end));
  out.reserve(worstCase(text.length));
  encodeString(out, text, 0, text.length);
});

/**
 * The text with each byte that is not UTF-8 as the server writes it since 15: within an array or a
 * composite in quotes, for which the backslash is doubled.
 */
export function withoutRawChars(text: Buffer): Buffer {
  if (isUtf8(text)) return text;
  if (isRawChar(text, 0, text.length)) return octalChar(text[0]!);
  const out = new ByteWriter(text.length * 2);
  for (let at = 0; at < text.length; ) {
    const length = characterLength(text, at);
    if (length > 0) out.raw(text.subarray(at, at + length));
    else out.raw(Buffer.from(`"\\${octalChar(text[at]!)}"`));
    at += Math.max(length, 1);
  }
  return out.bytes.subarray(0, out.length);
}

const LONGEST_CHARACTER = 4;

/** In bytes; 0 if none begins there. */
function characterLength(text: Buffer, at: number): number {
  for (let length = 1; length <= LONGEST_CHARACTER && at + length <= text.length; length++) {
    if (isUtf8(text.subarray(at, at + length))) return length;
  }
  return 0;
}
