// One row on the wire: a borrowed view with the place of each column's bytes.
// https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html (TupleData)

import { ProtocolViolation } from '../errors.ts';
import type { Cursor } from '../wire/cursor.ts';
import type { Relation } from './relation.ts';

export const COLUMN_NULL = 0x6e; // 'n'
export const COLUMN_UNCHANGED = 0x75; // 'u': a TOAST value that the UPDATE did not touch, not sent
export const COLUMN_TEXT = 0x74; // 't'
export const COLUMN_BINARY = 0x62; // 'b'

/** What a tuple is in its message: the new row, the key of the old row, or the whole old row. */
export type TupleRole = 'new' | 'key' | 'old';

const INITIAL_COLUMNS = 32;

/**
 * Valid until the handler returns: the decoder fills the same object again for the next row, and
 * `bytes` is a socket buffer that will be overwritten. Whoever keeps a value copies it.
 *
 * Column `i` is `kinds[i]`, and its value `bytes[starts[i], ends[i])` when the kind is text or
 * binary. In a `key` tuple NULL means "not sent", unless the column is part of the key.
 */
export class TupleData {
  readonly role: TupleRole;
  bytes: Buffer = Buffer.alloc(0);
  columnCount = 0;
  /** The bytes of all values together, or a few more: enough to reserve room by. */
  textLength = 0;
  kinds = new Uint8Array(INITIAL_COLUMNS);
  starts = new Uint32Array(INITIAL_COLUMNS);
  ends = new Uint32Array(INITIAL_COLUMNS);

  constructor(role: TupleRole) {
    this.role = role;
  }

  /** Whether the column's value stands in this tuple (it is neither NULL nor left out). */
  hasValue(column: number): boolean {
    const kind = this.kinds[column];
    return kind === COLUMN_TEXT || kind === COLUMN_BINARY;
  }

  /** The value's text. Makes a string: not for the hot path. */
  text(column: number): string {
    return this.bytes.toString('utf8', this.starts[column], this.ends[column]);
  }

  reserve(columns: number): void {
    if (columns <= this.kinds.length) return;
    this.kinds = new Uint8Array(columns);
    this.starts = new Uint32Array(columns);
    this.ends = new Uint32Array(columns);
  }
}

/** Int16 column count, then for each column Byte1 kind and, for t and b, Int32 length and bytes. */
export function readTuple(c: Cursor, relation: Relation, tuple: TupleData): void {
  const columnCount = c.u16('column count');
  if (columnCount !== relation.columns.length) {
    throw c.violation(
      'column count',
      `${columnCount} columns, but the relation was announced with ${relation.columns.length}`,
    );
  }
  tuple.reserve(columnCount);
  tuple.bytes = c.bytes;
  tuple.columnCount = columnCount;
  const { kinds, starts, ends } = tuple;
  const from = c.position;
  for (let column = 0; column < columnCount; column++) {
    const kind = c.u8('column kind');
    kinds[column] = kind;
    if (kind === COLUMN_NULL || kind === COLUMN_UNCHANGED) continue;
    if (kind !== COLUMN_TEXT && kind !== COLUMN_BINARY)
      throw unknownKind(c, relation, column, kind);
    const length = c.i32('column length');
    if (length < 0 || length > c.remaining) throw shortColumn(c, relation, column, length);
    starts[column] = c.position;
    c.position += length;
    ends[column] = c.position;
  }
  tuple.textLength = c.position - from;
}

function unknownKind(
  c: Cursor,
  relation: Relation,
  column: number,
  kind: number,
): ProtocolViolation {
  const expected = "expected kind 'n', 'u', 't' or 'b', got";
  return c.violation(columnField(relation, column), `${expected} 0x${kind.toString(16)}`);
}

function shortColumn(
  c: Cursor,
  relation: Relation,
  column: number,
  length: number,
): ProtocolViolation {
  const problem = `${length} bytes announced, ${c.remaining} left`;
  return new ProtocolViolation(columnField(relation, column), problem, c.offset);
}

function columnField(relation: Relation, column: number): string {
  return `column ${column + 1} ${JSON.stringify(relation.columns[column]!.name)}`;
}
