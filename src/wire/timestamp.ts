// Timestamps on the wire: microseconds since 2000-01-01 00:00 UTC, as a signed 64-bit number.
// https://www.postgresql.org/docs/current/protocol-replication.html

/** Microseconds since 2000-01-01 00:00:00 UTC. */
export type PgTimestamp = bigint;

const UNIX_EPOCH_DISTANCE_MS = 946_684_800_000n;
const MICROS_PER_DAY = 86_400_000_000n;
const DAYS_1970_TO_2000 = 10_957;
const INFINITY: PgTimestamp = 2n ** 63n - 1n;
const MINUS_INFINITY: PgTimestamp = -(2n ** 63n);

/** A Unix time in milliseconds (Date.now()) as a wire timestamp. */
export function timestampFromUnixMs(unixMs: number): PgTimestamp {
  return (BigInt(Math.trunc(unixMs)) - UNIX_EPOCH_DISTANCE_MS) * 1000n;
}

/** A wire timestamp as Unix time in whole milliseconds, rounded down also before 2000. */
export function timestampToUnixMs(timestamp: PgTimestamp): number {
  const borrowed = timestamp % 1000n < 0n ? 1n : 0n;
  return Number(timestamp / 1000n - borrowed + UNIX_EPOCH_DISTANCE_MS);
}

/** What `to_json(timestamptz)` prints under TimeZone=UTC: `2026-11-29T20:36:50.055877+00:00`. */
export function formatTimestamp(timestamp: PgTimestamp): string {
  if (timestamp === INFINITY) return 'infinity';
  if (timestamp === MINUS_INFINITY) return '-infinity';
  let days = timestamp / MICROS_PER_DAY;
  let micros = timestamp % MICROS_PER_DAY;
  if (micros < 0n) {
    micros += MICROS_PER_DAY;
    days -= 1n;
  }
  const { year, month, day } = civilFromDays(Number(days) + DAYS_1970_TO_2000);
  const shownYear = year > 0 ? year : 1 - year;
  const date = `${String(shownYear).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`;
  return `${date}T${formatTimeOfDay(Number(micros))}+00:00${year > 0 ? '' : ' BC'}`;
}

/** `20:36:50.055877`: the fraction loses its trailing zeros, as PostgreSQL prints it. */
function formatTimeOfDay(micros: number): string {
  const seconds = Math.trunc(micros / 1_000_000);
  const clock = [Math.trunc(seconds / 3600), Math.trunc(seconds / 60) % 60, seconds % 60];
  const fraction = String(micros % 1_000_000)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return clock.map(twoDigits).join(':') + (fraction === '' ? '' : `.${fraction}`);
}

const twoDigits = (n: number): string => String(n).padStart(2, '0');

/**
 * The proleptic Gregorian date of a day count from 1970-01-01. Years are astronomical (0 = 1 BC).
 * Counted in eras of 400 years that begin on 1 March, so that the leap day is an era's last.
 */
function civilFromDays(daysSince1970: number): { year: number; month: number; day: number } {
  const shifted = daysSince1970 + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day };
}
