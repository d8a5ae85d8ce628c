// Composite values: from the text form `(1,"a, b",)` to a JSON object, as row_to_json prints it.
// https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX

import { appendBlock, Block, type ByteWriter } from '../byte-writer.ts';
import { type ColumnEncoder, encodeString, growing, worstCase } from './encoder.ts';

const OPEN = 0x28; // (
const CLOSE = 0x29; // )
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const JSON_OPEN = 0x7b;
const JSON_CLOSE = 0x7d;
const NULL = Block.of('null');

export interface CompositeField {
  /** `"name":` */
  readonly key: Block;
  readonly encoder: ColumnEncoder;
}

/** What a composite type is made of, as far as is known; it may be altered at any time. */
export interface CompositeFields {
  readonly fields: readonly CompositeField[];
  /** A value has another number of fields: the type was altered since it was looked up. */
  mismatch(count: number): void;
}

export function compositeEncoder(type: CompositeFields): ColumnEncoder {
  const reader = new CompositeReader();
  return growing((out, source, start, end) => {
    const before = out.length;
    if (reader.write(out, type.fields, source, start, end)) return;
    const count = fieldCount(source, start, end);
    if (count !== undefined && count !== type.fields.length) type.mismatch(count);
    out.length = before;
    out.reserve(worstCase(end - start));
    encodeString(out, source, start, end);
  });
}

class CompositeReader {
  /** Fields that hold escapes are put together here before they are encoded. */
  #unescaped: Buffer = Buffer.alloc(0);

  /** Appends the JSON object; false if the text is not that of so many fields. */
  write(
    out: ByteWriter,
    fields: readonly CompositeField[],
    source: Buffer,
    start: number,
    end: number,
  ): boolean {
    if (source[start] !== OPEN || source[end - 1] !== CLOSE) return false;
    out.reserve(2);
    out.bytes[out.length++] = JSON_OPEN;
    // one field that is NULL looks like none
    let at = fields.length === 0 ? start + 1 : start;
    for (const [i, field] of fields.entries()) {
      const expected = i === 0 ? OPEN : COMMA;
      if (at >= end - 1 || source[at] !== expected) return false;
      const fieldEnd = endOfField(source, at + 1, end);
      this.#field(out, field, i > 0, source, at + 1, fieldEnd);
      at = fieldEnd;
    }
    out.reserve(1);
    out.bytes[out.length++] = JSON_CLOSE;
    return at === end - 1;
  }

  #field(
    out: ByteWriter,
    { key, encoder }: CompositeField,
    comma: boolean,
    source: Buffer,
    start: number,
    end: number,
  ): void {
    out.reserve(key.length + 1 + worstCase(end - start));
    if (comma) out.bytes[out.length++] = COMMA;
    appendBlock(out, key);
    if (start === end) return appendBlock(out, NULL);
    if (source[start] !== QUOTE) return encoder(out, source, start, end);
    const length = this.#unescape(source, start + 1, end - 1);
    encoder(out, this.#unescaped, 0, length);
  }

  /** Within quotes a backslash precedes any character as it is, and a quote is doubled. */
  #unescape(source: Buffer, start: number, end: number): number {
    if (this.#unescaped.length < end - start) this.#unescaped = Buffer.allocUnsafe(end - start);
    let to = 0;
    for (let at = start; at < end; at++) {
      if (source[at] === BACKSLASH || source[at] === QUOTE) at++;
      this.#unescaped[to++] = source[at]!;
    }
    return to;
  }
}

/** Where the field that starts here ends: at a comma or the closing parenthesis. */
function endOfField(source: Buffer, start: number, end: number): number {
  let quoted = false;
  for (let at = start; at < end; at++) {
    const byte = source[at];
    // a doubled quote closes and opens again
    if (byte === QUOTE) quoted = !quoted;
    else if (quoted) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA || byte === CLOSE) return at;
  }
  return end;
}

/** Undefined if the text is not a composite's. */
function fieldCount(source: Buffer, start: number, end: number): number | undefined {
  if (source[start] !== OPEN) return undefined;
  if (end - start === 2) return source[start + 1] === CLOSE ? 0 : undefined;
  let count = 0;
  let at = start;
  do {
    at = endOfField(source, at + 1, end);
    count++;
  } while (source[at] === COMMA && at < end);
  return at === end - 1 ? count : undefined;
}
