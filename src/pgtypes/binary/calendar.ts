// The calendar and the clock as ISO text, from day counts and microseconds.
// https://www.postgresql.org/docs/current/datetime-units-history.html

import { storeFraction, storePadded, storeTwoDigits, storeUint } from './digits.ts';

/** Of 2000-01-01, from which the wire counts, on the count that begins at 0000-03-01. */
const DAYS_FROM_MARCH_0000 = 730_425;
const DAYS_PER_ERA = 146_097;

const DASH = 0x2d;
const COLON = 0x3a;
const BC = Buffer.from(' BC');

/** The longest date is `5874897-12-31`. */
export const DATE_ROOM = 16;
/** `24:00:00.000000` */
export const TIME_ROOM = 16;

/** So many dates are kept, each in the place of its day: those near each other do not share one. */
const KEPT_DATES = 256;
const keptDays = new Float64Array(KEPT_DATES).fill(Number.NaN);
const keptLengths = new Uint8Array(KEPT_DATES);
const keptDates = new DataView(new ArrayBuffer(KEPT_DATES * DATE_ROOM));

/**
 * As computeDate, into room for DATE_ROOM bytes. Most dates of a table are those of few days: they
 * are copied in a third of the time that it takes to compute them.
 */
export function storeDate(words: DataView, at: number, days: number): number {
  const place = days & (KEPT_DATES - 1);
  const from = place * DATE_ROOM;
  if (keptDays[place] !== days) {
    keptLengths[place] = computeDate(keptDates, from, days) - from;
    keptDays[place] = days;
  }
  const length = keptLengths[place]!;
  for (let i = 0; i < length; i += 4) {
    words.setInt32(at + i, keptDates.getInt32(from + i, true), true);
  }
  return at + length;
}

/**
 * Stores `2026-11-29` for the days since 2000-01-01. The year is shown without its era: the caller
 * writes ` BC`, at the end of the whole text, if `isBeforeChrist` says so.
 * Counted in eras of 400 years that begin on 1 March, so that the leap day is an era's last.
 */
function computeDate(words: DataView, at: number, days: number): number {
  const shifted = days + DAYS_FROM_MARCH_0000;
  const era = Math.floor(shifted / DAYS_PER_ERA) | 0;
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const leaps =
    ((dayOfEra / 1460) | 0) - ((dayOfEra / 36_524) | 0) + ((dayOfEra / (DAYS_PER_ERA - 1)) | 0);
  const yearOfEra = ((dayOfEra - leaps) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const monthFromMarch = ((5 * dayOfYear + 2) / 153) | 0;
  const day = dayOfYear - (((153 * monthFromMarch + 2) / 5) | 0) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const afterYear = storeYear(words, at, year > 0 ? year : 1 - year);
  words.setUint8(afterYear, DASH);
  const afterMonth = storeTwoDigits(words, afterYear + 1, month);
  words.setUint8(afterMonth, DASH);
  return storeTwoDigits(words, afterMonth + 1, day);
}

function storeYear(words: DataView, at: number, year: number): number {
  return year > 9999 ? storeUint(words, at, year) : storePadded(words, at, year, 4);
}

const FIRST_DAY_OF_YEAR_1 = -730_119;

/** The year before 1 AD is 1 BC. */
export const isBeforeChrist = (days: number): boolean => days < FIRST_DAY_OF_YEAR_1;

export function storeBeforeChrist(words: DataView, at: number): number {
  for (let i = 0; i < BC.length; i++) words.setUint8(at + i, BC[i]!);
  return at + BC.length;
}

/** `20:36:50.055877`; of an interval the hours may have more digits. */
export function storeTime(words: DataView, at: number, seconds: number, micros: number): number {
  const hours = Math.floor(seconds / 3600);
  const rest = (seconds - hours * 3600) | 0; // known to be whole, it is divided as an integer
  const minutes = (rest / 60) | 0;
  const afterHours = hours > 99 ? storeUint(words, at, hours) : storeTwoDigits(words, at, hours);
  words.setUint8(afterHours, COLON);
  const afterMinutes = storeTwoDigits(words, afterHours + 1, minutes);
  words.setUint8(afterMinutes, COLON);
  const afterSeconds = storeTwoDigits(words, afterMinutes + 1, rest - minutes * 60);
  return storeFraction(words, afterSeconds, micros);
}
