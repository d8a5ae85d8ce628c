// The tables that an application may want to see changes of: each with the tables that hold its rows.
// https://www.postgresql.org/docs/current/ddl-partitioning.html

import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { collected, id } from '../identity/catalog-rows.ts';
import { effectiveIdentity } from '../identity/effective-identity.ts';
import { failuresUnder } from '../identity/failure.ts';
import { type Publication, publishedAs } from '../identity/publication.ts';
import type { IdentityFacts } from '../identity/report.ts';
import type { Table } from '../identity/table.ts';

export interface UserTable {
  readonly table: Table;
  /** The table itself, or of a partitioned one those partitions that are not partitioned. */
  readonly leaves: readonly Table[];
}

const FIRST_WITH_PUBLISHED_ROOTS = 13;

/** Where a partitioned table can be published, it stands for its partitions. In the order of names. */
export async function readUserTables(
  query: RunQuery,
  { major }: ServerSummary,
  { tables }: IdentityFacts,
): Promise<readonly UserTable[]> {
  const notTheirs = await readTablesOfExtensions(query);
  const logged = [...tables.values()].filter(({ unlogged }) => !unlogged);
  const leaves = leavesByRoot(logged);
  const isWhole = ({ partitioned, ancestors }: Table): boolean =>
    major < FIRST_WITH_PUBLISHED_ROOTS ? !partitioned : ancestors.length === 0;
  return logged
    .filter((table) => isWhole(table) && !notTheirs.has(table.id))
    .map((table) => ({
      table,
      leaves: table.partitioned ? (leaves.get(table.id) ?? []) : [table],
    }));
}

function leavesByRoot(tables: readonly Table[]): ReadonlyMap<number, readonly Table[]> {
  const leaves = tables.filter(({ partitioned }) => !partitioned);
  return collected(leaves.map((leaf) => [leaf.ancestors.at(-1) ?? leaf.id, leaf] as const));
}

const EXTENSION_TABLES_SQL = `
SELECT objid AS id FROM pg_depend
WHERE classid = 'pg_class'::regclass AND objsubid = 0 AND deptype = 'e';`;

async function readTablesOfExtensions(query: RunQuery): Promise<ReadonlySet<number>> {
  const [rows = []] = await query(EXTENSION_TABLES_SQL);
  return new Set(rows.map((row) => id.parse(row.id)));
}

/** By its own name, or by those of all its partitions. */
export function isSent(
  table: UserTable,
  publications: readonly Publication[],
  { outlines }: IdentityFacts,
): boolean {
  return sourcesOf(table).every((source) =>
    publications.some((each) => publishedAs(each, source, outlines) !== undefined),
  );
}

/** A partitioned table without partitions is as good as those that it will have. */
const sourcesOf = ({ table, leaves }: UserTable): readonly Table[] =>
  leaves.length === 0 ? [{ ...table, partitioned: false }] : leaves;

/** Added to that publication, it would make no UPDATE or DELETE of the application fail. */
export function canBePublished(table: UserTable, publication: Publication): boolean {
  return sourcesOf(table).every((source) =>
    failsNever(source, publication, publication.viaRoot ? table.table : source),
  );
}

function failsNever(source: Table, publication: Publication, as: Table): boolean {
  const published = { publication, as, member: undefined };
  return failuresUnder(effectiveIdentity(source), source, [published]).length === 0;
}

/** All that FOR ALL TABLES would publish and that would refuse UPDATE and DELETE then, whoever made it. */
export function refusingTables(
  { tables }: IdentityFacts,
  publication: Publication,
): readonly Table[] {
  return [...tables.values()].filter(
    (table) => !table.unlogged && !failsNever(table, publication, table),
  );
}
