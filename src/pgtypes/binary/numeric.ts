// numeric: groups of four decimal digits, a weight, a sign and the number of decimals to show.
// https://www.postgresql.org/docs/current/datatype-numeric.html#DATATYPE-NUMERIC-DECIMAL

import type { ByteWriter } from '../../byte-writer.ts';
import { type BinaryToText, malformed } from './conversion.ts';
import { storePadded, storeUint } from './digits.ts';
import { int16At, uint16At } from './words.ts';

const HEADER = 8;
const GROUP_DIGITS = 4;
const LARGEST_GROUP = 9999;
const LARGEST_SCALE = 0x3fff;

const NEGATIVE = 0x4000;
const SPECIAL: ReadonlyMap<number, string> = new Map([
  [0xc000, 'NaN'],
  [0xd000, 'Infinity'],
  [0xf000, '-Infinity'],
]);

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;

export const numericToText: BinaryToText = (out, source, start, end) => {
  const count = groupCount(source, start, end);
  const weight = int16At(source, start + 2);
  const sign = uint16At(source, start + 4);
  const scale = uint16At(source, start + 6);
  if (sign !== 0 && sign !== NEGATIVE) return writeSpecial(out, sign);
  if (scale > LARGEST_SCALE) throw malformed('numeric', `a scale of ${scale}`, 6);
  // the sign, the point and the 0 before it; the last group of decimals may stick out
  out.reserve(3 + (Math.max(weight, 0) + 1) * GROUP_DIGITS + scale + GROUP_DIGITS);
  if (sign === NEGATIVE) out.bytes[out.length++] = MINUS;
  const groups = start + HEADER;
  writeWhole(out, source, groups, count, weight);
  if (scale > 0) writeDecimals(out, source, groups, count, weight, scale);
};

function groupCount(source: Buffer, start: number, end: number): number {
  if (end - start < HEADER) {
    throw malformed('numeric', `${HEADER} bytes needed, got ${end - start}`);
  }
  const count = uint16At(source, start);
  if (HEADER + 2 * count !== end - start) {
    throw malformed('numeric', `${count} digit groups announced, got ${end - start} bytes`);
  }
  return count;
}

function writeSpecial(out: ByteWriter, sign: number): void {
  const name = SPECIAL.get(sign);
  if (name === undefined) throw malformed('numeric', `unknown sign 0x${sign.toString(16)}`, 4);
  out.text(name);
}

/** Groups that are not sent are zero. The first is written without zeros in front. */
function writeWhole(
  out: ByteWriter,
  source: Buffer,
  groups: number,
  count: number,
  weight: number,
): void {
  const { bytes, words } = out;
  if (weight < 0) {
    bytes[out.length++] = ZERO;
    return;
  }
  let at = storeUint(words, out.length, groupAt(source, groups, count, 0));
  for (let i = 1; i <= weight; i++) {
    at = storePadded(words, at, groupAt(source, groups, count, i), GROUP_DIGITS);
  }
  out.length = at;
}

function writeDecimals(
  out: ByteWriter,
  source: Buffer,
  groups: number,
  count: number,
  weight: number,
  scale: number,
): void {
  const { bytes, words } = out;
  bytes[out.length++] = POINT;
  let at = out.length;
  const end = at + scale;
  for (let i = weight + 1; at < end; i++) {
    at = storePadded(words, at, groupAt(source, groups, count, i), GROUP_DIGITS);
  }
  out.length = end;
}

function groupAt(source: Buffer, groups: number, count: number, index: number): number {
  if (index < 0 || index >= count) return 0;
  const group = uint16At(source, groups + 2 * index);
  if (group > LARGEST_GROUP) {
    throw malformed('numeric', `a digit group of ${group}`, HEADER + 2 * index);
  }
  return group;
}
