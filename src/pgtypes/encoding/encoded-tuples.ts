// Makes a tuple whose text is in the database's own encoding look as if it had come in UTF-8, so that
// nothing behind it needs to know.

import { ByteWriter } from '../../byte-writer.ts';
import { UndecodableText } from '../../errors.ts';
import type { Relation } from '../../pgoutput/relation.ts';
import type { TupleData } from '../../pgoutput/tuple.ts';
import { OID } from '../builtin-types.ts';
import { isRawChar } from '../char.ts';
import { isAscii, reserveUtf8, type TextEncoding } from './text-encoding.ts';

/** Implements the decoder's TupleValues. */
export class EncodedTuples {
  readonly #encoding: TextEncoding;
  readonly #baseType: (typeId: number) => number;
  /** The text of each of the decoder's tuples: an update has two at a time. */
  readonly #texts = new Map<TupleData, ByteWriter>();

  /** `baseType`: what a domain is made over. */
  constructor(encoding: TextEncoding, baseType = (typeId: number): number => typeId) {
    this.#encoding = encoding;
    this.#baseType = baseType;
  }

  /** @throws UndecodableText if a value is not in the encoding. */
  toText(relation: Relation, tuple: TupleData): void {
    if (isAsciiTuple(tuple)) return;
    const out = this.#textOf(tuple);
    out.length = 0;
    for (let column = 0; column < tuple.columnCount; column++) {
      if (!tuple.hasValue(column)) continue;
      const start = out.length;
      this.#value(relation, tuple, column, out);
      tuple.starts[column] = start;
      tuple.ends[column] = out.length;
    }
    tuple.bytes = out.bytes;
    tuple.textLength = out.length;
  }

  #value(relation: Relation, tuple: TupleData, column: number, out: ByteWriter): void {
    const start = tuple.starts[column]!;
    const end = tuple.ends[column]!;
    const before = out.length;
    reserveUtf8(out, end - start);
    if (this.#encoding.append(out, tuple.bytes, start, end)) return;
    const { schema, name, columns } = relation;
    const { name: columnName, typeId } = columns[column]!;
    if (isRawChar(tuple.bytes, start, end) && this.#baseType(typeId) === OID.char) {
      out.length = before;
      out.raw(tuple.bytes.subarray(start, end));
      return;
    }
    const table = JSON.stringify(`${schema}.${name}`);
    const where = `column ${JSON.stringify(columnName)} of ${table}`;
    throw new UndecodableText(where, this.#encoding.name);
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

function isAsciiTuple(tuple: TupleData): boolean {
  for (let column = 0; column < tuple.columnCount; column++) {
    if (!tuple.hasValue(column)) continue;
    if (!isAscii(tuple.bytes, tuple.starts[column]!, tuple.ends[column]!)) return false;
  }
  return true;
}
