// The wall-clock times of transactions: the time of day always, the date when it is another one.

import { formatTimestamp, type PgTimestamp, timestampToUnixMs } from '../../wire/timestamp.ts';

/** The largest distance from 1970 that a JavaScript Date can hold, in milliseconds. */
const DATE_RANGE_MS = 8.64e15;

export interface ClockText {
  /** `2026-11-29` */
  readonly day: string;
  /** `20:36:50.055` */
  readonly time: string;
  /** `UTC` or `+02:00` */
  readonly zone: string;
}

/** A commit time as text, in UTC or in the time zone of this machine. */
export function clockText(timestamp: PgTimestamp, utc: boolean): ClockText {
  const unixMs = timestampToUnixMs(timestamp);
  if (Math.abs(unixMs) > DATE_RANGE_MS)
    return { day: formatTimestamp(timestamp), time: '', zone: '' };
  const offsetMinutes = utc ? 0 : -new Date(unixMs).getTimezoneOffset();
  const shifted = unixMs + offsetMinutes * 60_000;
  if (Math.abs(shifted) > DATE_RANGE_MS) return clockText(timestamp, true);
  const [day = '', time = ''] = new Date(shifted).toISOString().slice(0, -1).split('T');
  return { day, time, zone: utc ? 'UTC' : formatOffset(offsetMinutes) };
}

function formatOffset(minutes: number): string {
  const hours = String(Math.floor(Math.abs(minutes) / 60)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${hours}:${String(Math.abs(minutes) % 60).padStart(2, '0')}`;
}
