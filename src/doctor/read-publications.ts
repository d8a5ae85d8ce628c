// The publications of a database, and what those that are to be read have in them.
// https://www.postgresql.org/docs/current/catalog-pg-publication.html

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { OPERATIONS, type Operation } from '../identity/publication.ts';
import { jsonRow, jsonRows } from './json-rows.ts';

export interface Publication {
  readonly name: string;
  readonly operations: readonly Operation[];
  /** Undefined before 13. */
  readonly viaRoot: boolean | undefined;
  readonly allTables: boolean;
  readonly tables: number;
  /** Partitions whose rows come under their own names. */
  readonly leaves: number;
  /** Columns as `schema.table.column`, quoted as in SQL. */
  readonly unsent: { readonly stored: readonly string[]; readonly virtual: readonly string[] };
}

/** Names as in SQL, quoted where they need it; `names` may be the first few. */
export interface Tables {
  readonly names: readonly string[];
  readonly count: number;
}

export interface PublicationFacts {
  /** Names of all of them. */
  readonly existing: readonly string[];
  /** Those that are to be read, as far as they exist. */
  readonly chosen: readonly Publication[];
  /** Asked for, and not there. */
  readonly missing: readonly string[];
  /** Tables of users that none of the chosen publishes. */
  readonly unpublished: Tables;
  /** Those of them that can be published without an UPDATE or DELETE of the application failing. */
  readonly unpublishedSafe: Tables;
  /** Tables that can be published without an UPDATE or DELETE of the application failing. */
  readonly publishable: Tables;
  readonly userTables: number;
}

const nameRow = z.object({ oid: z.string(), name_hex: z.string() });

const publicationRow = z.object({
  publication: z.object({
    puballtables: z.boolean(),
    pubinsert: z.boolean(),
    pubupdate: z.boolean(),
    pubdelete: z.boolean(),
    pubtruncate: z.optional(z.boolean()),
    pubviaroot: z.optional(z.boolean()),
  }),
  tables: z.number(),
  leaves: z.number(),
});

const FIRST_WITH_PUBLISHED_ROOTS = 13;
const FIRST_WITH_GENERATED_COLUMNS = 12;
const FIRST_WITH_PUBLISHED_GENERATED_COLUMNS = 18;

/** Far more than are shown. */
const MOST_NAMES = 20;

/** By its OID: a name may be bytes that are no text. */
interface Named {
  readonly oid: string;
  readonly name: string;
}

/** The tables of publications, each with its row of pg_class as `c`. */
const publishedSql = (publications: readonly Named[]): string => `
pg_publication_tables AS p
JOIN pg_publication AS pub ON pub.pubname = p.pubname
  AND pub.oid IN (${publications.map(({ oid }) => oid).join(', ')})
JOIN pg_namespace AS n ON n.nspname = p.schemaname
JOIN pg_class AS c ON c.relname = p.tablename AND c.relnamespace = n.oid`;

export async function readPublications(
  query: RunQuery,
  server: ServerSummary,
  asked: readonly string[],
): Promise<PublicationFacts> {
  const { names } = server;
  const rows = await jsonRows(
    query,
    `SELECT ${names.hexOf('pubname')} AS name_hex, oid::text FROM pg_publication ORDER BY pubname`,
    nameRow,
  );
  const existing = rows.map(({ oid, name_hex }) => ({ oid, name: names.show(name_hex) }));
  const existingNames = existing.map(({ name }) => name);
  const toRead = choose(asked, existing);
  const chosen: Publication[] = [];
  for (const each of toRead) chosen.push(await readPublication(query, server, each));
  const userTables = await readTables(query, server, 'true');
  // without a choice, which tables are left out cannot be said
  const isUnpublished = chosen.length === 0 ? 'false' : unpublishedSql(server, toRead);
  return {
    existing: existingNames,
    chosen,
    missing: asked.filter((name) => !existingNames.includes(name)),
    unpublished: await readTables(query, server, isUnpublished),
    unpublishedSafe: await readTables(
      query,
      server,
      `${isUnpublished} AND ${publishableSql(server)}`,
    ),
    publishable: await readTables(query, server, publishableSql(server)),
    userTables: userTables.count,
  };
}

/** As the tail does: without a name, the only one there is. */
function choose(asked: readonly string[], existing: readonly Named[]): readonly Named[] {
  if (asked.length > 0) return existing.filter(({ name }) => asked.includes(name));
  return existing.length === 1 ? existing : [];
}

async function readPublication(
  query: RunQuery,
  server: ServerSummary,
  named: Named,
): Promise<Publication> {
  const select = `
SELECT to_jsonb(pub) - 'pubname' AS publication,
       (SELECT count(*) FROM ${publishedSql([named])}) AS tables,
       (SELECT count(*) FROM ${publishedSql([named])} WHERE c.relispartition) AS leaves
FROM pg_publication AS pub WHERE oid = ${named.oid}`;
  const { publication, tables, leaves } = await jsonRow(query, select, publicationRow);
  const viaRoot = publication.pubviaroot;
  return {
    name: named.name,
    operations: OPERATIONS.filter((operation) => publication[`pub${operation}`]),
    viaRoot,
    allTables: publication.puballtables,
    tables,
    leaves: viaRoot === false ? leaves : 0,
    unsent: await readUnsentColumns(query, server, named),
  };
}

