// float4 and float8: the shortest digits that give the same number, printed as PostgreSQL does.
// https://www.postgresql.org/docs/current/runtime-config-client.html#GUC-EXTRA-FLOAT-DIGITS

import type { ByteWriter } from '../../byte-writer.ts';
import { OID } from '../builtin-types.ts';
import { type BinaryToText, expectLength } from './conversion.ts';
import { storeScaled } from './digits.ts';
import { shortestFloat4, shortestFloat8 } from './shortest-digits.ts';

const MINUS = 0x2d;
const ZERO = 0x30;
const ROOM = 32;

// From these on, and below a ten-thousandth, the server writes an exponent.
const FLOAT4_EXPONENT_FROM = 1e6;
const FLOAT8_EXPONENT_FROM = 1e15;
const FLOAT4_EXPONENT_BELOW = Math.fround(1e-4);
const FLOAT8_EXPONENT_BELOW = 1e-4;

export const float8ToText: BinaryToText = (out, source, start, end) => {
  expectLength('float8', start, end, 8);
  writeFloat8(out, source.readDoubleBE(start));
};

export const float4ToText: BinaryToText = (out, source, start, end) => {
  expectLength('float4', start, end, 4);
  const value = source.readFloatBE(start);
  const magnitude = Math.abs(value);
  if (writeSimple(out, value)) return;
  if (magnitude < FLOAT4_EXPONENT_BELOW || magnitude >= FLOAT4_EXPONENT_FROM) {
    writeExponential(out, shortestFloat4(magnitude));
  } else {
    writePlainFloat4(out, magnitude);
  }
};

/** Also for the geometric types, which are made of these. */
export function writeFloat8(out: ByteWriter, value: number): void {
  if (writeSimple(out, value)) return;
  const magnitude = Math.abs(value);
  if (magnitude < FLOAT8_EXPONENT_BELOW || magnitude >= FLOAT8_EXPONENT_FROM) {
    writeExponential(out, shortestFloat8(magnitude));
  } else if (!writeFewDecimals(out, magnitude)) {
    writeDigits(out, String(magnitude));
  }
}

/** A loop: write() costs as much as finding the digits. */
function writeDigits(out: ByteWriter, digits: string): void {
  const { bytes, length } = out;
  for (let i = 0; i < digits.length; i++) bytes[length + i] = digits.charCodeAt(i);
  out.length += digits.length;
}

/** Writes what has no digits to search; else only the sign, makes room, and says false. */
function writeSimple(out: ByteWriter, value: number): boolean {
  out.reserve(ROOM);
  if (Number.isNaN(value)) {
    out.text('NaN');
    return true;
  }
  if (value < 0 || Object.is(value, -0)) out.bytes[out.length++] = MINUS;
  if (value === 0) out.bytes[out.length++] = ZERO;
  else if (value === Infinity || value === -Infinity) out.text('Infinity');
  else return false;
  return true;
}

const FEW_DECIMALS = 6;
const FEW_UNIT = 10 ** FEW_DECIMALS;
const MOST_DIGITS = 1e15;
const UNITS = Array.from({ length: 13 }, (_, scale) => 10 ** scale);

/**
 * No two numbers of up to 15 digits give the same float8: digits that give this one are the shortest
 * but for zeros at their end. Most values that people store are found here, five times as fast as by
 * String().
 */
function writeFewDecimals(out: ByteWriter, magnitude: number): boolean {
  let digits = Math.round(magnitude * FEW_UNIT);
  let scale = FEW_DECIMALS;
  if (digits >= MOST_DIGITS) {
    digits = magnitude;
    scale = 0;
    if (!Number.isInteger(magnitude)) return false;
  } else if (digits / FEW_UNIT !== magnitude) return false;
  for (; scale > 0; scale--) {
    const tenth = Math.floor(digits / 10);
    if (tenth * 10 !== digits) break;
    digits = tenth;
  }
  out.length = storeScaled(out.words, out.length, digits, scale);
  return true;
}

const FLOAT4_MANTISSA_BITS = 23;

/**
 * From 1e-4 to 1e6 twelve decimals always do, and that many still fit a float8 exactly: a float4
 * and its rounding bounds have 26 bits, and 5^12 has 28.
 */
function writePlainFloat4(out: ByteWriter, magnitude: number): void {
  const exponent = Math.floor(Math.log2(magnitude));
  const ulp = 2 ** (exponent - FLOAT4_MANTISSA_BITS);
  const isPowerOfTwo = magnitude === 2 ** exponent;
  const low = magnitude - (isPowerOfTwo ? ulp / 4 : ulp / 2);
  const high = magnitude + ulp / 2;
  for (let scale = 0; scale < UNITS.length; scale++) {
    const digits = nearestWithin(low, magnitude, high, UNITS[scale]!);
    if (digits === -1) continue;
    out.length = storeScaled(out.words, out.length, digits, scale);
    return;
  }
}

/** The multiple of 1/unit that is nearest to `value`, and between the bounds; -1 if none is. */
function nearestWithin(low: number, value: number, high: number, unit: number): number {
  const scaled = value * unit;
  const below = Math.floor(scaled);
  const belowFits = below > low * unit;
  const aboveFits = below + 1 < high * unit;
  if (!belowFits) return aboveFits ? below + 1 : -1;
  if (!aboveFits) return below;
  const distance = scaled - below;
  if (distance === 0.5) return below % 2 === 0 ? below : below + 1;
  return distance < 0.5 ? below : below + 1;
}

/** From `1.5e+300` as toExponential() gives it to at least two digits of exponent. */
function writeExponential(out: ByteWriter, digits: string): void {
  const exponentLength = digits.length - digits.indexOf('e') - 2;
  const text =
    exponentLength === 1 ? `${digits.slice(0, -1)}0${digits[digits.length - 1]}` : digits;
  out.length += out.bytes.write(text, out.length, 'latin1');
}

/** Whether the binary value is NaN, which many bytes are: all of them are printed alike. */
export function isNaNValue(typeId: number, source: Buffer, start: number): boolean {
  if (typeId === OID.float8) return Number.isNaN(source.readDoubleBE(start));
  return typeId === OID.float4 && Number.isNaN(source.readFloatBE(start));
}
