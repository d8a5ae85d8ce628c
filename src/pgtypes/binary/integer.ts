// Whole numbers: bool, int2, int4, int8, oid, xid, cid, xid8 and tid.
// https://www.postgresql.org/docs/current/datatype-numeric.html#DATATYPE-INT

import { type BinaryToText, expectLength, malformed } from './conversion.ts';
import { INT64_ROOM, storeInt, storeInt64, storeUint, storeUint64 } from './digits.ts';
import { int16At, int32At, uint16At, uint32At } from './words.ts';

const LETTER_T = 0x74;
const LETTER_F = 0x66;

export const boolToText: BinaryToText = (out, source, start, end) => {
  expectLength('bool', start, end, 1);
  const value = source[start]!;
  if (value > 1) throw malformed('bool', `0 or 1 expected, got ${value}`);
  out.reserve(1);
  out.bytes[out.length++] = value === 1 ? LETTER_T : LETTER_F;
};

export const int2ToText: BinaryToText = (out, source, start, end) => {
  expectLength('int2', start, end, 2);
  out.reserve(INT64_ROOM);
  out.length = storeInt(out.words, out.length, int16At(source, start));
};

export const int4ToText: BinaryToText = (out, source, start, end) => {
  expectLength('int4', start, end, 4);
  out.reserve(INT64_ROOM);
  out.length = storeInt(out.words, out.length, int32At(source, start));
};

export const int8ToText: BinaryToText = (out, source, start, end) => {
  expectLength('int8', start, end, 8);
  out.reserve(INT64_ROOM);
  const high = int32At(source, start);
  out.length = storeInt64(out.words, out.length, high, uint32At(source, start + 4));
};

/** oid, xid and cid. */
export const oidToText: BinaryToText = (out, source, start, end) => {
  expectLength('oid', start, end, 4);
  out.reserve(INT64_ROOM);
  out.length = storeUint(out.words, out.length, uint32At(source, start));
};

export const xid8ToText: BinaryToText = (out, source, start, end) => {
  expectLength('xid8', start, end, 8);
  out.reserve(INT64_ROOM);
  const high = uint32At(source, start);
  out.length = storeUint64(out.words, out.length, high, uint32At(source, start + 4));
};

/** `(block,line)` */
export const tidToText: BinaryToText = (out, source, start, end) => {
  expectLength('tid', start, end, 6);
  out.reserve(INT64_ROOM);
  const { bytes, words } = out;
  bytes[out.length] = 0x28;
  const comma = storeUint(words, out.length + 1, uint32At(source, start));
  bytes[comma] = 0x2c;
  const close = storeUint(words, comma + 1, uint16At(source, start + 4));
  bytes[close] = 0x29;
  out.length = close + 1;
};