const columnRow = z.object({ column_hex: z.string(), generated: z.enum(['s', 'v']) });

/** Before 18 a generated column is never sent; from then on if the publication says so. */
async function readUnsentColumns(
  query: RunQuery,
  { major, names }: ServerSummary,
  publication: Named,
): Promise<Publication['unsent']> {
  if (major < FIRST_WITH_GENERATED_COLUMNS) return { stored: [], virtual: [] };
  const unsent =
    major >= FIRST_WITH_PUBLISHED_GENERATED_COLUMNS ? 'NOT a.attname = ANY (p.attnames)' : 'true';
  const rows = await jsonRows(
    query,
    `
SELECT ${names.hexOf("format('%I.%I.%I', n.nspname, c.relname, a.attname)")} AS column_hex,
       a.attgenerated AS generated
FROM ${publishedSql([publication])}
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  AND a.attgenerated <> '' AND ${unsent}
ORDER BY 1`,
    columnRow,
  );
  const ofKind = (kind: 's' | 'v'): string[] =>
    rows.filter(({ generated }) => generated === kind).map((row) => names.show(row.column_hex));
  return { stored: ofKind('s'), virtual: ofKind('v') };
}

/**
 * SQL: the server can identify a row of it, whatever a publication sends. Deferrable keys do not do,
 * nor, from 18 on, generated columns in the identity, which few publications send.
 */
const hasIdentitySql = (table: string, major: number): string => `(CASE ${table}.relreplident
  WHEN 'f' THEN NOT ${generatedSql(table, major)}
  ELSE EXISTS (
    SELECT FROM pg_index AS i WHERE i.indrelid = ${table}.oid AND i.indisvalid AND i.indimmediate
      AND CASE ${table}.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident END
      AND NOT ${generatedSql(table, major, 'a.attnum = ANY (i.indkey)')}) END)`;

const generatedSql = (table: string, major: number, condition = 'true'): string =>
  major < FIRST_WITH_PUBLISHED_GENERATED_COLUMNS
    ? '(false)'
    : `EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = ${table}.oid
        AND a.attgenerated <> '' AND NOT a.attisdropped AND ${condition})`;

/** SQL: of a partitioned table, there is such a partition; `condition` is about `leaf`. */
const anyLeafSql = (condition: string): string => `EXISTS (
  SELECT FROM pg_partition_tree(c.oid) AS t JOIN pg_class AS leaf ON leaf.oid = t.relid
  WHERE t.isleaf AND ${condition})`;

/** Of a partitioned table, what counts is each partition. */
function publishableSql({ major }: ServerSummary): string {
  if (major < FIRST_WITH_PUBLISHED_ROOTS) return hasIdentitySql('c', major);
  return `CASE c.relkind WHEN 'p' THEN NOT ${anyLeafSql(`NOT ${hasIdentitySql('leaf', major)}`)}
    ELSE ${hasIdentitySql('c', major)} END`;
}

/** A partitioned table is published under its own name, or under those of all its partitions. */
function unpublishedSql({ major }: ServerSummary, publications: readonly Named[]): string {
  const published = `SELECT c.oid FROM ${publishedSql(publications)}`;
  const isMissing = `c.oid NOT IN (${published})`;
  if (major < FIRST_WITH_PUBLISHED_ROOTS) return isMissing;
  const someLeaf = anyLeafSql(`leaf.oid NOT IN (${published})`);
  return `${isMissing} AND (c.relkind = 'r' OR ${someLeaf})`;
}

/** Where a partitioned table can be published, it stands for its partitions. */
const publishedKindsSql = ({ major }: ServerSummary): string =>
  major < FIRST_WITH_PUBLISHED_ROOTS
    ? "c.relkind = 'r'"
    : "c.relkind IN ('r', 'p') AND NOT c.relispartition";

const tablesRow = z.object({ name_hex: z.string(), count: z.number() });

/** Permanent tables of users, no extension's; `condition` is about `c`. */
async function readTables(
  query: RunQuery,
  server: ServerSummary,
  condition: string,
): Promise<Tables> {
  const { names } = server;
  const rows = await jsonRows(
    query,
    `
SELECT ${names.hexOf("format('%I.%I', n.nspname, c.relname)")} AS name_hex,
       count(*) OVER () AS count
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE ${publishedKindsSql(server)} AND c.relpersistence = 'p'
  AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass
                  AND d.objid = c.oid AND d.deptype = 'e')
  AND ${condition}
ORDER BY n.nspname, c.relname LIMIT ${MOST_NAMES}`,
    tablesRow,
  );
  return {
    names: rows.map(({ name_hex }) => names.show(name_hex)),
    count: rows[0]?.count ?? 0,
  };
}
