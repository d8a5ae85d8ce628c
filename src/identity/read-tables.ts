// Reads the tables of a database, with what decides their replica identity and its price.
// https://www.postgresql.org/docs/current/catalog-pg-attribute.html
// https://www.postgresql.org/docs/current/catalog-pg-index.html

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { Catalog } from '../catalog/catalog-names.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { amount, collected, flag, id, numbers } from './catalog-rows.ts';
import type { Column, Index, ReplicaIdentity, Table, TableOutline } from './table.ts';

const IDENTITIES: Readonly<Record<string, ReplicaIdentity>> = {
  d: 'default',
  i: 'index',
  f: 'full',
  n: 'nothing',
};

const outlineRow = z.object({
  id,
  schema_id: id,
  schema_hex: z.string(),
  name_hex: z.string(),
  partitioned: flag,
  unlogged: flag,
  identity: z.pipe(
    z.string(),
    z.transform((letter: string) => IDENTITIES[letter]!),
  ),
  parent: z.nullable(id),
  has_heirs: flag,
});

const outlinesSql = ({ names }: Catalog): string => `
SELECT c.oid AS id, c.relnamespace AS schema_id, ${names.hexOf('n.nspname')} AS schema_hex,
       ${names.hexOf('c.relname')} AS name_hex, c.relkind = 'p' AS partitioned,
       c.relpersistence = 'u' AS unlogged, c.relreplident AS identity, i.inhparent AS parent,
       c.relhassubclass AND c.relkind = 'r' AS has_heirs
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid AND c.relispartition
WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't'
      AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
ORDER BY n.nspname, c.relname;`;

/** Every table that is not the system's or temporary, by name. */
export async function readOutlines(
  query: RunQuery,
  catalog: Catalog,
): Promise<readonly TableOutline[]> {
  const [rows = []] = await query(outlinesSql(catalog));
  const found = rows.map((row) => outlineRow.parse(row));
  const parents = new Map(found.map((row) => [row.id, row.parent]));
  const { names } = catalog;
  return found.map((row) => ({
    id: row.id,
    schemaId: row.schema_id,
    schema: names.show(row.schema_hex),
    name: names.show(row.name_hex),
    partitioned: row.partitioned,
    unlogged: row.unlogged,
    identity: row.identity,
    ancestors: ancestorsOf(row.parent, parents),
    hasHeirs: row.has_heirs,
  }));
}

/** Nearest first. */
function ancestorsOf(
  parent: number | null,
  parents: ReadonlyMap<number, number | null>,
): readonly number[] {
  if (parent === null) return [];
  return [parent, ...ancestorsOf(parents.get(parent) ?? null, parents)];
}

/** The same tables with all that must be read of each. */
export async function readTables(
  query: RunQuery,
  server: ServerSummary,
  outlines: readonly TableOutline[],
): Promise<readonly Table[]> {
  if (outlines.length === 0) return [];
  const ids = outlines.map((outline) => outline.id).join(', ');
  const columns = await readColumns(query, server, ids);
  const indexes = await readIndexes(query, server, ids);
  const sizes = await readSizes(query, server, ids);
  return outlines.map((outline) => ({
    ...outline,
    columns: columns.get(outline.id) ?? [],
    indexes: indexes.get(outline.id) ?? [],
    // dropped meanwhile: as if it were empty
    ...(sizes.get(outline.id) ?? {
      rows: undefined,
      analyzed: false,
      toastSize: 0,
      changes: undefined,
    }),
  }));
}

const FIRST_WITH_GENERATED = 12;

const columnRow = z.object({
  table_id: id,
  number: amount,
  name_hex: z.string(),
  not_null: flag,
  generated: z.string(),
  toastable: flag,
  length: amount,
  average_width: z.nullable(amount),
  null_fraction: z.nullable(amount),
  readable: flag,
});

/** No value of up to 24 bytes is moved out of line: inet, cidr, and numeric of few digits. */
const ALWAYS_SMALL = `a.atttypid IN ('inet'::regtype, 'cidr'::regtype)
            OR a.atttypid = 'numeric'::regtype AND a.atttypmod > 4
               AND (a.atttypmod - 4) >> 16 <= 20`;

/** A column has statistics for its own rows, and where there are heirs also with theirs. */
const columnsSql = ({ major, names }: ServerSummary, ids: string): string => `
SELECT a.attrelid AS table_id, a.attnum AS number, ${names.hexOf('a.attname')} AS name_hex,
       a.attnotnull AS not_null,
       ${major >= FIRST_WITH_GENERATED ? 'a.attgenerated' : "''"} AS generated,
       a.attlen = -1 AND a.attstorage <> 'p' AND NOT (${ALWAYS_SMALL}) AS toastable,
       a.attlen AS length,
       s.avg_width AS average_width, s.null_frac AS null_fraction,
       has_column_privilege(a.attrelid, a.attnum, 'SELECT')
         AND NOT row_security_active(a.attrelid) AS readable
FROM pg_attribute AS a
JOIN pg_class AS c ON c.oid = a.attrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_stats AS s ON s.schemaname = n.nspname AND s.tablename = c.relname
     AND s.attname = a.attname AND s.inherited = (c.relkind = 'p')
WHERE a.attrelid IN (${ids}) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum;`;

