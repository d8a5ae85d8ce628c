// bit and varbit: a count of bits, then the bits, the first in the highest place.
// https://www.postgresql.org/docs/current/datatype-bit.html

import { type BinaryToText, malformed } from './conversion.ts';
import { int32At } from './words.ts';

const HEADER = 4;
const ZERO = 0x30;

export const bitsToText: BinaryToText = (out, source, start, end) => {
  const count = bitCount(source, start, end);
  out.reserve(count);
  const bytes = out.bytes;
  const at = out.length;
  for (let bit = 0; bit < count; bit++) {
    const byte = source[start + HEADER + (bit >> 3)]!;
    bytes[at + bit] = ZERO + ((byte >> (7 - (bit & 7))) & 1);
  }
  out.length = at + count;
};

function bitCount(source: Buffer, start: number, end: number): number {
  const held = end - start - HEADER;
  if (held < 0) throw malformed('bit', `${HEADER} bytes needed, got ${end - start}`);
  const count = int32At(source, start);
  if (count < 0 || Math.ceil(count / 8) !== held) {
    throw malformed('bit', `${count} bits announced, got ${held} bytes`);
  }
  return count;
}
