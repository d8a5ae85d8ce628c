// What an inspection says of the server it looked at.
// https://www.postgresql.org/docs/current/functions-info.html

import * as z from 'zod/mini';
import { type Lsn, parseLsn } from '../lsn.ts';
import type { RunQuery } from './catalog-connection.ts';
import { type Catalog, catalogNames } from './catalog-names.ts';

export interface ServerSummary extends Catalog {
  /** As in `18.4`, without what its packager adds. */
  readonly version: string;
  readonly database: string;
  readonly role: string;
  readonly inRecovery: boolean;
  /** The end of what it has written, or on a standby replayed; undefined: it has replayed nothing. */
  readonly walEnd: Lsn | undefined;
}

const versionRow = z.object({
  version: z.string(),
  number: z.coerce.number(),
  encoding: z.string(),
});

const row = z.object({
  database_hex: z.string(),
  role_hex: z.string(),
  in_recovery: z.enum(['t', 'f']),
  wal_end: z.nullable(z.string()),
});

/** SQL for the end of the WAL. */
export const WAL_END_SQL =
  'CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END';

export async function readServerSummary(query: RunQuery): Promise<ServerSummary> {
  const [[first] = []] = await query(`
SELECT current_setting('server_version') AS version,
       current_setting('server_version_num') AS number,
       current_setting('server_encoding') AS encoding;`);
  const { version, number, encoding } = versionRow.parse(first);
  const names = catalogNames(encoding);
  const [[second] = []] = await query(`
SELECT ${names.hexOf('current_database()')} AS database_hex,
       ${names.hexOf('current_user')} AS role_hex,
       pg_is_in_recovery() AS in_recovery, ${WAL_END_SQL} AS wal_end;`);
  const found = row.parse(second);
  return {
    version: version.split(' ')[0]!,
    major: Math.floor(number / 10_000),
    names,
    database: names.show(found.database_hex),
    role: names.show(found.role_hex),
    inRecovery: found.in_recovery === 't',
    walEnd: found.wal_end === null ? undefined : parseLsn(found.wal_end),
  };
}
