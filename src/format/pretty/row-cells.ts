// Which columns of an insert, update or delete are shown, and as what. A value that nobody sent is
// never shown as NULL: either it is left out or it is said to be unchanged.

import { COLUMN_NULL, type TupleData } from '../../pgoutput/tuple.ts';
import { isChanged, tupleWithNewValue } from '../old-row.ts';
import type { Cell } from './layout.ts';
import { type ColumnView, learnWidth, type TableView } from './table-view.ts';
import type { ShownValue, ValueReader } from './value.ts';

/** FULL does not say which columns are the primary key; the first two tell most rows apart. */
const IDENTIFYING_COLUMNS = 2;

export interface RowContext {
  readonly table: TableView;
  readonly values: ValueReader;
  /** Old rows may lack values that are not NULL. */
  readonly partial: boolean;
}

export function insertedCells(context: RowContext, newRow: TupleData): Cell[] {
  const cells: Cell[] = [];
  for (let column = 0; column < newRow.columnCount; column++) {
    cells.push(newCell(context, column, newRow, null));
  }
  return cells;
}

/** Only what changed if the whole old row is known, else all that was sent. */
export function updatedCells(
  context: RowContext,
  newRow: TupleData,
  oldRow: TupleData | null,
): Cell[] {
  if (oldRow?.role === 'old') return changedCells(context, newRow, oldRow);
  const { keys, others } = context.table;
  const cells: Cell[] = [];
  for (const column of keys) cells.push(keyCell(context, column, newRow, oldRow));
  for (const column of others) cells.push(newCell(context, column, newRow, oldRow));
  return cells;
}

/** The key, or under FULL the whole row. */
export function deletedCells(context: RowContext, oldRow: TupleData): Cell[] {
  const { table, partial } = context;
  const cells: Cell[] = [];
  const isKey = oldRow.role === 'key';
  for (let column = 0; column < oldRow.columnCount; column++) {
    // in a key tuple 'n' is "not sent"
    if ((isKey || partial) && !oldRow.hasValue(column)) continue;
    cells.push(valueCell(table.columns[column]!, readValue(context, oldRow, column)));
  }
  return cells;
}

function changedCells(context: RowContext, newRow: TupleData, oldRow: TupleData): Cell[] {
  const cells: Cell[] = [];
  for (let column = 0; column < newRow.columnCount; column++) {
    if (isChanged(newRow, oldRow, column)) {
      cells.push(changeCell(context, column, newRow, oldRow));
    } else if (column < IDENTIFYING_COLUMNS) {
      cells.push(newCell(context, column, newRow, oldRow));
    }
  }
  return cells;
}

/** `id 4 → 5` if the key changed, which is the only reason for a key tuple besides TOAST. */
function keyCell(
  context: RowContext,
  column: number,
  newRow: TupleData,
  oldRow: TupleData | null,
): Cell {
  if (oldRow?.hasValue(column) && isChanged(newRow, oldRow, column)) {
    return changeCell(context, column, newRow, oldRow);
  }
  return newCell(context, column, newRow, oldRow);
}

function newCell(
  context: RowContext,
  column: number,
  newRow: TupleData,
  oldRow: TupleData | null,
): Cell {
  const view = context.table.columns[column]!;
  const source = tupleWithNewValue(newRow, oldRow, column);
  if (source === null) return valueCell(view, context.values.unchanged);
  return valueCell(view, readValue(context, source, column));
}

function changeCell(
  context: RowContext,
  column: number,
  newRow: TupleData,
  oldRow: TupleData,
): Cell {
  const { lead, leadWidth } = context.table.columns[column]!;
  const value = readValue(context, newRow, column);
  const isKnown = !context.partial || oldRow.kinds[column] !== COLUMN_NULL;
  const before = isKnown ? readValue(context, oldRow, column) : null;
  return { lead, leadWidth, before, value, pad: 0 };
}

function readValue({ table, values }: RowContext, tuple: TupleData, column: number): ShownValue {
  return values.read(tuple, column, table.columns[column]!.kind, table.width);
}

function valueCell(column: ColumnView, value: ShownValue): Cell {
  learnWidth(column, value);
  const { lead, leadWidth, pad } = column;
  return { lead, leadWidth, before: null, value, pad };
}
