// A growing byte buffer that formatters append to and the output takes whole blocks from.

import { constants } from 'node:buffer';
import { EXIT, PgtailError } from './errors.ts';

const DEFAULT_BYTES = 64 * 1024;
const LARGEST_KEPT_BYTES = 1024 * 1024;
/** Blocks given back that are kept for later: what is written while others are being formatted. */
const MOST_KEPT = 4;
/** A word of eight bytes that holds one still to be stored has seven more. */
const SPARE_BYTES = 7;
const NO_BYTES = new Uint8Array(0);

/**
 * Append with the methods below, or reserve once and store into `bytes` at `length` directly:
 * that is what the row loop does. `bytes` may be replaced by every call that can grow it.
 */
export class ByteWriter {
  bytes: Buffer;
  /** The same memory, for storing four bytes at a time. */
  words: DataView;
  length = 0;
  #taken = 0;
  readonly #returned: Buffer[] = [];
  #source: Uint8Array = NO_BYTES;
  #sourceWords: DataView = wordsOf(NO_BYTES);

  constructor(initialBytes: number = DEFAULT_BYTES) {
    this.bytes = Buffer.allocUnsafeSlow(initialBytes); // not a part of what others share
    this.words = wordsOf(this.bytes);
  }

  /** All bytes ever appended: the stream offset at which the next byte will stand. */
  get offset(): number {
    return this.#taken + this.length;
  }

  /** Makes room for `extra` more bytes, and a few that a whole word may need beyond them. */
  reserve(extra: number): void {
    const needed = this.length + extra + SPARE_BYTES;
    if (needed <= this.bytes.length) return;
    this.#grow(needed);
  }

  /**
   * What bytes are copied from, four at a time. The last source is remembered: the values of many
   * rows stand in one.
   */
  wordsOf(source: Uint8Array): DataView {
    if (source !== this.#source) {
      this.#source = source;
      this.#sourceWords = wordsOf(source);
    }
    return this.#sourceWords;
  }

  /** Appends a string as UTF-8. */
  text(text: string): void {
    this.reserve(text.length * 3);
    this.length += this.bytes.write(text, this.length);
  }

  /** Appends bytes as they are. */
  raw(source: Uint8Array): void {
    this.reserve(source.length);
    this.bytes.set(source, this.length);
    this.length += source.length;
  }

  /** Hands over what was appended since the last take; the caller owns the returned bytes. */
  take(): Buffer {
    const block = this.bytes.subarray(0, this.length);
    this.#taken += this.length;
    this.#use(this.#returned.pop() ?? this.#newMemory());
    this.length = 0;
    return block;
  }

  /**
   * Gives back what was taken, which nobody reads any more: memory that was written to before is
   * written to again in half the time (wide rows of `npm run bench`: 900 ns instead of 1700).
   */
  giveBack(block: Buffer): void {
    const { buffer } = block;
    const isWhole = block.byteOffset === 0 && buffer.byteLength >= this.bytes.length;
    if (!isWhole || buffer.byteLength > LARGEST_KEPT_BYTES) return;
    if (this.#returned.length < MOST_KEPT) this.#returned.push(Buffer.from(buffer));
  }

  /** As large as the last one had to be, so that a busy stream does not grow it block by block. */
  #newMemory(): Buffer {
    return Buffer.allocUnsafeSlow(Math.min(this.bytes.length, LARGEST_KEPT_BYTES));
  }

  /** What to grow to when that many bytes are needed. */
  protected sizeFor(needed: number): number {
    return Math.max(needed, Math.min(this.bytes.length * 2, constants.MAX_LENGTH));
  }

  #use(memory: Buffer): void {
    this.bytes = memory;
    this.words = wordsOf(memory);
  }

  #grow(needed: number): void {
    if (needed > constants.MAX_LENGTH) throw tooLarge(needed - this.length);
    const grown = Buffer.allocUnsafeSlow(this.sizeFor(needed));
    this.bytes.copy(grown, 0, 0, this.length);
    this.#use(grown);
  }
}

const wordsOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function tooLarge(bytes: number): PgtailError {
  const size = Math.round(bytes / 1e6);
  return new PgtailError(EXIT.failure, `a line that may need ${size} MB cannot be formatted`, {
    hint: 'its row is too large: leave its table out with --table, or its column out of the publication',
  });
}

/**
 * Copies a part of a larger source into room that was reserved. By words, which takes half the time
 * of a loop over bytes from five bytes on; set() costs 20 ns a call, and a view of the part more.
 */
export function appendRange(out: ByteWriter, source: Uint8Array, start: number, end: number): void {
  const from = out.wordsOf(source);
  const { bytes, words } = out;
  let at = out.length;
  let i = start;
  for (; i + 4 <= end; i += 4, at += 4) words.setInt32(at, from.getInt32(i, true), true);
  while (i < end) bytes[at++] = source[i++]!;
  out.length = at;
}

/** Bytes that are made once and appended often. */
export class Block {
  readonly length: number;
  /** Where they stand, as others may: see `blocksOf`. */
  readonly words: DataView;
  readonly start: number;
  #long: Buffer | null = null;

  constructor(words: DataView, start: number, length: number) {
    this.words = words;
    this.start = start;
    this.length = length;
  }

  static of(text: string): Block {
    return blocksOf([text])[0]!;
  }

  /** As an array for set(). */
  get bytes(): Buffer {
    const { buffer, byteOffset } = this.words;
    this.#long ??= Buffer.from(buffer, byteOffset + this.start, this.length);
    return this.#long;
  }
}

/**
 * Blocks that stand in one piece of memory, each with as much behind it as its last word takes. The
 * keys of 5,000 tables: 6 MB where each block had its own memory, and two views of it, 26 MB.
 */
export function blocksOf(texts: readonly string[]): Block[] {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const size = lengths.reduce((sum, length) => sum + inWholeWords(length), 0);
  const memory = Buffer.allocUnsafe(size);
  const words = wordsOf(memory);
  let start = 0;
  return texts.map((text, i) => {
    const block = new Block(words, start, lengths[i]!);
    memory.write(text, start);
    start += inWholeWords(block.length);
    return block;
  });
}

const inWholeWords = (length: number): number => (length + SPARE_BYTES) & ~SPARE_BYTES;

/** A longer block is copied by set(), whose call costs as much as 80 bytes by words (20 ns). */
const LONGEST_BY_WORDS = 80;

/**
 * Appends a block into room that was reserved. By words of eight bytes, as floating-point numbers,
 * which go from place to place as they are: in UTF-8 there is none that is NaN.
 */
export function appendBlock(out: ByteWriter, block: Block): void {
  const { length } = block;
  if (length > LONGEST_BY_WORDS) out.bytes.set(block.bytes, out.length);
  else {
    const { words: from, start } = block;
    const { words: to, length: at } = out;
    for (let i = 0; i < length; i += 8) {
      to.setFloat64(at + i, from.getFloat64(start + i, true), true);
    }
  }
  out.length += length;
}

/** Appends all that another writer holds, UTF-8, into room that was reserved. */
export function appendWritten(out: ByteWriter, written: ByteWriter): void {
  const { words: from, length } = written;
  const { words: to, length: at } = out;
  // up to seven bytes more than it holds, to be written over
  const whole = Math.min(length + SPARE_BYTES, written.bytes.length) & ~SPARE_BYTES;
  for (let i = 0; i < whole; i += 8) to.setFloat64(at + i, from.getFloat64(i, true), true);
  for (let i = whole; i < length; i++) out.bytes[at + i] = written.bytes[i]!;
  out.length = at + length;
}
