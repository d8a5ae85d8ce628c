// What a reader of the stream sees of an update and a delete, in the words of NDJSON.

import type { EffectiveIdentity } from './effective-identity.ts';
import { type ChangeOperation, changesOf } from './failure.ts';
import { columnNames, type Published } from './publication.ts';
import type { Column, Table } from './table.ts';

export type RowPart = 'key' | 'old' | 'new' | 'unchanged' | 'changed';

export interface VisibleRows {
  /** The keys of its line; unchanged: only in some. Empty, as of a delete: there is no line. */
  readonly update: readonly RowPart[];
  readonly delete: readonly RowPart[];
}

/** Of a table that no publication has: what one would show; an unlogged one is never sent. */
export function visibleRows(
  table: Table,
  identity: EffectiveIdentity,
  publishedBy: readonly Published[],
): VisibleRows {
  if (table.unlogged) return { update: [], delete: [] };
  const rows = rowsUnder(identity, unsentColumns(table, identity, publishedBy).length > 0);
  return {
    update: isSent('update', publishedBy) ? rows.update : [],
    delete: isSent('delete', publishedBy) ? rows.delete : [],
  };
}

function rowsUnder(identity: EffectiveIdentity, hasUnsent: boolean): VisibleRows {
  const unchanged: readonly RowPart[] = hasUnsent ? ['unchanged'] : [];
  switch (identity.kind) {
    case 'full':
      return { update: ['old', 'new', 'changed'], delete: ['old'] };
    case 'key':
      return { update: ['key', 'new', ...unchanged], delete: ['key'] };
    case 'none':
      return { update: ['new', ...unchanged], delete: [] };
  }
}

/** By any publication; where there is none, as by one that has all operations. */
export function isSent(operation: ChangeOperation, publishedBy: readonly Published[]): boolean {
  return (
    publishedBy.length === 0 || publishedBy.some((each) => changesOf(each).includes(operation))
  );
}

export const toastableColumns = ({ columns }: Table): readonly Column[] =>
  columns.filter(({ toastable }) => toastable);

/** Columns of which an update that leaves them alone may not send the value, and else would. */
export function unsentColumns(
  table: Table,
  identity: EffectiveIdentity,
  publishedBy: readonly Published[],
): readonly Column[] {
  // an old row has every value, and a key tuple those of its columns
  if (identity.kind === 'full') return [];
  const key = identity.kind === 'key' ? identity.columns : [];
  return toastableColumns(table).filter(
    (column) => !key.includes(column) && isColumnSent(table, column, publishedBy),
  );
}

/** With updates, by any publication. */
function isColumnSent(table: Table, column: Column, publishedBy: readonly Published[]): boolean {
  if (publishedBy.length === 0) return column.generated === undefined;
  return publishedBy.some(
    (published) =>
      changesOf(published).includes('update') &&
      isListed(column, published) &&
      !unsentGenerated(table, published).includes(column),
  );
}

function isListed({ name }: Column, published: Published): boolean {
  const numbers = published.member?.columns;
  return numbers === undefined || columnNames(published, numbers).includes(name);
}

/** Generated columns that this publication never sends. */
export function unsentGenerated(table: Table, published: Published): readonly Column[] {
  const { publication, member } = published;
  const listed = member?.columns && columnNames(published, member.columns);
  return table.columns.filter(({ name, generated }) => {
    if (generated === undefined) return false;
    if (listed !== undefined) return publication.generated === undefined || !listed.includes(name);
    return generated === 'virtual' || publication.generated !== true;
  });
}
