// A plain table: a header, aligned columns, fitted to the width of the terminal.

import { fitText, safeText } from './safe-text.ts';
import type { Paint } from './theme.ts';
import { displayWidth } from './width.ts';

export interface TableColumn {
  readonly header: string;
  /** Numbers stand at the right. */
  readonly align?: 'left' | 'right';
}

/** Raw text; the table makes it harmless. */
export type TableCell = string | { readonly text: string; readonly paint: Paint };

const GAP = '  ';

/** A cell is cut no further than this. */
const NARROWEST = 6;

/** Lines without their ends. `columns` may be infinite: then nothing is cut. */
export function tableLines(
  columns: readonly TableColumn[],
  rows: readonly (readonly TableCell[])[],
  { width, header }: { readonly width: number; readonly header: Paint },
): string[] {
  const widths = fittedWidths(wholeWidths(columns, rows), width, columns.map(isNumber));
  const line = (cells: readonly TableCell[]): string =>
    columns
      .map(({ align }, i) => shownCell(cells[i], widths[i]!, align, i === columns.length - 1))
      .join(GAP);
  const heads = columns.map((column) => ({ text: column.header, paint: header }));
  return [line(heads), ...rows.map(line)].map((text) => text.trimEnd());
}

/** The narrowest terminal in which every number is whole, and texts are cut no further than that. */
export function leastTableWidth(
  columns: readonly TableColumn[],
  rows: readonly (readonly TableCell[])[],
  narrowestText = NARROWEST,
): number {
  const widths = wholeWidths(columns, rows).map((width, i) =>
    isNumber(columns[i]!) ? width : Math.min(width, narrowestText),
  );
  return sum(widths) + gaps(columns.length);
}

const isNumber = ({ align }: TableColumn): boolean => align === 'right';

const gaps = (columns: number): number => GAP.length * Math.max(columns - 1, 0);

/** Of each column, if nothing is cut. */
const wholeWidths = (
  columns: readonly TableColumn[],
  rows: readonly (readonly TableCell[])[],
): readonly number[] =>
  columns.map((column, i) =>
    Math.max(column.header.length, ...rows.map((row) => displayWidth(safeText(textOf(row[i]))))),
  );

const textOf = (cell: TableCell | undefined): string =>
  typeof cell === 'string' ? cell : (cell?.text ?? '');

/** The widest cell gives way first, numbers only when no other can: `31.8 …` may be anything. */
function fittedWidths(
  wanted: readonly number[],
  width: number,
  areNumbers: readonly boolean[],
): number[] {
  const widths = [...wanted];
  const room = width - gaps(widths.length);
  for (let tooMuch = sum(widths) - room; tooMuch > 0; tooMuch--) {
    const texts = widths.map((each, i) => (areNumbers[i] ? 0 : each));
    const yielding = Math.max(...texts) > NARROWEST ? texts : widths;
    const widest = yielding.indexOf(Math.max(...yielding));
    if (yielding[widest]! <= NARROWEST) break;
    widths[widest]!--;
  }
  return widths;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

function shownCell(
  cell: TableCell | undefined,
  width: number,
  align: TableColumn['align'],
  isLast: boolean,
): string {
  const text = cut(textOf(cell), width);
  const painted = typeof cell === 'object' ? cell.paint(text) : text;
  const padding = ' '.repeat(Math.max(width - displayWidth(text), 0));
  if (align === 'right') return padding + painted;
  return isLast ? painted : painted + padding;
}

function cut(text: string, columns: number): string {
  const fitted = fitText(text, columns);
  return fitted.whole ? fitted.text : `${fitText(text, columns - 1).text}…`;
}
