// What the server has done, as far as its statistics tell: two looks at it show what changed between.
// https://www.postgresql.org/docs/current/monitoring-stats.html

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { Catalog } from '../catalog/catalog-names.ts';
import { WAL_END_SQL } from '../catalog/server-summary.ts';
import { type Lsn, parseLsn } from '../lsn.ts';

/** Rows that transactions have written since the statistics began, also those rolled back. */
export interface RowCounts {
  readonly insert: number;
  readonly update: number;
  readonly delete: number;
  /** 0 or 1: none is counted, but a table that got a new file and has no rows left tells of one. */
  readonly truncate: number;
}

export interface TableActivity {
  readonly schema: string;
  readonly name: string;
  /** With what quoting SQL needs. */
  readonly quoted: string;
  /** Written to the WAL: neither unlogged nor temporary. */
  readonly isLogged: boolean;
  /** TRUNCATE gives it a new one, as all that rewrites a table does; 0 where none is sent (10). */
  readonly file: number;
  readonly isEmpty: boolean;
  readonly rows: RowCounts;
}

/** A transaction that has written and is not over. */
export type OpenWriter =
  | {
      readonly kind: 'session';
      readonly pid: number;
      readonly application: string;
      /** Seconds since it began. */
      readonly age: number;
    }
  | { readonly kind: 'prepared'; readonly gid: string; readonly age: number };

export interface Activity {
  readonly walEnd: Lsn;
  /** How far the walsender has decoded; undefined: it cannot be told. */
  readonly decoded: Lsn | undefined;
  /** By OID; those of this database. */
  readonly tables: ReadonlyMap<number, TableActivity>;
  /** Rows written in each of the other databases. */
  readonly otherDatabases: ReadonlyMap<string, number>;
  /** Transactions rolled back in this database. */
  readonly rollbacks: number;
  readonly open: readonly OpenWriter[];
  /** Transactions of other roles can be seen. */
  readonly seesOthers: boolean;
}

const serverRow = z.object({
  wal_end: z.nullable(z.string()),
  decoded: z.nullable(z.string()),
  sees_others: z.enum(['t', 'f']),
});

const tableRow = z.object({
  id: z.coerce.number(),
  schema_hex: z.string(),
  name_hex: z.string(),
  quoted_hex: z.string(),
  persistence: z.string(),
  file: z.coerce.number(),
  live: z.coerce.number(),
  ins: z.coerce.number(),
  upd: z.coerce.number(),
  del: z.coerce.number(),
});

const databaseRow = z.object({
  name_hex: z.string(),
  is_ours: z.enum(['t', 'f']),
  changes: z.coerce.number(),
  rollbacks: z.coerce.number(),
});

const openRow = z.object({
  pid: z.nullable(z.coerce.number()),
  name_hex: z.string(),
  age: z.coerce.number(),
});

const FIRST_WITH_TRUNCATE = 11;

/** A standby counts no rows: they were written elsewhere. */
const activitySql = (walsender: number, { major, names }: Catalog): string => `
SELECT ${WAL_END_SQL} AS wal_end,
       (SELECT sent_lsn FROM pg_stat_replication WHERE pid = ${walsender}) AS decoded,
       pg_has_role(current_user, 'pg_read_all_stats', 'MEMBER') AS sees_others;
SELECT s.relid AS id, ${names.hexOf('s.schemaname')} AS schema_hex,
       ${names.hexOf('s.relname')} AS name_hex,
       ${names.hexOf("format('%I.%I', s.schemaname, s.relname)")} AS quoted_hex,
       c.relpersistence AS persistence, s.n_live_tup AS live,
       ${major >= FIRST_WITH_TRUNCATE ? 'c.relfilenode' : '0'} AS file,
       s.n_tup_ins AS ins, s.n_tup_upd AS upd, s.n_tup_del AS del
FROM pg_stat_user_tables AS s JOIN pg_class AS c ON c.oid = s.relid
WHERE s.n_tup_ins + s.n_tup_upd + s.n_tup_del > 0 AND c.relkind = 'r';
SELECT ${names.hexOf('datname')} AS name_hex, datname = current_database() AS is_ours,
       tup_inserted + tup_updated + tup_deleted AS changes, xact_rollback AS rollbacks
FROM pg_stat_database WHERE datname IS NOT NULL;
SELECT pid, ${names.hexOf("coalesce(application_name, '')")} AS name_hex,
       floor(extract(epoch FROM clock_timestamp() - xact_start)) AS age
FROM pg_stat_activity
WHERE backend_xid IS NOT NULL AND datname = current_database() AND pid <> pg_backend_pid()
UNION ALL
SELECT NULL, ${names.hexOf('gid')}, floor(extract(epoch FROM clock_timestamp() - prepared))
FROM pg_prepared_xacts WHERE database = current_database()
ORDER BY 3 DESC LIMIT 20;`;

/** @param walsender the process that sends us the stream. */
export async function readActivity(
  query: RunQuery,
  walsender: number,
  catalog: Catalog,
): Promise<Activity> {
  const { names } = catalog;
  const [[server] = [], tables = [], databases = [], open = []] = await query(
    activitySql(walsender, catalog),
  );
  const { wal_end, decoded, sees_others } = serverRow.parse(server);
  const all = databases.map((row) => databaseRow.parse(row));
  const others = all.filter((each) => each.is_ours === 'f');
  return {
    walEnd: parseLsn(wal_end ?? '0/0')!,
    decoded: decoded === null ? undefined : parseLsn(decoded),
    tables: new Map(
      tables.map((row) => {
        const { id, ...found } = tableRow.parse(row);
        return [id, tableActivity(found, catalog)];
      }),
    ),
    otherDatabases: new Map(others.map((each) => [names.show(each.name_hex), each.changes])),
    rollbacks: all.find((each) => each.is_ours === 't')?.rollbacks ?? 0,
    open: open.map((row) => openWriter(openRow.parse(row), catalog)),
    seesOthers: sees_others === 't',
  };
}

function tableActivity(
  row: Omit<z.output<typeof tableRow>, 'id'>,
  { names }: Catalog,
): TableActivity {
  return {
    schema: names.show(row.schema_hex),
    name: names.show(row.name_hex),
    quoted: names.show(row.quoted_hex),
    isLogged: row.persistence === 'p',
    file: row.file,
    isEmpty: row.live === 0,
    rows: { insert: row.ins, update: row.upd, delete: row.del, truncate: 0 },
  };
}

function openWriter(
  { pid, name_hex, age }: z.output<typeof openRow>,
  { names }: Catalog,
): OpenWriter {
  const name = names.show(name_hex);
  return pid === null
    ? { kind: 'prepared', gid: name, age }
    : { kind: 'session', pid, application: name, age };
}
