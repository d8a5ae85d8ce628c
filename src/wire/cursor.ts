// Bounds-checked big-endian reads: the only code that indexes input bytes.
// https://www.postgresql.org/docs/current/protocol-message-types.html

import { ProtocolViolation } from '../errors.ts';
import { type Lsn, lsnFromWords } from '../lsn.ts';

/** Makes a string of `bytes[start, end)`; `field` is its name for an error. */
export type TextReader = (bytes: Buffer, start: number, end: number, field: string) => string;

const readUtf8: TextReader = (bytes, start, end) => bytes.toString('utf8', start, end);

/**
 * Reads fields in wire order from a range of a buffer that it does not own.
 * Every read names its field; a read beyond the end throws a ProtocolViolation with that name.
 */
export class Cursor {
  /** The whole memory that the range lies in: one object for all messages of a socket read. */
  bytes: Buffer = Buffer.alloc(0);
  position = 0;
  end = 0;
  #start = 0;
  /** What was given last, and where it begins in its memory. */
  #given: Buffer | null = null;
  #givenAt = 0;
  readonly #readText: TextReader;

  /** `readText` is for strings that are not UTF-8. */
  constructor(readText: TextReader = readUtf8) {
    this.#readText = readText;
  }

  /** Points the cursor at `bytes[start, end)`. The bytes are borrowed. */
  reset(bytes: Buffer, start: number, end: number): void {
    if (bytes !== this.#given) this.#take(bytes);
    this.position = this.#givenAt + start;
    this.#start = this.position;
    this.end = this.#givenAt + end;
  }

  #take(bytes: Buffer): void {
    const { buffer, byteOffset } = bytes;
    this.#given = bytes;
    this.#givenAt = byteOffset;
    if (buffer !== this.bytes.buffer) this.bytes = Buffer.from(buffer);
  }

  /** Bytes read so far, counted from the start of the range. */
  get offset(): number {
    return this.position - this.#start;
  }

  get remaining(): number {
    return this.end - this.position;
  }

  u8(field: string): number {
    if (this.position >= this.end) throw this.#short(field, 1);
    return this.bytes[this.position++]!;
  }

  u16(field: string): number {
    const at = this.position;
    if (this.end - at < 2) throw this.#short(field, 2);
    this.position = at + 2;
    return (this.bytes[at]! << 8) | this.bytes[at + 1]!;
  }

  u32(field: string): number {
    return this.i32(field) >>> 0;
  }

  i32(field: string): number {
    const at = this.position;
    if (this.end - at < 4) throw this.#short(field, 4);
    this.position = at + 4;
    const b = this.bytes;
    return (b[at]! << 24) | (b[at + 1]! << 16) | (b[at + 2]! << 8) | b[at + 3]!;
  }

  i64(field: string): bigint {
    if (this.end - this.position < 8) throw this.#short(field, 8);
    const high = this.i32(field);
    const low = this.u32(field);
    return (BigInt(high) << 32n) | BigInt(low);
  }

  lsn(field: string): Lsn {
    if (this.end - this.position < 8) throw this.#short(field, 8);
    return lsnFromWords(this.u32(field), this.u32(field));
  }

  /** A string that ends with a NUL byte, which is read too. */
  cstring(field: string): string {
    const from = this.position;
    const nul = this.bytes.indexOf(0, from);
    if (nul === -1 || nul >= this.end) {
      throw this.violation(field, 'no NUL byte ends the string');
    }
    this.position = nul + 1;
    return this.#readText(this.bytes, from, nul, field);
  }

  /** Moves over `length` bytes and returns where they start. */
  skip(length: number, field: string): number {
    const from = this.position;
    if (length < 0 || this.end - from < length) {
      throw this.violation(field, `${length} bytes announced, ${this.remaining} left`);
    }
    this.position = from + length;
    return from;
  }

  /** Throws unless every byte was read: a longer message is one we do not understand. */
  drained(): void {
    if (this.position !== this.end) {
      throw this.violation('end of message', `${this.remaining} bytes left over`);
    }
  }

  violation(field: string, problem: string): ProtocolViolation {
    return new ProtocolViolation(field, problem, this.offset);
  }

  #short(field: string, needed: number): ProtocolViolation {
    return this.violation(field, `${needed} bytes needed, ${this.remaining} left`);
  }
}
