// interval as IntervalStyle=postgres prints it: `1 year 2 mons -3 days +04:05:06.7`.
// https://www.postgresql.org/docs/current/datatype-datetime.html#DATATYPE-INTERVAL-OUTPUT

import type { ByteWriter } from '../../byte-writer.ts';
import { storeTime } from './calendar.ts';
import { type BinaryToText, expectLength } from './conversion.ts';
import { writeInt } from './digits.ts';
import { belowMillion, int32At, millions, TWO_POW_32, uint32At } from './words.ts';

const MOST = 0x7fff_ffff;
const LEAST = -0x8000_0000;
const MONTHS_PER_YEAR = 12;

/** A sign and the 2,562,047,788 hours that 2^63 microseconds are. */
const ROOM = 32;

/** Microseconds, days, months. */
const LENGTH = 16;

const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;

/** Since 17 all three parts at their limit mean infinity. */
export const intervalToText: BinaryToText = (out, source, start, end) => {
  expectLength('interval', start, end, LENGTH);
  const high = int32At(source, start);
  const low = uint32At(source, start + 4);
  const days = int32At(source, start + 8);
  const months = int32At(source, start + 12);
  if (days === MOST && months === MOST && high === MOST && low === 0xffff_ffff) {
    return out.text('infinity');
  }
  if (days === LEAST && months === LEAST && high === LEAST && low === 0) {
    return out.text('-infinity');
  }
  finiteIntervalToText(out, source, start, end);
};

/** Before 17 every interval is finite. */
export const finiteIntervalToText: BinaryToText = (out, source, start, end) => {
  expectLength('interval', start, end, LENGTH);
  const begin = out.length;
  const months = int32At(source, start + 12);
  const years = Math.trunc(months / MONTHS_PER_YEAR);
  let afterNegative = writePart(out, begin, years, ' year', false);
  const monthsLeft = months - years * MONTHS_PER_YEAR;
  afterNegative = writePart(out, begin, monthsLeft, ' mon', afterNegative);
  afterNegative = writePart(out, begin, int32At(source, start + 8), ' day', afterNegative);
  writeTimePart(out, begin, int32At(source, start), uint32At(source, start + 4), afterNegative);
};

/**
 * Says whether the next part comes after a negative one: a positive part needs its sign there.
 * A part of zero is left out, and what comes after it has no sign to contrast with.
 */
function writePart(
  out: ByteWriter,
  begin: number,
  value: number,
  unit: string,
  afterNegative: boolean,
): boolean {
  if (value === 0) return afterNegative;
  out.reserve(2);
  if (out.length > begin) out.bytes[out.length++] = SPACE;
  if (afterNegative && value > 0) out.bytes[out.length++] = PLUS;
  writeInt(out, value);
  out.text(value === 1 ? unit : `${unit}s`);
  return value < 0;
}

/** The time of day part, which alone stands for an interval of nothing. */
function writeTimePart(
  out: ByteWriter,
  begin: number,
  high: number,
  low: number,
  afterNegative: boolean,
): void {
  if (high === 0 && low === 0 && out.length > begin) return;
  out.reserve(ROOM);
  const bytes = out.bytes;
  if (out.length > begin) bytes[out.length++] = SPACE;
  if (high < 0) bytes[out.length++] = MINUS;
  else if (afterNegative) bytes[out.length++] = PLUS;
  const borrow = low === 0 ? 0 : 1;
  const highPart = high < 0 ? -high - borrow : high;
  const lowPart = high < 0 && low !== 0 ? TWO_POW_32 - low : low;
  const seconds = millions(highPart, lowPart);
  out.length = storeTime(out.words, out.length, seconds, belowMillion(highPart, lowPart));
}
