// Binary values whose JSON is written straight from their bytes, as row_to_json prints them: those of
// the most common built-in types.

import type { ByteWriter } from '../../byte-writer.ts';
import { builtinType } from '../builtin-types.ts';
import { type ColumnEncoder, encodeBool, encodeJson, growing } from '../encoder.ts';
import { writeJsonString } from '../json-text.ts';
import type { BinaryToText } from './conversion.ts';
import { dateToText, timestampToIso, timestamptzToIso, timeToText } from './date-time.ts';
import { float4ToText, float8ToText } from './float.ts';
import { uuidToText } from './hex.ts';
import { boolToText, int2ToText, int4ToText, int8ToText, oidToText } from './integer.ts';
import { numericToText } from './numeric.ts';
import { afterVersion } from './text.ts';

/**
 * What makes JSON of the type's binary values, or undefined: then they are made text first. In the
 * form of a ColumnEncoder, but it throws as a BinaryToText does.
 */
export function binaryToJson(typeId: number): ColumnEncoder | undefined {
  const name = builtinType(typeId)?.name;
  return name === undefined ? undefined : ENCODERS[name];
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const NINE = 0x39;

/** A text without anything to escape. */
const quoted =
  (toText: BinaryToText): ColumnEncoder =>
  (out, source, start, end) => {
    out.bytes[out.length++] = QUOTE;
    toText(out, source, start, end);
    out.bytes[out.length++] = QUOTE;
  };

/** Digits as they are; NaN and the infinities are strings. */
const number =
  (toText: BinaryToText): ColumnEncoder =>
  (out, source, start, end) => {
    const opening = out.length;
    toText(out, source, start, end);
    const { bytes } = out;
    const first = bytes[opening] === MINUS ? bytes[opening + 1]! : bytes[opening]!;
    if (first > NINE) quote(out, opening);
  };

function quote(out: ByteWriter, opening: number): void {
  const { bytes, length } = out;
  bytes.copyWithin(opening + 1, opening, length);
  bytes[opening] = QUOTE;
  bytes[length + 1] = QUOTE;
  out.length += 2;
}

const boolean: ColumnEncoder = (out, source, start, end) => {
  const opening = out.length;
  boolToText(out, source, start, end);
  out.length = opening;
  encodeBool(out, out.bytes, opening, opening + 1); // reads the letter before it writes
};

const jsonb: ColumnEncoder = (out, source, start, end) => {
  encodeJson(out, source, afterVersion('jsonb', source, start, end), end);
};

const ENCODERS: Readonly<Record<string, ColumnEncoder>> = {
  bool: boolean,
  int2: int2ToText,
  int4: int4ToText,
  int8: int8ToText,
  oid: quoted(oidToText),
  float4: number(float4ToText),
  float8: number(float8ToText),
  numeric: growing(number(numericToText)),
  text: writeJsonString,
  varchar: writeJsonString,
  bpchar: writeJsonString,
  name: writeJsonString,
  json: encodeJson,
  jsonb,
  uuid: quoted(uuidToText),
  date: quoted(dateToText),
  time: quoted(timeToText),
  timestamp: quoted(timestampToIso),
  timestamptz: quoted(timestamptzToIso),
};
