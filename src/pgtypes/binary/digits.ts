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
export function storeUint(bytes: Buffer, at: number, value: number): number {
  if (value >= TWO_POW_32) {
    const billions = Math.floor(value / BILLION);
    return storePadded(bytes, storeUint(bytes, at, billions), value - billions * BILLION, 9);
  }
  const end = at + digitCount(value);
  let rest = value >>> 0; // known to be whole, it is divided as an integer
  let to = end;
  do {
    const tenth = (rest / 10) >>> 0;
    bytes[--to] = ZERO + (rest - tenth * 10);
    rest = tenth;
  } while (to > at);
  return end;
}

/** An integer from -2^53 to 2^53. */
export function storeInt(bytes: Buffer, at: number, value: number): number {
  if (value >= 0) return storeUint(bytes, at, value);
  bytes[at] = MINUS;
  return storeUint(bytes, at + 1, -value);
}

/** With zeros in front up to `width`; the value must not be wider, and be below 2^32. */
export function storePadded(bytes: Buffer, at: number, value: number, width: number): number {
  let rest = value >>> 0;
  for (let to = at + width - 1; to >= at; to--) {
    const tenth = (rest / 10) >>> 0;
    bytes[to] = ZERO + (rest - tenth * 10);
    rest = tenth;
  }
  return at + width;
}

export function storeTwoDigits(bytes: Buffer, at: number, value: number): number {
  const tens = (value / 10) | 0;
  bytes[at] = ZERO + tens;
  bytes[at + 1] = ZERO + value - tens * 10;
  return at + 2;
}

/** An unsigned 64-bit integer, given as its unsigned halves. */
export function storeUint64(bytes: Buffer, at: number, high: number, low: number): number {
  if (high === 0) return storeUint(bytes, at, low);
  const top = millions(high, low);
  return storePadded(bytes, storeUint(bytes, at, top), belowMillion(high, low), 6);
}

/** A signed 64-bit integer, given as its signed upper and unsigned lower half. */
export function storeInt64(bytes: Buffer, at: number, high: number, low: number): number {
  if (high >= 0) return storeUint64(bytes, at, high, low);
  bytes[at] = MINUS;
  // the magnitude of -2^63 has no positive counterpart, but it has an unsigned one
  const borrow = low === 0 ? 0 : 1;
  const magnitude = -high - borrow;
  return storeUint64(bytes, at + 1, magnitude, low === 0 ? 0 : TWO_POW_32 - low);
}

/** An integer of `scale` decimals: 1250 of scale 2 is 12.50. */
export function storeScaled(bytes: Buffer, at: number, value: number, scale: number): number {
  if (scale === 0) return storeUint(bytes, at, value);
  const unit = 10 ** scale;
  const whole = Math.floor(value / unit);
  const point = storeUint(bytes, at, whole);
  bytes[point] = 0x2e;
  let rest = value - whole * unit;
  for (let to = point + scale; to > point; to--) {
    const tenth = Math.floor(rest / 10);
    bytes[to] = ZERO + (rest - tenth * 10);
    rest = tenth;
  }
  return point + scale + 1;
}

/** `.055877` of the microseconds, without the zeros at its end; nothing of none. */
export function storeFraction(bytes: Buffer, at: number, micros: number): number {
  if (micros === 0) return at;
  bytes[at] = 0x2e;
  let end = storePadded(bytes, at + 1, micros, 6);
  while (bytes[end - 1] === ZERO) end--;
  return end;
}

const HEX = Buffer.from('0123456789abcdef');

export function storeHexByte(bytes: Buffer, at: number, byte: number): number {
  bytes[at] = HEX[byte >> 4]!;
  bytes[at + 1] = HEX[byte & 15]!;
  return at + 2;
}

/** Appends an integer from -2^53 to 2^53. */
export function writeInt(out: ByteWriter, value: number): void {
  out.reserve(INT64_ROOM);
  out.length = storeInt(out.bytes, out.length, value);
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
