// hstore values: from the text form `"a"=>"1", "b"=>NULL` to what hstore_to_json returns, which is
// what row_to_json prints for them.
// https://www.postgresql.org/docs/current/hstore.html

import { appendBlock, Block, type ByteWriter } from '../byte-writer.ts';
import { type ColumnEncoder, encodeString, growing, worstCase } from './encoder.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const JSON_OPEN = 0x7b;
const JSON_CLOSE = 0x7d;
const ARROW = Buffer.from('=>');
const SEPARATOR = Block.of(', ');
const COLON = Block.of(': ');
const TEXT_NULL = Buffer.from('NULL');
const JSON_NULL = Block.of('null');

export function hstoreEncoder(): ColumnEncoder {
  const reader = new HstoreReader();
  return growing((out, source, start, end) => {
    const before = out.length;
    out.reserve(worstCase(end - start));
    if (reader.write(out, source, start, end)) return;
    out.length = before;
    encodeString(out, source, start, end);
  });
}

class HstoreReader {
  #unescaped: Buffer = Buffer.alloc(0);
  #at = 0;

  /** Appends the JSON object, never longer than the text but for escapes; false if it is no hstore. */
  write(out: ByteWriter, source: Buffer, start: number, end: number): boolean {
    this.#at = start;
    out.bytes[out.length++] = JSON_OPEN;
    while (this.#at < end) {
      if (this.#at > start) {
        if (!this.#skip(SEPARATOR.bytes, source, end)) return false;
        appendBlock(out, SEPARATOR);
      }
      if (!this.#string(out, source, end) || !this.#skip(ARROW, source, end)) return false;
      appendBlock(out, COLON);
      if (this.#skip(TEXT_NULL, source, end)) appendBlock(out, JSON_NULL);
      else if (!this.#string(out, source, end)) return false;
    }
    out.bytes[out.length++] = JSON_CLOSE;
    return true;
  }

  #skip(word: Buffer, source: Buffer, end: number): boolean {
    const after = this.#at + word.length;
    if (after > end || source.compare(word, 0, word.length, this.#at, after) !== 0) return false;
    this.#at = after;
    return true;
  }

  #string(out: ByteWriter, source: Buffer, end: number): boolean {
    if (source[this.#at] !== QUOTE) return false;
    const start = this.#at + 1;
    let at = start;
    while (at < end && source[at] !== QUOTE) at += source[at] === BACKSLASH ? 2 : 1;
    if (at >= end) return false;
    this.#at = at + 1;
    const length = this.#unescape(source, start, at);
    encodeString(out, this.#unescaped, 0, length);
    return true;
  }

  #unescape(source: Buffer, start: number, end: number): number {
    if (this.#unescaped.length < end - start) this.#unescaped = Buffer.allocUnsafe(end - start);
    let to = 0;
    for (let at = start; at < end; at++) {
      if (source[at] === BACKSLASH) at++;
      this.#unescaped[to++] = source[at]!;
    }
    return to;
  }
}
