// date, time, timetz, timestamp and timestamptz as DateStyle=ISO and TimeZone=UTC print them.
// https://www.postgresql.org/docs/current/datatype-datetime.html

import { appendBlock, Block, type ByteWriter } from '../../byte-writer.ts';
import {
  DATE_ROOM,
  isBeforeChrist,
  storeBeforeChrist,
  storeDate,
  storeTime,
  TIME_ROOM,
} from './calendar.ts';
import { type BinaryToText, expectLength, malformed } from './conversion.ts';
import { storeTwoDigits } from './digits.ts';
import { belowMillion, int32At, millions, uint32At } from './words.ts';

const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const COLON = 0x3a;
const CAPITAL_T = 0x54;

const SECONDS_PER_DAY = 86_400;
const MOST = 0x7fff_ffff;
const LEAST = -0x8000_0000;

// 4714-11-24 BC is day 0 of the Julian count, from which the server's calendar starts.
const FIRST_DAY = -2_451_545;
const DAY_AFTER_LAST_DATE = 2_145_031_949;
const DAY_AFTER_LAST_TIMESTAMP = 106_751_983;

/** Days since 2000-01-01. */
export const dateToText: BinaryToText = (out, source, start, end) => {
  expectLength('date', start, end, 4);
  const days = int32At(source, start);
  if (days === MOST) return out.text('infinity');
  if (days === LEAST) return out.text('-infinity');
  if (days < FIRST_DAY || days >= DAY_AFTER_LAST_DATE) throw malformed('date', 'out of range');
  out.reserve(DATE_ROOM);
  const at = storeDate(out.words, out.length, days);
  out.length = isBeforeChrist(days) ? storeBeforeChrist(out.words, at) : at;
};

/** Microseconds since midnight; 24:00:00 is one of them. */
export const timeToText: BinaryToText = (out, source, start, end) => {
  expectLength('time', start, end, 8);
  writeTime(out, source, start, 'time');
};

/** The same and the seconds west of UTC. */
export const timetzToText: BinaryToText = (out, source, start, end) => {
  expectLength('timetz', start, end, 12);
  writeTime(out, source, start, 'timetz');
  writeZone(out, int32At(source, start + 8));
};

function writeTime(out: ByteWriter, source: Buffer, start: number, type: string): void {
  const high = int32At(source, start);
  const low = uint32At(source, start + 4);
  const seconds = millions(high, low);
  const micros = belowMillion(high, low);
  if (seconds < 0 || seconds + (micros > 0 ? 1 : 0) > SECONDS_PER_DAY) {
    throw malformed(type, 'out of range');
  }
  out.reserve(TIME_ROOM);
  out.length = storeTime(out.words, out.length, seconds, micros);
}

const FARTHEST_ZONE = 16 * 3600;

/** `+00`, `-03:30`, `+01:02:03`: minutes and seconds only if there are any. */
function writeZone(out: ByteWriter, west: number): void {
  const distance = Math.abs(west);
  if (distance >= FARTHEST_ZONE) throw malformed('timetz', `a zone of ${west} seconds`, 8);
  out.reserve(TIME_ROOM);
  const { bytes, words } = out;
  const minutes = Math.floor(distance / 60);
  const seconds = distance % 60;
  bytes[out.length] = west <= 0 ? PLUS : MINUS;
  let at = storeTwoDigits(words, out.length + 1, Math.floor(minutes / 60));
  if (minutes % 60 !== 0 || seconds !== 0) {
    bytes[at] = COLON;
    at = storeTwoDigits(words, at + 1, minutes % 60);
  }
  if (seconds !== 0) {
    bytes[at] = COLON;
    at = storeTwoDigits(words, at + 1, seconds);
  }
  out.length = at;
}

/** What stands between and behind the parts of a timestamp. */
interface TimestampForm {
  readonly separator: number;
  readonly utc: Block;
}

const NO_ZONE = Block.of('');
const AS_TEXT: TimestampForm = { separator: SPACE, utc: NO_ZONE };
const AS_UTC_TEXT: TimestampForm = { separator: SPACE, utc: Block.of('+00') };
const IN_JSON: TimestampForm = { separator: CAPITAL_T, utc: NO_ZONE };
const AS_UTC_IN_JSON: TimestampForm = { separator: CAPITAL_T, utc: Block.of('+00:00') };

const timestampAs =
  (form: TimestampForm): BinaryToText =>
  (out, source, start, end) => {
    expectLength('timestamp', start, end, 8);
    writeTimestamp(out, source, start, form);
  };

/** Microseconds since 2000-01-01. */
export const timestampToText = timestampAs(AS_TEXT);
/** The same in UTC: `2026-11-29 20:36:50.055877+00`. */
export const timestamptzToText = timestampAs(AS_UTC_TEXT);
/** As row_to_json prints them, but for the quotes: `2026-11-29T20:36:50.055877+00:00`. */
export const timestampToIso = timestampAs(IN_JSON);
export const timestamptzToIso = timestampAs(AS_UTC_IN_JSON);

function writeTimestamp(
  out: ByteWriter,
  source: Buffer,
  start: number,
  { separator, utc }: TimestampForm,
): void {
  const high = int32At(source, start);
  const low = uint32At(source, start + 4);
  if (high === MOST && low === 0xffff_ffff) return out.text('infinity');
  if (high === LEAST && low === 0) return out.text('-infinity');
  const seconds = millions(high, low);
  const days = Math.floor(seconds / SECONDS_PER_DAY);
  if (days < FIRST_DAY || days >= DAY_AFTER_LAST_TIMESTAMP) {
    throw malformed('timestamp', 'out of range');
  }
  out.reserve(DATE_ROOM + TIME_ROOM + DATE_ROOM);
  const { words } = out;
  const afterDate = storeDate(words, out.length, days);
  words.setUint8(afterDate, separator);
  const time = seconds - days * SECONDS_PER_DAY;
  out.length = storeTime(words, afterDate + 1, time, belowMillion(high, low));
  appendBlock(out, utc);
  if (isBeforeChrist(days)) out.length = storeBeforeChrist(words, out.length);
}
