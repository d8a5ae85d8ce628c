// Timestamps: expected texts are what PostgreSQL 18 printed for the wire value beside them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatTimestamp,
  timestampFromUnixMs,
  timestampToUnixMs,
} from '../../src/wire/timestamp.ts';
import { anyTimestamp } from '../support/arbitraries.ts';

/** timestamptz_send(t) in hexadecimal, to_json(t) under TimeZone=UTC. */
const POSTGRES_PRINTS: readonly (readonly [string, string])[] = [
  ['0000000000000000', '2000-01-01T00:00:00+00:00'],
  ['ffffffffffffffff', '1999-12-31T23:59:59.999999+00:00'],
  ['0003046f057c76c5', '2026-11-29T20:36:50.055877+00:00'],
  ['000004acef8ed000', '2000-02-29T12:00:00+00:00'],
  ['000004b6fe72dee0', '2000-02-29T23:59:59.5+00:00'],
  ['fff4ce915c9f5dc0', '1900-02-28T23:59:59+00:00'],
  ['fff4ce915caea000', '1900-03-01T00:00:00+00:00'],
  ['000b3ac8825fbdc0', '2100-02-28T23:59:59+00:00'],
  ['000b3ac8826f0000', '2100-03-01T00:00:00+00:00'],
  ['0002cd987ec71280', '2024-12-31T23:59:59.12+00:00'],
  ['fffca2fec4c9a6a0', '1970-01-01T00:00:00.1+00:00'],
  ['0380e70b912c3dc1', '9999-12-31T23:59:59.000001+00:00'],
  ['0380e70b913b8000', '10000-01-01T00:00:00+00:00'],
  ['7fffff5bb3b29fff', '294276-12-31T23:59:59.999999+00:00'],
  ['ff1fe2ffc59c6000', '0001-01-01T00:00:00+00:00'],
  ['ff1fe2ffc59c5fff', '0001-12-31T23:59:59.999999+00:00 BC'],
  ['ff203dae4a7b2000', '0004-02-29T00:00:00+00:00'],
  ['ff1f57fd90560000', '0005-02-28T00:00:00+00:00 BC'],
  ['ff1f5811ae2d6000', '0005-02-29T00:00:00+00:00 BC'],
  ['fd0f7fbdaf17e000', '4713-01-01T00:00:00+00:00 BC'],
  ['fd0f7cc1411fa000', '4714-11-24T00:00:00+00:00 BC'],
  ['7fffffffffffffff', 'infinity'],
  ['8000000000000000', '-infinity'],
];

const fromHex = (hex: string): bigint => BigInt.asIntN(64, BigInt(`0x${hex}`));

/** The milliseconds a Date can hold, in years that both print with four digits. */
const dateMs = fc.integer({
  min: Date.parse('0001-01-01T00:00:00Z'),
  max: Date.parse('9999-12-31T23:59:59.999Z'),
});

describe('a timestamp', () => {
  it.each(POSTGRES_PRINTS)('0x%s is printed as PostgreSQL prints it: %s', (hex, text) => {
    expect(formatTimestamp(fromHex(hex))).toBe(text);
  });

  it('agrees with Date.toISOString wherever that has an answer', () => {
    fc.assert(
      fc.property(dateMs, (ms) => {
        const text = formatTimestamp(timestampFromUnixMs(ms));
        expect(new Date(text).toISOString()).toBe(new Date(ms).toISOString());
        expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d*[1-9])?\+00:00$/);
      }),
    );
  });

  it('agrees with Date over all the years a Date knows, far before and after Christ', () => {
    const anyDateMs = fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 });
    fc.assert(
      fc.property(anyDateMs, (ms) => {
        const date = new Date(ms);
        const [, year, month, day, bc] = /^(\d+)-(\d\d)-(\d\d)T.*?( BC)?$/.exec(
          formatTimestamp(timestampFromUnixMs(ms)),
        )!;
        expect(bc === undefined ? Number(year) : 1 - Number(year)).toBe(date.getUTCFullYear());
        expect(Number(month)).toBe(date.getUTCMonth() + 1);
        expect(Number(day)).toBe(date.getUTCDate());
      }),
    );
  });

  it('prints every 64-bit value as a date or an infinity', () => {
    const shape = /^-?infinity$|^\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00( BC)?$/;
    fc.assert(
      fc.property(anyTimestamp, (timestamp) => {
        expect(formatTimestamp(timestamp)).toMatch(shape);
      }),
    );
  });

  it('becomes Unix milliseconds and comes back', () => {
    fc.assert(fc.property(dateMs, (ms) => timestampToUnixMs(timestampFromUnixMs(ms)) === ms));
  });

  it.each([
    ['2026-11-29T20:36:50.055877+00:00', '0003046f057c76c5'],
    ['1999-12-31T23:59:59.999999+00:00', 'ffffffffffffffff'],
  ])('%s is cut to its millisecond, before 2000 too', (text, hex) => {
    expect(timestampToUnixMs(fromHex(hex))).toBe(Date.parse(text));
  });
});
