// A growing byte buffer that formatters append to and the output takes whole blocks from.

import { constants } from 'node:buffer';
import { EXIT, PgtailError } from './errors.ts';

const DEFAULT_BYTES = 64 * 1024;
const LARGEST_KEPT_BYTES = 1024 * 1024;

/**
 * Append with the methods below, or reserve once and store into `bytes` at `length` directly:
 * that is what the row loop does. `bytes` may be replaced by every call that can grow it.
 */
export class ByteWriter {
  bytes: Buffer;
  length = 0;
  #taken = 0;

  constructor(initialBytes: number = DEFAULT_BYTES) {
    this.bytes = Buffer.allocUnsafe(initialBytes);
  }

  /** All bytes ever appended: the stream offset at which the next byte will stand. */
  get offset(): number {
    return this.#taken + this.length;
  }

  /** Makes room for `extra` more bytes. */
  reserve(extra: number): void {
    const needed = this.length + extra;
    if (needed <= this.bytes.length) return;
    if (needed > constants.MAX_LENGTH) throw tooLarge(extra);
    const doubled = Math.min(this.bytes.length * 2, constants.MAX_LENGTH);
    const grown = Buffer.allocUnsafe(Math.max(needed, doubled));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
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
    // as large as the last one had to be, so that a busy stream does not grow it block by block
    this.bytes = Buffer.allocUnsafe(Math.min(this.bytes.length, LARGEST_KEPT_BYTES));
    this.length = 0;
    return block;
  }
}

function tooLarge(bytes: number): PgtailError {
  const size = Math.round(bytes / 1e6);
  return new PgtailError(EXIT.failure, `a line that may need ${size} MB cannot be formatted`, {
    hint: 'its row is too large: leave its table out with --table, or its column out of the publication',
  });
}

/** Copies into room that was reserved. A loop: for a few bytes a call to copy() costs more. */
export function appendReserved(
  out: ByteWriter,
  source: Uint8Array,
  start = 0,
  end = source.length,
): void {
  const bytes = out.bytes;
  let at = out.length;
  for (let i = start; i < end; i++) bytes[at++] = source[i]!;
  out.length = at;
}
