// What a reader of the stream sees of an update and a delete, in the words of NDJSON.

import type { EffectiveIdentity } from './effective-identity.ts';
import { columnNames, type Published } from './publication.ts';
import type { Column, Table } from './table.ts';

export type RowPart = 'key' | 'old' | 'new' | 'unchanged' | 'changed';

export interface VisibleRows {
  /** The keys of its line; unchanged: only in some. */
  readonly update: readonly RowPart[];
  readonly delete: readonly RowPart[];
}

export function visibleRows(table: Table, identity: EffectiveIdentity): VisibleRows {
  const unchanged: readonly RowPart[] =
    unsentColumns(table, identity).length > 0 ? ['unchanged'] : [];
  switch (identity.kind) {
    case 'full':
      return { update: ['old', 'new', 'changed'], delete: ['old'] };
    case 'key':
      return { update: ['key', 'new', ...unchanged], delete: ['key'] };
    case 'none':
      return { update: ['new', ...unchanged], delete: [] };
  }
}

export const toastableColumns = ({ columns }: Table): readonly Column[] =>
  columns.filter(({ toastable }) => toastable);

/** Columns of which an update that leaves them alone may not send the value. */
export function unsentColumns(table: Table, identity: EffectiveIdentity): readonly Column[] {
  // an old row has every value, and a key tuple those of its columns
  if (identity.kind === 'full') return [];
  const key = identity.kind === 'key' ? identity.columns : [];
  return toastableColumns(table).filter((column) => !key.includes(column));
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
