// Makes a tuple that came in binary look as if it had come as text, so that nothing behind it needs
// to know.

import { ByteWriter } from '../../byte-writer.ts';
import type { Relation } from '../../pgoutput/relation.ts';
import { COLUMN_BINARY, COLUMN_TEXT, type TupleData } from '../../pgoutput/tuple.ts';
import { binaryToText } from './binary-to-text.ts';
import { type BinaryToText, NoBinaryDecoder } from './conversion.ts';
import type { BinaryTypeLookup } from './type-lookup.ts';

interface RelationConverters {
  readonly relation: Relation;
  /** One for each column; null: only its text form can be read. */
  readonly columns: readonly (BinaryToText | null)[];
  /** Its tuples are left as they are. */
  readonly areLeft: boolean;
}

/** Implements the decoder's TupleValues. */
export class BinaryTuples {
  readonly #types: BinaryTypeLookup;
  readonly #converters = new Map<number, RelationConverters>();
  readonly #isRead: (typeId: number) => boolean;
  /** The text of each of the decoder's tuples: an update has two at a time. */
  readonly #texts = new Map<TupleData, ByteWriter>();
  #last: RelationConverters | null = null;

  /**
   * `isRead`: whoever takes the tuples reads binary values of this type. Tuples of such types only
   * are left as they are: they need not be copied.
   */
  constructor(types: BinaryTypeLookup, isRead = (_typeId: number): boolean => false) {
    this.#types = types;
    this.#isRead = isRead;
  }

  /** @throws NoBinaryDecoder if a value's type has none; ProtocolViolation if it is malformed. */
  toText(relation: Relation, tuple: TupleData): void {
    const { columns, areLeft } = this.#convertersOf(relation);
    if (areLeft) return;
    const out = this.#textOf(tuple);
    out.length = 0;
    for (let column = 0; column < tuple.columnCount; column++) {
      if (!tuple.hasValue(column)) continue;
      const start = out.length;
      this.#value(columns[column]!, relation, tuple, column, out);
      tuple.starts[column] = start;
      tuple.ends[column] = out.length;
    }
    tuple.bytes = out.bytes;
    tuple.textLength = out.length;
  }

  #value(
    convert: BinaryToText | null,
    relation: Relation,
    tuple: TupleData,
    column: number,
    out: ByteWriter,
  ): void {
    const start = tuple.starts[column]!;
    const end = tuple.ends[column]!;
    if (tuple.kinds[column] !== COLUMN_BINARY) {
      // types without a send function come as text even so
      out.raw(tuple.bytes.subarray(start, end));
      return;
    }
    if (convert === null) throw new NoBinaryDecoder(relation.columns[column]!.typeId, 0);
    convert(out, tuple.bytes, start, end);
    tuple.kinds[column] = COLUMN_TEXT;
  }

  #convertersOf(relation: Relation): RelationConverters {
    if (this.#last?.relation === relation) return this.#last;
    let converters = this.#converters.get(relation.relationId);
    if (converters?.relation !== relation) {
      const columns = relation.columns.map(
        ({ typeId }) => binaryToText(typeId, this.#types) ?? null,
      );
      const areLeft = relation.columns.every(({ typeId }) => this.#isRead(typeId));
      converters = { relation, columns, areLeft };
      this.#converters.set(relation.relationId, converters);
    }
    this.#last = converters;
    return converters;
  }

  #textOf(tuple: TupleData): ByteWriter {
    let text = this.#texts.get(tuple);
    if (text === undefined) {
      text = new ByteWriter();
      this.#texts.set(tuple, text);
    }
    return text;
  }
}
