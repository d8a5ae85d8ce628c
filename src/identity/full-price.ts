// What REPLICA IDENTITY FULL would cost: the old row in the WAL, with each update and delete.
// https://www.postgresql.org/docs/current/view-pg-stats.html

import { formatSize } from '../format/quantities.ts';
import type { Column, Table } from './table.ts';

/** Bytes of WAL more, measured on a sample. */
export interface MeasuredPrice {
  readonly rows: number;
  readonly update: number;
  readonly delete: number;
}

/** Why a table cannot be measured. */
export type NotMeasured = 'partitioned' | 'unlogged' | 'empty' | 'without columns';

export type Measurement = MeasuredPrice | NotMeasured;

export interface FullPrice {
  /** For each UPDATE and DELETE, as the statistics have it; undefined: see `unknown`. */
  readonly bytes: number | undefined;
  readonly unknown: 'not analyzed' | 'not readable' | undefined;
  /** Updates and deletes counted so far, and in a day; undefined: not known. */
  readonly changes: number | undefined;
  readonly changesPerDay: number | undefined;
  readonly measured: MeasuredPrice | undefined;
  readonly notMeasured?: NotMeasured;
}

/** The header of a tuple in the WAL, and what is lost to alignment. */
const TUPLE_OVERHEAD = 8;

/** `days` since the counters began; undefined: nobody knows. */
export function fullPrice(
  table: Table,
  days: number | undefined,
  measurement?: Measurement,
): FullPrice {
  const stored = table.columns.filter(({ generated }) => generated !== 'virtual');
  const widths = stored.map(averageWidth);
  const isKnown = widths.every((width) => width !== undefined);
  const { changes } = table;
  return {
    bytes: isKnown ? Math.round(sum(widths) + outOfLine(table) + TUPLE_OVERHEAD) : undefined,
    unknown: isKnown ? undefined : whyUnknown(table, stored),
    changes,
    changesPerDay:
      changes === undefined || days === undefined ? undefined : Math.round(changes / days),
    measured: typeof measurement === 'object' ? measurement : undefined,
    ...(typeof measurement === 'string' && { notMeasured: measurement }),
  };
}

function averageWidth({ width, nullFraction = 0 }: Column): number | undefined {
  return width === undefined ? undefined : width * (1 - nullFraction);
}

/** The old row holds whole values; their widths in pg_stats are those of the pointers to them. */
const outOfLine = ({ toastSize, rows }: Table): number => (rows ? toastSize / rows : 0);

function whyUnknown(
  { analyzed }: Table,
  columns: readonly Column[],
): 'not analyzed' | 'not readable' {
  const isHidden = columns.some(({ width, readable }) => width === undefined && !readable);
  return analyzed && isHidden ? 'not readable' : 'not analyzed';
}

const sum = (numbers: readonly (number | undefined)[]): number =>
  numbers.reduce<number>((total, n) => total + (n ?? 0), 0);

/** As it stands behind the ALTER TABLE. */
export function priceText(price: FullPrice): string {
  return [unitPrice(price), dailyPrice(price)].filter((text) => text !== undefined).join(', ');
}

function unitPrice({ bytes, unknown, measured }: FullPrice): string {
  if (measured !== undefined) {
    return `${formatSize(measured.update)} of WAL more for each UPDATE and ${formatSize(measured.delete)} for each DELETE, as measured`;
  }
  if (bytes !== undefined)
    return `about ${formatSize(bytes)} of WAL more for each UPDATE and DELETE`;
  return unknown === 'not readable'
    ? 'writes the old row to the WAL too; its size is in statistics that this role may not read'
    : 'writes the old row to the WAL too; there are no statistics on its size: run ANALYZE';
}

function dailyPrice({ bytes, measured, changes, changesPerDay }: FullPrice): string | undefined {
  const each = measured?.update ?? bytes;
  if (each === undefined || !changes) return undefined;
  return changesPerDay === undefined
    ? `${formatSize(each * changes)} for those counted so far`
    : `about ${formatSize(each * changesPerDay)} a day`;
}
