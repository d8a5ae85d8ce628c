// Ranges and multiranges: `[1,5)`, `(,"2026-11-29 20:36:50")`, `empty`, `{[1,2),[5,7)}`.
// https://www.postgresql.org/docs/current/rangetypes.html#RANGETYPES-IO

import type { ByteWriter } from '../../byte-writer.ts';
import type { Cursor } from '../../wire/cursor.ts';
import { type BinaryToText, malformed } from './conversion.ts';
import { writeByte } from './digits.ts';
import { container, type Nesting, writeNested } from './nesting.ts';
import { quoteSince, RANGE_QUOTING } from './quoting.ts';

const EMPTY = 0x01;
const LOWER_INCLUSIVE = 0x02;
const UPPER_INCLUSIVE = 0x04;
const LOWER_INFINITE = 0x08;
const UPPER_INFINITE = 0x10;
const KNOWN_FLAGS = 0x1f;

const COMMA = 0x2c;

export function rangeToText(nesting: Nesting, bound: BinaryToText): BinaryToText {
  return container('range', nesting, (out, cursor) => {
    const flags = cursor.u8('flags of a range');
    if (flags > KNOWN_FLAGS) throw malformed('range', `unknown flags 0x${flags.toString(16)}`);
    if ((flags & EMPTY) !== 0) return out.text('empty');
    out.text((flags & LOWER_INCLUSIVE) !== 0 ? '[' : '(');
    if ((flags & LOWER_INFINITE) === 0) writeBound(out, cursor, bound);
    writeByte(out, COMMA);
    if ((flags & UPPER_INFINITE) === 0) writeBound(out, cursor, bound);
    out.text((flags & UPPER_INCLUSIVE) !== 0 ? ']' : ')');
  });
}

function writeBound(out: ByteWriter, cursor: Cursor, bound: BinaryToText): void {
  const from = out.length;
  if (!writeNested(out, cursor, bound)) {
    throw malformed('range', 'a bound is NULL', cursor.offset);
  }
  quoteSince(out, from, RANGE_QUOTING);
}

/** A length and the flags. */
const SHORTEST_RANGE = 5;

export function multirangeToText(nesting: Nesting, range: BinaryToText): BinaryToText {
  return container('multirange', nesting, (out, cursor) => {
    const count = cursor.u32('ranges of a multirange');
    if (count * SHORTEST_RANGE > cursor.remaining) {
      throw malformed('multirange', `${count} ranges announced, ${cursor.remaining} bytes left`);
    }
    out.text('{');
    for (let i = 0; i < count; i++) {
      if (i > 0) writeByte(out, COMMA);
      if (writeNested(out, cursor, range)) continue;
      throw malformed('multirange', 'a range is NULL', cursor.offset);
    }
    out.text('}');
  });
}
