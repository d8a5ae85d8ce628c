// Reads every slot of a server, of whichever kind, with its reader and its costs, in one query.
// https://www.postgresql.org/docs/current/view-pg-replication-slots.html
// https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-PG-STAT-REPLICATION-SLOTS-VIEW

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import { type ServerSummary, WAL_END_SQL } from '../catalog/server-summary.ts';
import { type Lsn, parseLsn } from '../lsn.ts';
import { quoteLiteral } from '../walsender/commands.ts';
import type { DecodingCounters, Slot, SlotReader, SlotSettings } from './slot.ts';

const lsn = z.pipe(
  z._default(z.nullable(z.string()), null),
  z.transform((given: string | null): Lsn | undefined =>
    given === null ? undefined : parseLsn(given),
  ),
);

const flag = z._default(z.nullable(z.boolean()), false);
const text = z._default(z.nullable(z.string()), null);
const number = z._default(z.nullable(z.coerce.number()), null);

/** The columns of pg_replication_slots that this server's version has, whichever they are. */
const slotJson = z.object({
  slot_name: z.string(),
  slot_type: z.enum(['logical', 'physical']),
  plugin: text,
  temporary: flag,
  active: z.boolean(),
  restart_lsn: lsn,
  confirmed_flush_lsn: lsn,
  wal_status: text,
  safe_wal_size: number,
  two_phase: flag,
  failover: flag,
  synced: flag,
  inactive_since: text,
  conflicting: flag,
  invalidation_reason: text,
});

const countersJson = z.object({
  spill_txns: z.number(),
  spill_count: z.number(),
  spill_bytes: z.number(),
  stream_txns: z.number(),
  stream_count: z.number(),
  stream_bytes: z.number(),
  total_txns: z.number(),
  total_bytes: z.number(),
});

const row = z.object({
  slot: z.string(),
  database_hex: text,
  active_pid: number,
  retained: number,
  behind: number,
  xmin_age: number,
  catalog_xmin_age: number,
  inactive_for: number,
  application_hex: text,
  role_hex: text,
  client_addr: text,
  flush_lag: number,
  readable: z.enum(['t', 'f']),
  counters: text,
});

type Row = z.output<typeof row>;

const FIRST_WITH_COUNTERS = 14;
const FIRST_WITH_INACTIVE_SINCE = 17;

/** A name in another database's encoding must not fail the query: those are read as bytes. */
function slotsSql({ major, names }: ServerSummary, only: readonly string[] | undefined): string {
  const hasCounters = major >= FIRST_WITH_COUNTERS;
  const counters = hasCounters ? "(to_jsonb(c) - 'slot_name' - 'stats_reset')::text" : 'NULL';
  const countersJoin = hasCounters
    ? 'LEFT JOIN pg_stat_replication_slots AS c ON c.slot_name = s.slot_name'
    : '';
  const inactiveFor =
    major >= FIRST_WITH_INACTIVE_SINCE ? 'extract(epoch FROM now() - s.inactive_since)' : 'NULL';
  const condition =
    only === undefined ? 'true' : `s.slot_name::text IN (${only.map(quoteLiteral).join(', ')})`;
  return `
SELECT (to_jsonb(s) - 'database')::text AS slot, ${names.hexOf('s.database')} AS database_hex,
       s.active_pid, wal_end - s.restart_lsn AS retained, wal_end - s.confirmed_flush_lsn AS behind,
       age(s.xmin) AS xmin_age, age(s.catalog_xmin) AS catalog_xmin_age,
       ${inactiveFor} AS inactive_for,
       ${names.hexOf('a.application_name')} AS application_hex,
       ${names.hexOf('a.usename')} AS role_hex, host(a.client_addr) AS client_addr,
       extract(epoch FROM r.flush_lag) * 1000 AS flush_lag,
       a.backend_start IS NOT NULL AS readable, ${counters} AS counters
FROM pg_replication_slots AS s
CROSS JOIN (SELECT ${WAL_END_SQL} AS wal_end) AS wal
LEFT JOIN pg_stat_activity AS a ON a.pid = s.active_pid
LEFT JOIN pg_stat_replication AS r ON r.pid = s.active_pid
${countersJoin}
WHERE ${condition}
ORDER BY s.slot_name;`;
}

/** `only` these names; undefined: every slot of the server. By name. */
export async function readSlots(
  query: RunQuery,
  server: ServerSummary,
  only?: readonly string[],
): Promise<readonly Slot[]> {
  const [rows = []] = await query(slotsSql(server, only));
  return rows.map((each) => slotOf(row.parse(each), server));
}

