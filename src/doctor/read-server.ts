// What a server is at the moment: how much of what it has is in use, who follows it, what it was told
// about who may come in.
// https://www.postgresql.org/docs/current/view-pg-hba-file-rules.html

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { jsonRow, jsonRows } from './json-rows.ts';

/** A line of pg_hba.conf, or of a file that it includes (16+), that the server does not understand. */
export interface HbaError {
  /** Its path; undefined: the role may not see it. */
  readonly file: string | undefined;
  readonly line: number;
  readonly error: string;
}

export interface ServerState {
  /** Unix time in seconds, by the server's clock. */
  readonly now: number;
  readonly encoding: string;
  readonly slotsUsed: number;
  readonly walsendersUsed: number;
  /** Sessions that are no walsender: nearly what counts against max_connections. */
  readonly sessions: number;
  /** Application names of those that follow as standbys do: one each, also where they are equal. */
  readonly standbys: readonly string[];
  /** There are physical slots, whether somebody reads them or not. */
  readonly hasPhysicalSlots: boolean;
  /** Undefined: the role may not read pg_hba_file_rules. */
  readonly hbaErrors: readonly HbaError[] | undefined;
}

const stateRow = z.object({
  now: z.number(),
  encoding: z.string(),
  slots: z.number(),
  walsenders: z.number(),
  sessions: z.number(),
  physical_slots: z.number(),
  may_read_hba: z.boolean(),
});

/** To a role without privileges pg_stat_replication shows who is there, but not what they do. */
const STATE_SQL = `
SELECT extract(epoch FROM now()) AS now, getdatabaseencoding() AS encoding,
       (SELECT count(*) FROM pg_replication_slots) AS slots,
       (SELECT count(*) FROM pg_replication_slots WHERE slot_type = 'physical') AS physical_slots,
       (SELECT count(*) FROM pg_stat_replication) AS walsenders,
       (SELECT count(*) FROM pg_stat_activity AS a WHERE datid IS NOT NULL
           AND NOT EXISTS (SELECT FROM pg_stat_replication AS r WHERE r.pid = a.pid)) AS sessions,
       has_table_privilege('pg_hba_file_rules', 'SELECT')
       AND has_function_privilege('pg_hba_file_rules()', 'EXECUTE') AS may_read_hba`;

/**
 * A base backup is none, nor the connection of the same name that brings the WAL for it. To a role
 * without privileges the states are NULL.
 */
const standbysSql = ({ names }: ServerSummary): string => `
SELECT ${names.hexOf('application_name')} AS name_hex
FROM pg_stat_replication AS r
WHERE application_name <> '' AND coalesce(state, 'streaming') IN ('streaming', 'catchup')
  AND NOT EXISTS (SELECT FROM pg_stat_replication AS b
                  WHERE b.state = 'backup' AND b.application_name = r.application_name)
  AND NOT EXISTS (SELECT FROM pg_replication_slots AS s
                  WHERE s.active_pid = r.pid AND s.slot_type = 'logical')
ORDER BY 1`;

/** Which file a line is in is told from 16 on; before there is only one. */
const hbaSql = ({ names }: ServerSummary): string => `
SELECT ${names.hexOf("coalesce(to_jsonb(r) ->> 'file_name', s.setting)")} AS file_hex,
       line_number AS line, error
FROM pg_hba_file_rules AS r LEFT JOIN pg_settings AS s ON s.name = 'hba_file'
WHERE error IS NOT NULL ORDER BY line_number`;

const hbaRow = z.object({ file_hex: z.nullable(z.string()), line: z.number(), error: z.string() });

async function readHbaErrors(query: RunQuery, server: ServerSummary): Promise<readonly HbaError[]> {
  const rows = await jsonRows(query, hbaSql(server), hbaRow);
  return rows.map(({ file_hex, line, error }) => ({
    file: file_hex === null ? undefined : server.names.show(file_hex),
    line,
    error,
  }));
}

export async function readServerState(
  query: RunQuery,
  server: ServerSummary,
): Promise<ServerState> {
  const found = await jsonRow(query, STATE_SQL, stateRow);
  const standbys = await jsonRows(query, standbysSql(server), z.object({ name_hex: z.string() }));
  return {
    now: found.now,
    encoding: found.encoding,
    slotsUsed: found.slots,
    walsendersUsed: found.walsenders,
    sessions: found.sessions,
    standbys: standbys.map(({ name_hex }) => server.names.show(name_hex)),
    hasPhysicalSlots: found.physical_slots > 0,
    hbaErrors: found.may_read_hba ? await readHbaErrors(query, server) : undefined,
  };
}
