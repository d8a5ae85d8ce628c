// The wall-clock times of transactions: the time of day always, the date when it is another one.

import { formatTimestamp, type PgTimestamp, timestampToUnixMs } from '../../wire/timestamp.ts';

/** The largest distance from 1970 that a JavaScript Date can hold, in milliseconds. */
const DATE_RANGE_MS = 8.64e15;
const SECOND_MS = 1000;

export interface ClockText {
  /** `2026-11-29` */
  readonly day: string;
  /** `20:36:50.055` */
  readonly time: string;
  /** `UTC` or `+02:00` */
  readonly zone: string;
}

/** A commit time as text. */
export type Clock = (timestamp: PgTimestamp) => ClockText;

/**
 * What JavaScript takes and looks so is a name to the server too. An offset is not: `+03:00` is
 * east of Greenwich here and west of it there.
 */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]*$/;

/** UTC for whatever is no name, such as Europe/Berlin or Japan, that JavaScript knows. */
export function clockIn(timeZone: string): Clock {
  const isRegion = ZONE_NAME.test(timeZone) && timeZone.toUpperCase() !== 'UTC';
  const offsets = isRegion ? offsetFormat(timeZone) : undefined;
  if (offsets === undefined) return utcText;
  return (timestamp) => textIn(offsets, timestamp);
}

function offsetFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return undefined; // the server knows more names
  }
}

const utcText: Clock = (timestamp) => {
  const unixMs = timestampToUnixMs(timestamp);
  if (!isDate(unixMs)) return { day: formatTimestamp(timestamp), time: '', zone: '' };
  return { ...dayAndTime(unixMs), zone: 'UTC' };
};

function textIn(offsets: Intl.DateTimeFormat, timestamp: PgTimestamp): ClockText {
  const unixMs = timestampToUnixMs(timestamp);
  if (!isDate(unixMs)) return utcText(timestamp);
  const zone = offsetAt(offsets, unixMs);
  const shifted = unixMs + offsetMs(zone);
  return isDate(shifted) ? { ...dayAndTime(shifted), zone } : utcText(timestamp);
}

const isDate = (unixMs: number): boolean => Math.abs(unixMs) <= DATE_RANGE_MS;

function dayAndTime(unixMs: number): { readonly day: string; readonly time: string } {
  const [day = '', time = ''] = new Date(unixMs).toISOString().slice(0, -1).split('T');
  return { day, time };
}

/** `+02:00`, or `+00:19:32` long ago. JavaScript says `GMT+02:00`, and `GMT` for none. */
function offsetAt(offsets: Intl.DateTimeFormat, unixMs: number): string {
  const parts = offsets.formatToParts(unixMs);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return name.replace('GMT', '') || '+00:00';
}

function offsetMs(offset: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = offset.slice(1).split(':').map(Number);
  const ms = ((hours * 60 + minutes) * 60 + seconds) * SECOND_MS;
  return offset.startsWith('-') ? -ms : ms;
}
