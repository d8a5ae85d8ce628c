// Composite values as record_out prints them: `(1,"a, b",,"")`.
// https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX

import { type BinaryToText, malformed } from './conversion.ts';
import { writeByte } from './digits.ts';
import { container, type Nesting, writeNested } from './nesting.ts';
import { COMPOSITE_QUOTING, quoteSince } from './quoting.ts';

/** A type OID and a length. */
const SHORTEST_ATTRIBUTE = 8;

const OPEN = 0x28; // (
const CLOSE = 0x29; // )
const COMMA = 0x2c;

/** Each attribute comes with its type, for which `converter` is asked; it throws if it has none. */
export function compositeToText(
  nesting: Nesting,
  converter: (attributeId: number, offset: number) => BinaryToText,
): BinaryToText {
  return container('composite', nesting, (out, cursor) => {
    const count = cursor.i32('attributes of a composite');
    if (count < 0 || count * SHORTEST_ATTRIBUTE > cursor.remaining) {
      throw malformed('composite', `${count} attributes announced, ${cursor.remaining} bytes left`);
    }
    writeByte(out, OPEN);
    for (let i = 0; i < count; i++) {
      if (i > 0) writeByte(out, COMMA);
      const attributeId = cursor.u32('type of an attribute');
      const from = out.length;
      // nothing at all is NULL, "" is the empty string
      if (writeNested(out, cursor, converter(attributeId, cursor.offset))) {
        quoteSince(out, from, COMPOSITE_QUOTING);
      }
    }
    writeByte(out, CLOSE);
  });
}
