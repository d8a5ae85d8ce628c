// What a publication sends of a table, and as which table.
// https://www.postgresql.org/docs/current/sql-createpublication.html

import type { Table, TableOutline } from './table.ts';

/** A table that was added by name, with what narrows it (15+). */
export interface PublicationMember {
  /** As the server prints the WHERE expression. */
  readonly filter: string | undefined;
  /** Numbers of the columns in it. */
  readonly filterColumns: readonly number[];
  /** Numbers of the columns in the list; undefined: no list. */
  readonly columns: readonly number[] | undefined;
}

export const OPERATIONS = ['insert', 'update', 'delete', 'truncate'] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface Publication {
  readonly name: string;
  readonly allTables: boolean;
  readonly operations: readonly Operation[];
  /** publish_via_partition_root (13+) */
  readonly viaRoot: boolean;
  /** Whether stored generated columns are sent (18+); undefined: the server never sends any. */
  readonly generated: boolean | undefined;
  /** By the id of the table. */
  readonly members: ReadonlyMap<number, PublicationMember>;
  /** Ids of the schemas whose tables it has (15+). */
  readonly schemas: ReadonlySet<number>;
  /** A list of all columns but the generated ones is another than none: to a server of 15. */
  readonly listsCountGenerated?: boolean;
}

/** That a publication has a table. */
export interface Published<T extends TableOutline = Table> {
  readonly publication: Publication;
  /** Whose name and shape the rows have: the table's own, or its root's. */
  readonly as: T;
  readonly member: PublicationMember | undefined;
}

const contains = ({ allTables, members, schemas }: Publication, table: TableOutline): boolean =>
  allTables || members.has(table.id) || schemas.has(table.schemaId);

/** The id of the table that the rows of `table` are sent as; undefined: they are not sent. */
export function publishedAs(
  publication: Publication,
  table: TableOutline,
  tables: ReadonlyMap<number, TableOutline>,
): number | undefined {
  if (table.unlogged) return undefined;
  const lineage = [table, ...table.ancestors.map((id) => tables.get(id))].filter(
    (each) => each !== undefined,
  );
  const containing = lineage.filter((each) => contains(publication, each));
  if (containing.length === 0) return undefined;
  return publication.viaRoot ? containing.at(-1)!.id : table.id;
}

/** Every publication that has the table; `tables` holds it and its ancestors. */
export function publishedBy<T extends TableOutline>(
  table: T,
  publications: readonly Publication[],
  tables: ReadonlyMap<number, T>,
): readonly Published<T>[] {
  return publications.flatMap((publication) => {
    const as = tables.get(publishedAs(publication, table, tables) ?? 0);
    if (as === undefined) return [];
    return [{ publication, as, member: publication.members.get(as.id) }];
  });
}

/** Names of columns of the table that rows are sent as: a partition may number its own otherwise. */
export function columnNames({ as }: Published, numbers: readonly number[]): readonly string[] {
  return as.columns.filter(({ number }) => numbers.includes(number)).map(({ name }) => name);
}