async function readColumns(
  query: RunQuery,
  server: ServerSummary,
  ids: string,
): Promise<ReadonlyMap<number, readonly Column[]>> {
  const [rows = []] = await query(columnsSql(server, ids));
  return collected(
    rows.map((each) => {
      const row = columnRow.parse(each);
      return [row.table_id, columnOf(row, server)] as const;
    }),
  );
}

function columnOf(row: z.output<typeof columnRow>, { names }: ServerSummary): Column {
  return {
    number: row.number,
    name: names.show(row.name_hex),
    notNull: row.not_null,
    generated: row.generated === 's' ? 'stored' : row.generated === 'v' ? 'virtual' : undefined,
    // a virtual one is not stored at all
    toastable: row.toastable && row.generated !== 'v',
    width: row.length > 0 ? row.length : (row.average_width ?? undefined),
    nullFraction: row.null_fraction ?? undefined,
    readable: row.readable,
  };
}

const FIRST_WITH_INCLUDE = 11;

const indexRow = z.object({
  table_id: id,
  name_hex: z.string(),
  columns: numbers,
  key_count: amount,
  primary: flag,
  is_identity: flag,
  unique: flag,
  immediate: flag,
  valid: flag,
  partial: flag,
});

const indexesSql = ({ major, names }: ServerSummary, ids: string): string => `
SELECT i.indrelid AS table_id, ${names.hexOf('c.relname')} AS name_hex,
       i.indkey::text AS columns,
       ${major >= FIRST_WITH_INCLUDE ? 'i.indnkeyatts' : 'i.indnatts'} AS key_count,
       i.indisprimary AS primary, i.indisreplident AS is_identity, i.indisunique AS unique,
       i.indimmediate AS immediate, i.indisvalid AND i.indisready AND i.indislive AS valid,
       i.indpred IS NOT NULL AS partial
FROM pg_index AS i
JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE i.indrelid IN (${ids})
ORDER BY i.indrelid, c.relname;`;

async function readIndexes(
  query: RunQuery,
  server: ServerSummary,
  ids: string,
): Promise<ReadonlyMap<number, readonly Index[]>> {
  const [rows = []] = await query(indexesSql(server, ids));
  return collected(
    rows.map((each) => {
      const row = indexRow.parse(each);
      return [row.table_id, indexOf(row, server)] as const;
    }),
  );
}

function indexOf(row: z.output<typeof indexRow>, { names }: ServerSummary): Index {
  const { primary, unique, immediate, valid, partial } = row;
  return {
    name: names.show(row.name_hex),
    // what it only INCLUDEs is no part of its key
    columns: row.columns.slice(0, row.key_count),
    primary,
    isIdentity: row.is_identity,
    unique,
    immediate,
    valid,
    partial,
  };
}

const sizeRow = z.object({
  id,
  rows: amount,
  analyzes: amount,
  toast_size: z.nullable(amount),
  changes: amount,
});

/** Any role may read these; a standby counts what was changed on it, which is nothing. */
const sizesSql = (ids: string): string => `
SELECT c.oid AS id, c.reltuples AS rows,
       coalesce(pg_stat_get_analyze_count(c.oid), 0)
         + coalesce(pg_stat_get_autoanalyze_count(c.oid), 0) AS analyzes,
       pg_relation_size(nullif(c.reltoastrelid, 0)::regclass) AS toast_size,
       coalesce(pg_stat_get_tuples_updated(c.oid), 0)
         + coalesce(pg_stat_get_tuples_deleted(c.oid), 0) AS changes
FROM pg_class AS c WHERE c.oid IN (${ids});`;

type Sizes = Pick<Table, 'rows' | 'analyzed' | 'toastSize' | 'changes'>;

async function readSizes(
  query: RunQuery,
  { inRecovery }: ServerSummary,
  ids: string,
): Promise<ReadonlyMap<number, Sizes>> {
  const [rows = []] = await query(sizesSql(ids));
  return new Map(
    rows.map((each) => {
      const row = sizeRow.parse(each);
      // 0 before 14, and -1 since, where nobody has counted yet
      const counted = row.rows > 0 ? row.rows : undefined;
      const changes = inRecovery ? undefined : row.changes;
      // CREATE INDEX counts the rows too; a standby does not know of the ANALYZE of its primary
      const analyzed = counted !== undefined && (inRecovery || row.analyzes > 0);
      const toastSize = row.toast_size ?? 0;
      return [row.id, { rows: counted, analyzed, toastSize, changes }] as const;
    }),
  );
}

const SINCE_SQL = `
SELECT extract(epoch FROM now() - stats_reset) / 86400 AS days
FROM pg_stat_database WHERE datname = current_database();`;

const sinceRow = z.object({ days: z.nullable(amount) });

/** Less says nothing of a whole day. */
const SHORTEST_DAYS = 1 / 24;

/** For how many days changes have been counted; undefined: not known, or too short to tell. */
export async function readDaysCounted(
  query: RunQuery,
  { inRecovery }: ServerSummary,
): Promise<number | undefined> {
  const [[row] = []] = await query(SINCE_SQL);
  const days = row === undefined ? null : sinceRow.parse(row).days;
  return days === null || days < SHORTEST_DAYS || inRecovery ? undefined : days;
}
