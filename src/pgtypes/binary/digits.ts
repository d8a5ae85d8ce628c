// Decimal and hexadecimal digits, stored into room that the caller reserved.
// Each function returns the position after what it stored.

import type { ByteWriter } from '../../byte-writer.ts';
import { belowMillion, millions, TWO_POW_32 } from './words.ts';

const ZERO = 0x30;
const MINUS = 0x2d;
const MILLION = 1_000_000;
const BILLION = 1_000_000_000;

/** The most digits of a 64-bit integer, with its sign. */
export const INT64_ROOM = 20;

/** An integer from 0 to 2^53. */
export function storeUint(words: DataView, at: number, value: number): number {
  if (value >= TWO_POW_32) {
    const billions = Math.floor(value / BILLION);
    return storePadded(words, storeUint(words, at, billions), value - billions * BILLION, 9);
  }
  const end = at + digitCount(value);
  storePadded(words, at, value, end - at);
  return end;
}

/** An integer from -2^53 to 2^53. */
export function storeInt(words: DataView, at: number, value: number): number {
  if (value >= 0) return storeUint(words, at, value);
  words.setUint8(at, MINUS);
  return storeUint(words, at + 1, -value);
}

/** With zeros in front up to `width`; the value must not be wider, and be below 2^32. */
export function storePadded(words: DataView, at: number, value: number, width: number): number {
  let rest = value >>> 0;
  let to = at + width;
  while (to - at >= 2) {
    const hundredth = (rest / 100) >>> 0;
    to -= 2;
    storeTwoDigits(words, to, rest - hundredth * 100);
    rest = hundredth;
  }
  if (to > at) words.setUint8(at, ZERO + rest);
  return at + width;
}

/** The two digits of each number below 100, as one number. */
const TWO_DIGITS = Uint16Array.from({ length: 100 }, (_, value) => pair(value, 10));

export function storeTwoDigits(words: DataView, at: number, value: number): number {
  words.setUint16(at, TWO_DIGITS[value]!);
  return at + 2;
}

/** An unsigned 64-bit integer, given as its unsigned halves. */
export function storeUint64(words: DataView, at: number, high: number, low: number): number {
  if (high === 0) return storeUint(words, at, low);
  const top = millions(high, low);
  return storePadded(words, storeUint(words, at, top), belowMillion(high, low), 6);
}

/** A signed 64-bit integer, given as its signed upper and unsigned lower half. */
export function storeInt64(words: DataView, at: number, high: number, low: number): number {
  if (high >= 0) return storeUint64(words, at, high, low);
  words.setUint8(at, MINUS);
  // the magnitude of -2^63 has no positive counterpart, but it has an unsigned one
  const borrow = low === 0 ? 0 : 1;
  const magnitude = -high - borrow;
  return storeUint64(words, at + 1, magnitude, low === 0 ? 0 : TWO_POW_32 - low);
}

/** An integer of `scale` decimals: 1250 of scale 2 is 12.50. */
export function storeScaled(words: DataView, at: number, value: number, scale: number): number {
  if (scale === 0) return storeUint(words, at, value);
  const unit = 10 ** scale;
  const whole = Math.floor(value / unit);
  const point = storeUint(words, at, whole);
  words.setUint8(point, 0x2e);
  let rest = value - whole * unit;
  for (let to = point + scale; to > point; to--) {
    const tenth = Math.floor(rest / 10);
    words.setUint8(to, ZERO + (rest - tenth * 10));
    rest = tenth;
  }
  return point + scale + 1;
}

/** `.055877` of the microseconds, without the zeros at its end; nothing of none. */
export function storeFraction(words: DataView, at: number, micros: number): number {
  if (micros === 0) return at;
  words.setUint8(at, 0x2e);
  let end = storePadded(words, at + 1, micros, 6);
  while (words.getUint8(end - 1) === ZERO) end--;
  return end;
}

/** The two hexadecimal digits of each byte. */
const HEX_DIGITS = Uint16Array.from({ length: 256 }, (_, byte) => pair(byte, 16));

/** Two hexadecimal digits for each byte of `source[start, end)`. */
export function storeHex(
  words: DataView,
  at: number,
  source: Buffer,
  start: number,
  end: number,
): number {
  let to = at;
  let i = start;
  for (; i + 2 <= end; i += 2, to += 4) {
    words.setInt32(to, (HEX_DIGITS[source[i]!]! << 16) | HEX_DIGITS[source[i + 1]!]!);
  }
  if (i === end) return to;
  words.setUint16(to, HEX_DIGITS[source[i]!]!);
  return to + 2;
}

/** Two characters, the first in the upper byte. */
function pair(value: number, base: number): number {
  const digits = value.toString(base).padStart(2, '0');
  return (digits.charCodeAt(0) << 8) | digits.charCodeAt(1);
}

/** Appends an integer from -2^53 to 2^53. */
export function writeInt(out: ByteWriter, value: number): void {
  out.reserve(INT64_ROOM);
  out.length = storeInt(out.words, out.length, value);
}

/** Appends one byte. */
export function writeByte(out: ByteWriter, byte: number): void {
  out.reserve(1);
  out.bytes[out.length++] = byte;
}

function digitCount(value: number): number {
  if (value < MILLION) {
    if (value < 100) return value < 10 ? 1 : 2;
    if (value < 10_000) return value < 1000 ? 3 : 4;
    return value < 100_000 ? 5 : 6;
  }
  let count = 7;
  for (let power = 10 * MILLION; power <= value; power *= 10) count++;
  return count;
}
