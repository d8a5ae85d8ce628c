// What is known of a row before and after an UPDATE, under every REPLICA IDENTITY.
// https://www.postgresql.org/docs/current/logical-replication-publication.html

import { COLUMN_NULL, COLUMN_UNCHANGED, type TupleData } from '../pgoutput/tuple.ts';

/** In bytes. */
const LONGEST_LOOP = 64;

/**
 * The tuple that holds the column's value in the new row: the new row itself, or the old one when
 * the value is a TOAST value that was not sent again. Null if nobody sent it.
 */
export function tupleWithNewValue(
  newRow: TupleData,
  oldRow: TupleData | null,
  column: number,
): TupleData | null {
  if (newRow.kinds[column] !== COLUMN_UNCHANGED) return newRow;
  // 'n' in a key tuple is "not sent"; in a full one a NULL cannot be TOASTed
  return oldRow?.hasValue(column) ? oldRow : null;
}

/** Whether a column differs between a whole old row and the new row, by the bytes sent. */
export function isChanged(newRow: TupleData, oldRow: TupleData, column: number): boolean {
  const newKind = newRow.kinds[column];
  if (newKind === COLUMN_UNCHANGED) return false;
  const oldKind = oldRow.kinds[column];
  if (newKind !== oldKind) return true;
  if (newKind === COLUMN_NULL) return false;
  return !sameBytes(newRow, oldRow, column);
}

/** A loop: most values are short, and a call to compare() costs 100 ns. */
function sameBytes(newRow: TupleData, oldRow: TupleData, column: number): boolean {
  const end = newRow.ends[column]!;
  let at = newRow.starts[column]!;
  let oldAt = oldRow.starts[column]!;
  const length = end - at;
  if (length !== oldRow.ends[column]! - oldAt) return false;
  const { bytes } = newRow;
  const { bytes: oldBytes } = oldRow;
  if (length > LONGEST_LOOP) {
    return bytes.compare(oldBytes, oldAt, oldAt + length, at, end) === 0;
  }
  while (at < end) if (bytes[at++] !== oldBytes[oldAt++]) return false;
  return true;
}
