// The identity that counts: what the server uses of what REPLICA IDENTITY says.
// https://www.postgresql.org/docs/current/sql-altertable.html#SQL-ALTERTABLE-REPLICA-IDENTITY

import { type Column, columnsOf, type Index, type Table } from './table.ts';

/** none: nothing says which row it was. */
export type EffectiveIdentity =
  | { readonly kind: 'full' }
  | { readonly kind: 'key'; readonly index: Index; readonly columns: readonly Column[] }
  | { readonly kind: 'none' };

export const FULL: EffectiveIdentity = { kind: 'full' };
const NONE: EffectiveIdentity = { kind: 'none' };

export function effectiveIdentity(table: Table): EffectiveIdentity {
  if (table.identity === 'full') return FULL;
  const index = namedIndex(table);
  return index !== undefined && indexProblems(index).length === 0 ? keyOf(table, index) : NONE;
}

export function keyOf(table: Table, index: Index): EffectiveIdentity {
  return { kind: 'key', index, columns: columnsOf(table, index.columns) };
}

/** The index that REPLICA IDENTITY means, usable or not; undefined: it means none, or it is gone. */
export function namedIndex({ identity, indexes }: Table): Index | undefined {
  if (identity === 'default') return indexes.find(({ primary }) => primary);
  if (identity === 'index') return indexes.find(({ isIdentity }) => isIdentity);
  return undefined;
}

/** Why the server does not use an index that REPLICA IDENTITY means; none: it does. */
export function indexProblems(index: Index): readonly string[] {
  return [
    ...(index.unique ? [] : ['not unique']),
    ...(index.immediate ? [] : ['deferrable']),
    ...(index.valid ? [] : ['not valid']),
    ...(index.partial ? ['partial'] : []),
    ...(index.columns.includes(0) ? ['on an expression'] : []),
  ];
}

/** Whether ALTER TABLE … REPLICA IDENTITY USING INDEX takes it. */
export function canBeIdentity(table: Table, index: Index): boolean {
  const hasNulls = columnsOf(table, index.columns).some(({ notNull }) => !notNull);
  return indexProblems(index).length === 0 && !hasNulls;
}
