// Values that hold values: each level reads with a cursor of its own, to a depth that is safe.

import type { ByteWriter } from '../../byte-writer.ts';
import { Cursor } from '../../wire/cursor.ts';
import { type BinaryToText, malformed } from './conversion.ts';

/** Far beyond what a database declares; bytes that claim more would exhaust the stack. */
const DEEPEST = 100;

/** Shared by all converters that may meet within one value. */
export class Nesting {
  readonly #cursors: Cursor[] = [];
  #depth = 0;

  enter(source: Buffer, start: number, end: number): Cursor {
    if (this.#depth >= DEEPEST) throw malformed('value', `nested deeper than ${DEEPEST} levels`);
    const cursor = this.#cursors[this.#depth] ?? new Cursor();
    this.#cursors[this.#depth] = cursor;
    cursor.reset(source, start, end);
    this.#depth++;
    return cursor;
  }

  leave(): void {
    this.#depth--;
  }
}

/** A converter that reads its value field by field, to the last byte. */
export function container(
  type: string,
  nesting: Nesting,
  write: (out: ByteWriter, cursor: Cursor) => void,
): BinaryToText {
  return (out, source, start, end) => {
    const cursor = nesting.enter(source, start, end);
    try {
      write(out, cursor);
      if (cursor.remaining === 0) return;
      throw malformed(type, `${cursor.remaining} bytes left over`, cursor.offset);
    } finally {
      nesting.leave();
    }
  };
}

/** Moves over a value's length and bytes, and appends the value; false if it is NULL. */
export function writeNested(out: ByteWriter, cursor: Cursor, toText: BinaryToText): boolean {
  const length = cursor.i32('length of a nested value');
  if (length === -1) return false;
  const start = cursor.skip(length, 'nested value');
  toText(out, cursor.bytes, start, start + length);
  return true;
}
