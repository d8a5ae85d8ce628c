// Why the application's UPDATE and DELETE fail: what the server checks before the first row is
// changed, and only of tables that are published.
// https://www.postgresql.org/docs/current/logical-replication-publication.html

import type { EffectiveIdentity } from './effective-identity.ts';
import { columnNames, type Published } from './publication.ts';
import type { Table } from './table.ts';

export type FailureReason = 'no-identity' | 'row-filter' | 'column-list' | 'generated-column';

export type ChangeOperation = 'update' | 'delete';

export interface Failure {
  readonly reason: FailureReason;
  readonly published: Published;
  readonly operations: readonly ChangeOperation[];
  /** Names of the columns that are at fault. */
  readonly columns: readonly string[];
}

/** What would fail if the table had this identity. */
export function failuresUnder(
  identity: EffectiveIdentity,
  table: Table,
  publishedBy: readonly Published[],
): readonly Failure[] {
  // a statement on a partitioned table is checked for each partition that it touches
  if (table.partitioned) return [];
  return publishedBy.flatMap((published) => {
    const operations = changesOf(published);
    if (operations.length === 0) return [];
    return causes(identity, table, published).map((cause) => ({ ...cause, published, operations }));
  });
}

export function changesOf({ publication }: Published): readonly ChangeOperation[] {
  return publication.operations.filter(
    (operation) => operation === 'update' || operation === 'delete',
  );
}

type Cause = Pick<Failure, 'reason' | 'columns'>;

function causes(identity: EffectiveIdentity, table: Table, published: Published): readonly Cause[] {
  if (identity.kind === 'none') return [{ reason: 'no-identity', columns: [] }];
  const found: readonly Cause[] = [
    { reason: 'row-filter', columns: filterOutside(identity, published) },
    { reason: 'column-list', columns: listLacks(identity, published) },
    { reason: 'generated-column', columns: unpublishedGenerated(identity, table, published) },
  ];
  return found.filter(({ columns }) => columns.length > 0);
}

function filterOutside(identity: EffectiveIdentity, published: Published): readonly string[] {
  if (identity.kind !== 'key' || published.member === undefined) return [];
  const key = identity.columns.map(({ name }) => name);
  return columnNames(published, published.member.filterColumns).filter(
    (name) => !key.includes(name),
  );
}

/** FULL allows no list at all, not even one of every column. */
function listLacks(identity: EffectiveIdentity, published: Published): readonly string[] {
  const numbers = published.member?.columns;
  if (numbers === undefined) return [];
  const listed = columnNames(published, numbers);
  if (identity.kind !== 'key') return listed;
  return identity.columns.map(({ name }) => name).filter((name) => !listed.includes(name));
}

/** Checked since 18, which is the first that can publish them. */
function unpublishedGenerated(
  identity: EffectiveIdentity,
  table: Table,
  { publication, member }: Published,
): readonly string[] {
  if (publication.generated === undefined || member?.columns !== undefined) return [];
  const columns = identity.kind === 'key' ? identity.columns : table.columns;
  return columns
    .filter(({ generated }) => isUnpublished(generated, publication.generated === true))
    .map(({ name }) => name);
}

/** A virtual one cannot be published at all. */
const isUnpublished = (generated: 'stored' | 'virtual' | undefined, published: boolean): boolean =>
  generated === 'virtual' || (generated === 'stored' && !published);