function slotOf(found: Row, { names }: ServerSummary): Slot {
  const slot = slotJson.parse(JSON.parse(found.slot));
  const invalidation = invalidationOf(slot);
  // an invalidated slot holds nothing back any more, wherever it still says that it stands
  const cost = (value: number | null): number | undefined =>
    value === null || invalidation !== undefined ? undefined : Math.max(value, 0);
  return {
    name: slot.slot_name,
    kind: slot.slot_type,
    plugin: slot.plugin ?? undefined,
    database: found.database_hex === null ? undefined : names.show(found.database_hex),
    temporary: slot.temporary ?? false,
    twoPhase: slot.two_phase ?? false,
    failover: slot.failover ?? false,
    synced: slot.synced ?? false,
    reader: slot.active ? readerOf(found, names.show) : undefined,
    inactiveSince: slot.inactive_since ?? undefined,
    inactiveFor: found.inactive_for ?? undefined,
    walStatus: slot.wal_status ?? undefined,
    invalidation,
    restartLsn: slot.restart_lsn,
    confirmedFlushLsn: slot.confirmed_flush_lsn,
    retained: cost(found.retained),
    behind: cost(found.behind),
    // without a position there is nothing to lose, whatever the server computes
    safeWal: slot.restart_lsn === undefined ? undefined : cost(slot.safe_wal_size),
    xminAge: cost(found.xmin_age),
    catalogXminAge: cost(found.catalog_xmin_age),
    counters: found.counters === null ? undefined : countersOf(found.counters),
  };
}

/**
 * 17 names the reason. Before, a slot without its WAL has lost its position too; one in conflict with
 * what a standby replays (16) has not.
 */
function invalidationOf(slot: z.output<typeof slotJson>): string | undefined {
  if (slot.invalidation_reason !== null) return slot.invalidation_reason;
  if (slot.conflicting && slot.restart_lsn !== undefined) return 'conflicting';
  return slot.conflicting || slot.wal_status === 'lost' ? 'wal_removed' : undefined;
}

function readerOf(found: Row, show: (hex: string) => string): SlotReader {
  const { active_pid, application_hex, role_hex, client_addr, flush_lag, readable } = found;
  return {
    pid: active_pid ?? 0,
    application: application_hex ? show(application_hex) : undefined,
    role: role_hex === null ? undefined : show(role_hex),
    clientAddress: client_addr ?? undefined,
    flushLag: flush_lag ?? undefined,
    readable: readable === 't',
  };
}

function countersOf(json: string): DecodingCounters {
  const found = countersJson.parse(JSON.parse(json));
  return {
    spillTransactions: found.spill_txns,
    spillCount: found.spill_count,
    spillBytes: found.spill_bytes,
    streamTransactions: found.stream_txns,
    streamCount: found.stream_count,
    streamBytes: found.stream_bytes,
    totalTransactions: found.total_txns,
    totalBytes: found.total_bytes,
  };
}

const settingRow = z.object({
  name: z.string(),
  setting: z.coerce.number(),
  unit: z.nullable(z.string()),
});

const SETTINGS_SQL = `
SELECT name, setting, unit FROM pg_settings
WHERE name IN ('max_replication_slots', 'max_wal_size', 'max_slot_wal_keep_size',
               'idle_replication_slot_timeout', 'autovacuum_freeze_max_age');`;

/** In bytes, and in seconds. */
const UNITS: Readonly<Record<string, number>> = {
  kB: 1024,
  '8kB': 8192,
  MB: 1024 ** 2,
  '16MB': 16 * 1024 ** 2,
  s: 1,
  min: 60,
};

export async function readSlotSettings(query: RunQuery): Promise<SlotSettings> {
  const [rows = []] = await query(SETTINGS_SQL);
  const settings = new Map(
    rows.map((each) => {
      const { name, setting, unit } = settingRow.parse(each);
      return [name, setting * (UNITS[unit ?? ''] ?? 1)] as const;
    }),
  );
  const limit = settings.get('max_slot_wal_keep_size') ?? -1;
  return {
    maxReplicationSlots: settings.get('max_replication_slots') ?? 0,
    maxWalSize: settings.get('max_wal_size') ?? 0,
    maxSlotWalKeepSize: limit < 0 ? undefined : limit,
    idleTimeout: settings.get('idle_replication_slot_timeout') || undefined,
    autovacuumFreezeMaxAge: settings.get('autovacuum_freeze_max_age') ?? 0,
  };
}
