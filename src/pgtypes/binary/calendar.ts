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

/**
 * Stores `2026-11-29` for the days since 2000-01-01. The year is shown without its era: the caller
 * writes ` BC`, at the end of the whole text, if `isBeforeChrist` says so.
 * Counted in eras of 400 years that begin on 1 March, so that the leap day is an era's last.
 */
export function storeDate(bytes: Buffer, at: number, days: number): number {
  const shifted = days + DAYS_FROM_MARCH_0000;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const leaps =
    ((dayOfEra / 1460) | 0) - ((dayOfEra / 36_524) | 0) + ((dayOfEra / (DAYS_PER_ERA - 1)) | 0);
  const yearOfEra = ((dayOfEra - leaps) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const monthFromMarch = ((5 * dayOfYear + 2) / 153) | 0;
  const day = dayOfYear - (((153 * monthFromMarch + 2) / 5) | 0) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const afterYear = storeYear(bytes, at, year > 0 ? year : 1 - year);
  bytes[afterYear] = DASH;
  const afterMonth = storeTwoDigits(bytes, afterYear + 1, month);
  bytes[afterMonth] = DASH;
  return storeTwoDigits(bytes, afterMonth + 1, day);
}

function storeYear(bytes: Buffer, at: number, year: number): number {
  return year > 9999 ? storeUint(bytes, at, year) : storePadded(bytes, at, year, 4);
}

const FIRST_DAY_OF_YEAR_1 = -730_119;

/** The year before 1 AD is 1 BC. */
export const isBeforeChrist = (days: number): boolean => days < FIRST_DAY_OF_YEAR_1;

export function storeBeforeChrist(bytes: Buffer, at: number): number {
  for (let i = 0; i < BC.length; i++) bytes[at + i] = BC[i]!;
  return at + BC.length;
}

/** `20:36:50.055877`; of an interval the hours may have more digits. */
export function storeTime(bytes: Buffer, at: number, seconds: number, micros: number): number {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const afterHours = hours > 99 ? storeUint(bytes, at, hours) : storeTwoDigits(bytes, at, hours);
  bytes[afterHours] = COLON;
  const afterMinutes = storeTwoDigits(bytes, afterHours + 1, minutes - hours * 60);
  bytes[afterMinutes] = COLON;
  const afterSeconds = storeTwoDigits(bytes, afterMinutes + 1, seconds - minutes * 60);
  return storeFraction(bytes, afterSeconds, micros);
}
