// What the role that logged in may do, and how often it may be there at the same time.
// https://www.postgresql.org/docs/current/view-pg-roles.html

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { jsonRow } from './json-rows.ts';

/** How many may be there, and how many are. */
export interface SessionLimit {
  /** Negative: no limit. */
  readonly limit: number;
  /** This session included. */
  readonly used: number;
}

export interface RoleFacts {
  /** The one that logged in: a setting may have made it another since. */
  readonly loginRole: string;
  /** Where the setting `role` comes from, which pg_settings does not show: see Setting.source. */
  readonly roleSettingSource: string;
  readonly isSuperuser: boolean;
  readonly mayReplicate: boolean;
  /** What a setting has made it may use SQL functions on slots. */
  readonly mayUseSlots: boolean;
  /** CREATE on the database, which a new publication needs. */
  readonly mayCreate: boolean;
  /** It sees what sessions of other roles do. */
  readonly readsAllStats: boolean;
  readonly roleSessions: SessionLimit;
  readonly databaseSessions: SessionLimit;
}

const roleRow = z.object({
  login_role_hex: z.string(),
  role_setting_source: z.nullable(z.string()),
  superuser: z.boolean(),
  replication: z.boolean(),
  may_use_slots: z.boolean(),
  may_create: z.boolean(),
  reads_all_stats: z.boolean(),
  role_limit: z.number(),
  role_sessions: z.number(),
  database_limit: z.number(),
  database_sessions: z.number(),
});

/** The most particular one wins. */
const ROLE_SETTING_SQL = `
SELECT CASE WHEN setrole <> 0 AND setdatabase <> 0 THEN 'database user' WHEN setrole <> 0 THEN 'user'
            WHEN setdatabase <> 0 THEN 'database' ELSE 'global' END
FROM pg_db_role_setting
WHERE setrole IN (0, r.oid) AND setdatabase IN (0, d.oid)
  AND EXISTS (SELECT FROM unnest(setconfig) AS config WHERE config LIKE 'role=%')
ORDER BY setrole <> 0 DESC, setdatabase <> 0 DESC LIMIT 1`;

const roleSql = ({ names }: ServerSummary): string => `
SELECT ${names.hexOf('session_user')} AS login_role_hex,
       (${ROLE_SETTING_SQL}) AS role_setting_source, rolsuper AS superuser, rolreplication AS replication,
       (SELECT rolsuper OR rolreplication FROM pg_roles WHERE rolname = current_user) AS may_use_slots,
       has_database_privilege(current_database(), 'CREATE') AS may_create,
       rolsuper OR pg_has_role('pg_read_all_stats', 'USAGE') AS reads_all_stats,
       rolconnlimit AS role_limit, datconnlimit AS database_limit,
       (SELECT count(*) FROM pg_stat_activity AS a WHERE a.usesysid = r.oid) AS role_sessions,
       (SELECT count(*) FROM pg_stat_activity AS a WHERE a.datid = d.oid) AS database_sessions
FROM pg_roles AS r CROSS JOIN pg_database AS d
WHERE rolname = session_user AND datname = current_database()`;

export async function readRole(query: RunQuery, server: ServerSummary): Promise<RoleFacts> {
  const found = await jsonRow(query, roleSql(server), roleRow);
  return {
    loginRole: server.names.show(found.login_role_hex),
    // what no ALTER has set, the client has
    roleSettingSource: found.role_setting_source ?? 'client',
    isSuperuser: found.superuser,
    mayReplicate: found.superuser || found.replication,
    mayUseSlots: found.may_use_slots,
    mayCreate: found.may_create,
    readsAllStats: found.reads_all_stats,
    roleSessions: { limit: found.role_limit, used: found.role_sessions },
    databaseSessions: { limit: found.database_limit, used: found.database_sessions },
  };
}
