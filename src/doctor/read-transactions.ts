// Open transactions that have written something, and prepared ones: no slot moves past them, and no
// new one is ready before they end.
// https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-PG-STAT-ACTIVITY-VIEW
// https://www.postgresql.org/docs/current/view-pg-prepared-xacts.html

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { withoutValues } from '../catalog/slot-wait.ts';
import { jsonRows } from './json-rows.ts';

export interface SessionTransaction {
  readonly pid: number;
  readonly role: string;
  readonly application: string;
  readonly database: string;
  /** In ms. */
  readonly age: number;
  /** `idle in transaction`, `active` … */
  readonly state: string;
  /** Its latest statement, on one line, without the values in it; empty in other databases. */
  readonly query: string;
}

export interface PreparedTransaction {
  readonly gid: string;
  readonly database: string;
  readonly owner: string;
  /** In ms. */
  readonly age: number;
}

export interface OpenTransactions {
  readonly sessions: readonly SessionTransaction[];
  readonly prepared: readonly PreparedTransaction[];
  /** Open, but the role may not see since when. */
  readonly hidden: number;
}

const text = z.nullable(z.string());

const sessionRow = z.object({
  pid: z.number(),
  role_hex: text,
  application_hex: text,
  database_hex: text,
  query_hex: text,
  state: text,
  age: z.nullable(z.number()),
});

// what is run in another database may be in another encoding, and not to be converted
const sessionsSql = ({ names }: ServerSummary): string => `
SELECT pid, ${names.hexOf('usename')} AS role_hex,
       ${names.hexOf('application_name')} AS application_hex,
       ${names.hexOf('datname')} AS database_hex,
       CASE WHEN datname = current_database() THEN ${names.hexOf('query')} END AS query_hex,
       state, extract(epoch FROM clock_timestamp() - xact_start) * 1000 AS age
FROM pg_stat_activity
WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()
ORDER BY xact_start`;

const preparedRow = z.object({
  gid_hex: z.string(),
  database_hex: z.string(),
  owner_hex: z.string(),
  age: z.number(),
});

const preparedSql = ({ names }: ServerSummary): string => `
SELECT ${names.hexOf('gid')} AS gid_hex, ${names.hexOf('database')} AS database_hex,
       ${names.hexOf('owner')} AS owner_hex,
       extract(epoch FROM clock_timestamp() - prepared) * 1000 AS age
FROM pg_prepared_xacts ORDER BY prepared`;

export async function readTransactions(
  query: RunQuery,
  server: ServerSummary,
): Promise<OpenTransactions> {
  const sessions = await jsonRows(query, sessionsSql(server), sessionRow);
  const prepared = await jsonRows(query, preparedSql(server), preparedRow);
  const { show } = server.names;
  const shown = (hex: string | null): string => (hex === null ? '' : show(hex));
  return {
    hidden: sessions.filter(({ age }) => age === null).length,
    sessions: sessions.flatMap((found) =>
      found.age === null
        ? []
        : {
            pid: found.pid,
            role: shown(found.role_hex),
            application: shown(found.application_hex),
            database: shown(found.database_hex),
            age: found.age,
            state: found.state ?? '',
            query: withoutValues(shown(found.query_hex)),
          },
    ),
    prepared: prepared.map(({ gid_hex, database_hex, owner_hex, age }) => ({
      gid: show(gid_hex),
      database: show(database_hex),
      owner: show(owner_hex),
      age,
    })),
  };
}
