// From a value's text as the server sent it to the JSON that row_to_json would print for it.

import { appendBlock, appendRange, Block, type ByteWriter } from '../byte-writer.ts';
import { isJson } from './json-check.ts';
import { holdsByte, MAX_ESCAPED_BYTE, writeJsonString } from './json-text.ts';

/**
 * Appends the JSON of the value whose text is `source[start, end)`. Room for
 * `worstCase(end - start)` bytes must have been reserved. Never throws: text that is not what the
 * type promises comes out as a JSON string, unchanged.
 */
export interface ColumnEncoder {
  (out: ByteWriter, source: Buffer, start: number, end: number): void;
  /** It may write more than that, for which it reserves: what follows must reserve again. */
  readonly grows?: true;
}

export function growing(encoder: ColumnEncoder): ColumnEncoder {
  return Object.assign(encoder, { grows: true as const });
}

// An element of an array, quoted, is the worst growth besides escapes: `,1` becomes `,"1"`.
const FIXED_ROOM = 16;

/** The most bytes an encoder appends for a text of this length. */
export const worstCase = (length: number): number => length * MAX_ESCAPED_BYTE + FIXED_ROOM;

const LETTER_T = 0x74;
const TRUE = Block.of('true');
const FALSE = Block.of('false');
const MINUTES = Block.of(':00');
const SPACE = 0x20;
const CAPITAL_T = 0x54;
const PLUS = 0x2b;
const MINUS = 0x2d;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export const encodeString: ColumnEncoder = writeJsonString;

export const encodeBool: ColumnEncoder = (out, source, start) => {
  appendBlock(out, source[start] === LETTER_T ? TRUE : FALSE);
};

/** The server's digits as they are; NaN and the infinities are strings. */
export const encodeNumber: ColumnEncoder = (out, source, start, end) => {
  const first = source[start] === MINUS ? source[start + 1] : source[start];
  if (first !== undefined && isDigit(first)) appendRange(out, source, start, end);
  else writeJsonString(out, source, start, end);
};

/** `2026-11-29 20:36:50` → `"2026-11-29T20:36:50"`; `infinity` stays. */
export const encodeTimestamp: ColumnEncoder = (out, source, start, end) => {
  const opening = out.length;
  writeJsonString(out, source, start, end);
  joinDateAndTime(out, opening, end - start);
};

/** As a timestamp, and a time zone of whole hours gets its minutes: `+00` → `+00:00`. */
export const encodeTimestamptz: ColumnEncoder = (out, source, start, end) => {
  const zone = zoneStart(source, start, end);
  const zoneEnd = zone + 3;
  const wholeHours =
    zone !== -1 && (zoneEnd === end || (zoneEnd < end && source[zoneEnd] === SPACE));
  if (!wholeHours) return encodeTimestamp(out, source, start, end);
  const opening = out.length;
  writeJsonString(out, source, start, zoneEnd);
  joinDateAndTime(out, opening, zoneEnd - start);
  out.length -= 1; // the closing quote
  appendBlock(out, MINUTES);
  if (zoneEnd !== end) appendRange(out, source, zoneEnd, end); // " BC"
  out.bytes[out.length++] = 0x22;
};

/** json and jsonb are embedded as they are, but a line of output stays one line. */
export const encodeJson: ColumnEncoder = (out, source, start, end) => {
  const from = out.wordsOf(source);
  const { bytes, words } = out;
  let at = out.length;
  let i = start;
  while (i < end) {
    for (; i + 4 <= end; i += 4, at += 4) {
      const word = from.getInt32(i, true);
      if (holdsByte(word, LINE_FEED) || holdsByte(word, CARRIAGE_RETURN)) break;
      words.setInt32(at, word, true);
    }
    const stop = Math.min(i + 4, end);
    for (; i < stop; i++) {
      const byte = source[i]!;
      bytes[at++] = byte === LINE_FEED || byte === CARRIAGE_RETURN ? SPACE : byte;
    }
  }
  out.length = at;
};

/** int2vector and oidvector: elements parted by single spaces, without braces. */
function vectorEncoder(element: ColumnEncoder): ColumnEncoder {
  return (out, source, start, end) => {
    out.bytes[out.length++] = OPEN_BRACKET;
    let from = start;
    for (let at = start; at <= end && from < end; at++) {
      if (at !== end && source[at] !== SPACE) continue;
      if (from !== start) out.bytes[out.length++] = COMMA;
      element(out, source, from, at);
      from = at + 1;
    }
    out.bytes[out.length++] = CLOSE_BRACKET;
  };
}

export const encodeInt2vector: ColumnEncoder = vectorEncoder(encodeNumber);
export const encodeOidvector: ColumnEncoder = vectorEncoder(encodeString);

/**
 * The type is what the catalog says now, and the value may be older: what does not look like the
 * type's text is a string.
 */
export function checked(encoder: ColumnEncoder): ColumnEncoder {
  const form = FORMS.get(encoder);
  if (form === undefined) return encoder;
  return (out, source, start, end) =>
    (form(source, start, end) ? encoder : encodeString)(out, source, start, end);
}

type Form = (source: Buffer, start: number, end: number) => boolean;

/** Nothing that is matched is longer: a numeric has at most 131,072 digits and 16,383 behind them. */
const LONGEST_SCALAR = 150_000;

const matching =
  (pattern: RegExp): Form =>
  (source, start, end) =>
    end - start <= LONGEST_SCALAR && pattern.test(source.toString('latin1', start, end));

const isTimestamp = matching(/^\d{4,}-\d\d-\d\d \d\d:\d\d:\d\d/);

const FORMS: ReadonlyMap<ColumnEncoder, Form> = new Map([
  [encodeBool, matching(/^[tf]$/)],
  [encodeNumber, matching(/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/)],
  [encodeTimestamp, isTimestamp],
  [encodeTimestamptz, isTimestamp],
  [encodeJson, isJson],
  [encodeInt2vector, matching(/^(-?\d+( -?\d+)*)?$/)],
  [encodeOidvector, matching(/^(\d+( \d+)*)?$/)],
]);

/** `2026-11-29` has as many bytes. */
const DATE_LENGTH = 10;
const ZONE_LENGTH = 3;

function joinDateAndTime(out: ByteWriter, opening: number, length: number): void {
  const { bytes } = out;
  const end = opening + 1 + length;
  let at = opening + 1 + DATE_LENGTH; // at once for all but five-digit years
  if (at >= end || bytes[at] !== SPACE) {
    at = opening + 1;
    while (at < end && bytes[at] !== SPACE) at++;
  }
  if (at < end) bytes[at] = CAPITAL_T;
}

/** Where the sign of the time zone stands: behind the time, so behind the first space; or -1. */
function zoneStart(source: Buffer, start: number, end: number): number {
  const last = end - ZONE_LENGTH;
  // at once for all but years before Christ and zones with minutes
  const isUsual = last > start + DATE_LENGTH && source[start + DATE_LENGTH] === SPACE;
  if (isUsual && (source[last] === PLUS || source[last] === MINUS)) return last;
  let at = start;
  while (at < end && source[at] !== SPACE) at++;
  while (at < end && source[at] !== PLUS && source[at] !== MINUS) at++;
  return at < end ? at : -1;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
