// Commit times on the clock of a region.

import { describe, expect, it } from 'vitest';
import { clockIn } from '../../../src/format/pretty/clock.ts';
import { timestampFromUnixMs } from '../../../src/wire/timestamp.ts';

const at = (time: string): bigint => timestampFromUnixMs(Date.parse(time));

describe('the clock', () => {
  it.each([
    ['Europe/Berlin', '2026-11-29T23:36:50.055Z', '2026-11-30', '00:36:50.055', '+01:00'],
    ['Europe/Berlin', '2026-07-01T12:00:00.000Z', '2026-07-01', '14:00:00.000', '+02:00'],
    ['Asia/Kathmandu', '2026-11-29T20:36:50.055Z', '2026-11-30', '02:21:50.055', '+05:45'],
    ['America/St_Johns', '2026-11-29T02:00:00.000Z', '2026-11-28', '22:30:00.000', '-03:30'],
    ['Africa/Abidjan', '2026-11-29T20:36:50.055Z', '2026-11-29', '20:36:50.055', '+00:00'],
    ['Japan', '2026-11-29T20:36:50.055Z', '2026-11-30', '05:36:50.055', '+09:00'],
    ['CET', '2026-07-01T12:00:00.000Z', '2026-07-01', '14:00:00.000', '+02:00'],
    ['EST5EDT', '2026-11-29T02:00:00.000Z', '2026-11-28', '21:00:00.000', '-05:00'],
    ['W-SU', '2026-11-29T02:00:00.000Z', '2026-11-29', '05:00:00.000', '+03:00'],
    ['NZ-CHAT', '2026-11-29T02:00:00.000Z', '2026-11-29', '15:45:00.000', '+13:45'],
    ['Etc/GMT+3', '2026-11-29T02:00:00.000Z', '2026-11-28', '23:00:00.000', '-03:00'],
  ])('in %s at %s', (timeZone, time, day, shown, zone) => {
    expect(clockIn(timeZone)(at(time))).toEqual({ day, time: shown, zone });
  });

  it.each([
    'UTC',
    'utc',
    '-3.5',
    '+03:00',
    'EST5',
    'GMT+3',
    '<-03>3',
    'Mars/Olympus',
    'posix/Europe/Berlin',
  ])('stays UTC for %s, which JavaScript has no name for, or means otherwise', (timeZone) => {
    const shown = { day: '2026-11-29', time: '20:36:50.055', zone: 'UTC' };
    expect(clockIn(timeZone)(at('2026-11-29T20:36:50.055Z'))).toEqual(shown);
  });

  it('shows a time beyond all calendars as it can', () => {
    const { day, zone } = clockIn('Europe/Berlin')(2n ** 63n - 1n);
    expect(day).not.toBe('');
    expect(zone).toBe('');
  });
});
