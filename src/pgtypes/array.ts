// Arrays: from the text form `{1,NULL,"a b"}` to a JSON array, as array_to_json prints it.
// https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO

import type { ByteWriter } from '../byte-writer.ts';
import { type ColumnEncoder, encodeString, growing, worstCase } from './encoder.ts';

const OPEN = 0x7b; // {
const CLOSE = 0x7d; // }
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const EQUALS = 0x3d;
const LEFT_BRACKET = 0x5b;
const COMMA = 0x2c;
const JSON_OPEN = 0x5b;
const JSON_CLOSE = 0x5d;

/** The server's MAXDIM. */
const MOST_DIMENSIONS = 6;

/** `delimiter` is pg_type.typdelim of the element: a comma for all built-in types but box. */
export function arrayEncoder(element: ColumnEncoder, delimiter: number): ColumnEncoder {
  const reader = new ArrayReader(element, delimiter);
  const encode: ColumnEncoder = (out, source, start, end) => {
    const before = out.length;
    if (element.grows) out.reserve(worstCase(end - start));
    if (reader.write(out, source, start, end)) return;
    out.length = before;
    out.reserve(worstCase(end - start));
    encodeString(out, source, start, end);
  };
  return element.grows ? growing(encode) : encode;
}

class ArrayReader {
  readonly #element: ColumnEncoder;
  readonly #delimiter: number;
  readonly #grows: boolean;
  /** Elements that hold escapes are put together here before they are encoded. */
  #unescaped: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(element: ColumnEncoder, delimiter: number) {
    this.#element = element;
    this.#delimiter = delimiter;
    this.#grows = element.grows === true;
  }

  /** Appends the JSON array; false if the text is not an array's. */
  write(out: ByteWriter, source: Buffer, start: number, end: number): boolean {
    this.#at = start;
    if (source[start] === LEFT_BRACKET) {
      // lower bounds other than 1, as in `[0:1]={7,8}`; JSON has no place for them
      const equals = source.indexOf(EQUALS, start);
      if (equals === -1 || equals >= end) return false;
      this.#at = equals + 1;
    }
    return this.#dimension(out, source, end, 1) && this.#at === end;
  }

  #dimension(out: ByteWriter, source: Buffer, end: number, depth: number): boolean {
    if (depth > MOST_DIMENSIONS || this.#at >= end || source[this.#at] !== OPEN) return false;
    this.#at++;
    out.bytes[out.length++] = JSON_OPEN;
    if (source[this.#at] === CLOSE) {
      this.#at++;
      out.bytes[out.length++] = JSON_CLOSE;
      return true;
    }
    while (this.#item(out, source, end, depth)) {
      if (this.#at >= end) return false;
      const after = source[this.#at++];
      if (after === CLOSE) {
        out.bytes[out.length++] = JSON_CLOSE;
        return true;
      }
      if (after !== this.#delimiter) return false;
      out.bytes[out.length++] = COMMA;
    }
    return false;
  }

  #item(out: ByteWriter, source: Buffer, end: number, depth: number): boolean {
    const first = source[this.#at];
    if (first === OPEN) return this.#dimension(out, source, end, depth + 1);
    if (first === QUOTE) return this.#quoted(out, source, end);
    return this.#bare(out, source, end);
  }

  #bare(out: ByteWriter, source: Buffer, end: number): boolean {
    const start = this.#at;
    let at = start;
    while (at < end && source[at] !== this.#delimiter && source[at] !== CLOSE) at++;
    this.#at = at;
    if (at === start) return false;
    if (isNull(source, start, at)) out.length += out.bytes.write('null', out.length, 'latin1');
    else this.#element(out, source, start, at);
    if (this.#grows) out.reserve(worstCase(end - at));
    return true;
  }

  #quoted(out: ByteWriter, source: Buffer, end: number): boolean {
    const start = this.#at + 1;
    let at = start;
    let escapes = 0;
    while (at < end && source[at] !== QUOTE) {
      if (source[at] === BACKSLASH) {
        escapes++;
        at++;
      }
      at++;
    }
    if (at >= end) return false;
    this.#at = at + 1;
    if (escapes === 0) this.#element(out, source, start, at);
    else this.#element(out, this.#unescape(source, start, at), 0, at - start - escapes);
    if (this.#grows) out.reserve(worstCase(end - at));
    return true;
  }

  #unescape(source: Buffer, start: number, end: number): Buffer {
    if (this.#unescaped.length < end - start) this.#unescaped = Buffer.allocUnsafe(end - start);
    let to = 0;
    for (let at = start; at < end; at++) {
      if (source[at] === BACKSLASH) at++;
      this.#unescaped[to++] = source[at]!;
    }
    return this.#unescaped;
  }
}

/** The bare word NULL; the string is sent with quotes. The server writes it in capitals. */
function isNull(source: Buffer, start: number, end: number): boolean {
  return (
    end - start === 4 &&
    source[start] === 0x4e &&
    source[start + 1] === 0x55 &&
    source[start + 2] === 0x4c &&
    source[start + 3] === 0x4c
  );
}
