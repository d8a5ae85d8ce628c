// Splits what is read from the socket into messages: CopyData, of which a stream consists, goes one
// way, everything else goes to pg's parser.
// https://www.postgresql.org/docs/current/protocol-overview.html#PROTOCOL-MESSAGE-CONCEPTS

import { ProtocolViolation } from '../errors.ts';

export interface MessageListener {
  /** The payload of a CopyData message: `bytes[start, end)`. Borrowed: valid until this returns. */
  copyData(bytes: Buffer, start: number, end: number): void;
  /** Whole messages of other kinds, one behind the other. Borrowed as well. */
  others(bytes: Buffer): void;
}

const COPY_DATA = 0x64; // 'd'

/** Byte1 kind, then Int32 length, which counts itself but not the kind. */
const HEADER = 5;
const LENGTH_BYTES = 4;
/** The largest message that a server can make, in bytes. */
const LARGEST_MESSAGE = 0x3fff_ffff;

const FIRST_CAPACITY = 64 * 1024;
const LARGEST_KEPT_CAPACITY = 1024 * 1024;

/**
 * pg's parser makes an object and a view of each message, and emits it to two listeners: 84 ns,
 * and 400 ns with the views that the rest of the way made of it; this takes 10.
 */
export class MessageReader {
  readonly #listener: MessageListener;
  /** The beginning of a message whose end was not read yet, copied: chunks are borrowed. */
  #begun: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(listener: MessageListener) {
    this.#listener = listener;
  }

  /**
   * Hands over all messages that end in this chunk.
   * @throws ProtocolViolation if a length is none; nothing can be read after that
   */
  read(chunk: Buffer): void {
    let at = this.#length === 0 ? 0 : this.#goOn(chunk);
    while (chunk.length - at >= HEADER) {
      const end = at + 1 + lengthAt(chunk, at + 1);
      if (end > chunk.length) break;
      this.#message(chunk, at, end);
      at = end;
    }
    this.#keep(chunk, at, chunk.length - at);
  }

  /** Takes what is missing of the message that was begun; returns where the next one starts. */
  #goOn(chunk: Buffer): number {
    let at = this.#keep(chunk, 0, HEADER - this.#length);
    if (this.#length < HEADER) return at;
    const size = 1 + lengthAt(this.#begun, 1);
    at += this.#keep(chunk, at, size - this.#length);
    if (this.#length < size) return at;
    this.#length = 0;
    const message = this.#begun;
    if (message.length > LARGEST_KEPT_CAPACITY) this.#begun = Buffer.alloc(0);
    this.#message(message, 0, size);
    return at;
  }

  /** Copies up to `count` bytes, and returns how many. */
  #keep(chunk: Buffer, from: number, count: number): number {
    const kept = Math.min(Math.max(count, 0), chunk.length - from);
    if (kept === 0) return 0;
    const needed = this.#length + kept;
    if (needed > this.#begun.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#begun.length * 2, FIRST_CAPACITY));
      this.#begun.copy(grown, 0, 0, this.#length);
      this.#begun = grown;
    }
    chunk.copy(this.#begun, this.#length, from, from + kept);
    this.#length = needed;
    return kept;
  }

  #message(bytes: Buffer, start: number, end: number): void {
    if (bytes[start] === COPY_DATA) this.#listener.copyData(bytes, start + HEADER, end);
    else this.#listener.others(bytes.subarray(start, end));
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length =
    (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
  if (length >= LENGTH_BYTES && length <= LARGEST_MESSAGE) return length;
  throw new ProtocolViolation('message length', `${length >>> 0} bytes`, 1);
}
