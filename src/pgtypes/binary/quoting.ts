// Quotes around elements, attributes and bounds, where their container's output function puts them.
// https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO, rowtypes.html#ROWTYPES-IO-SYNTAX

import type { ByteWriter } from '../../byte-writer.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const WHITESPACE = ' \t\n\r\v\f';

/** What makes quotes necessary in one kind of container. */
export interface QuotingRules {
  /** By byte: 0 = plain, NEEDS_QUOTES, or the byte that escapes it. */
  readonly bytes: Uint8Array;
  /** In an array the bare word NULL, in any case, is not a string. */
  readonly quotesNull: boolean;
}

const NEEDS_QUOTES = 1;

/** In an array a backslash escapes; in a composite or range the character itself is doubled. */
export function arrayQuoting(delimiter: string): QuotingRules {
  return { bytes: byteTable(`{}${delimiter}`, BACKSLASH), quotesNull: true };
}

export const COMPOSITE_QUOTING: QuotingRules = {
  bytes: byteTable('(),', QUOTE),
  quotesNull: false,
};

export const RANGE_QUOTING: QuotingRules = {
  bytes: byteTable('()[],', QUOTE),
  quotesNull: false,
};

function byteTable(special: string, quoteEscape: number): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(special + WHITESPACE)) table[byte] = NEEDS_QUOTES;
  table[QUOTE] = quoteEscape;
  table[BACKSLASH] = BACKSLASH;
  return table;
}

/** Puts quotes around what was appended since `from`, if the rules say so. */
export function quoteSince(out: ByteWriter, from: number, rules: QuotingRules): void {
  const { bytes } = out;
  const end = out.length;
  let needed = from === end || (rules.quotesNull && isNull(bytes, from, end));
  let escapes = 0;
  for (let i = from; i < end; i++) {
    const rule = rules.bytes[bytes[i]!]!;
    if (rule === 0) continue;
    needed = true;
    if (rule !== NEEDS_QUOTES) escapes++;
  }
  if (needed) insertQuotes(out, from, escapes, rules.bytes);
}

/** From the end, so that nothing is overwritten before it was moved. */
function insertQuotes(out: ByteWriter, from: number, escapes: number, rules: Uint8Array): void {
  out.reserve(2 + escapes);
  const { bytes, length } = out;
  let to = length + 2 + escapes;
  out.length = to;
  bytes[--to] = QUOTE;
  for (let i = length - 1; i >= from; i--) {
    const byte = bytes[i]!;
    const rule = rules[byte]!;
    bytes[--to] = byte;
    if (rule > NEEDS_QUOTES) bytes[--to] = rule;
  }
  bytes[--to] = QUOTE;
}

const LOWER_NULL = Buffer.from('null');

function isNull(bytes: Buffer, from: number, end: number): boolean {
  if (end - from !== LOWER_NULL.length) return false;
  return LOWER_NULL.every((byte, i) => (bytes[from + i]! | 0x20) === byte);
}
