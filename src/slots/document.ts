// `pgtail slots --format json`: see schema.ts for its keys.

import { conclusion, inspectionDocument, serverDocument } from '../findings/document.ts';
import { formatLsn, type Lsn } from '../lsn.ts';
import type { SlotsReport } from './report.ts';
import type { DecodingCounters, Slot, SlotSettings } from './slot.ts';
import type { SlotsTrend } from './trend.ts';

/** `trend`: what changed since the last look; without one, rates are left out. */
export function slotsDocument(report: SlotsReport, trend?: SlotsTrend) {
  const { server, settings, slots, findings, unreadable } = report;
  return inspectionDocument('slots', serverDocument(server), {
    settings: settingsDocument(settings),
    ...(trend?.walPerSecond !== undefined && { wal_bytes_per_second: trend.walPerSecond }),
    slots: slots.map((slot) => slotDocument(slot, trend)),
    ...conclusion(findings, unreadable),
  });
}

function settingsDocument(settings: SlotSettings) {
  return known({
    max_replication_slots: settings.maxReplicationSlots,
    max_wal_size_bytes: settings.maxWalSize,
    max_slot_wal_keep_size_bytes: settings.maxSlotWalKeepSize,
    idle_replication_slot_timeout_seconds: settings.idleTimeout,
  });
}

function slotDocument(slot: Slot, trend: SlotsTrend | undefined) {
  const { reader } = slot;
  return known({
    name: slot.name,
    kind: slot.kind,
    plugin: slot.plugin,
    database: slot.database,
    temporary: slot.temporary,
    two_phase: slot.twoPhase,
    failover: slot.failover,
    synced: slot.synced,
    state: stateOf(slot),
    active_pid: reader?.pid,
    application: reader?.application,
    role: reader?.role,
    client_addr: reader?.clientAddress,
    flush_lag_ms: reader?.flushLag,
    inactive_since: slot.inactiveSince,
    invalidation_reason: slot.invalidation,
    wal_status: slot.walStatus,
    restart_lsn: lsnText(slot.restartLsn),
    confirmed_flush_lsn: lsnText(slot.confirmedFlushLsn),
    retained_bytes: slot.retained,
    retained_bytes_per_second: trend?.retainedPerSecond.get(slot.name),
    behind_bytes: slot.behind,
    safe_wal_bytes: slot.safeWal,
    xmin_age: slot.xminAge,
    catalog_xmin_age: slot.catalogXminAge,
    counters: slot.counters && countersDocument(slot.counters),
  });
}

export function stateOf({ invalidation, reader }: Slot): 'invalidated' | 'active' | 'inactive' {
  if (invalidation !== undefined) return 'invalidated';
  return reader === undefined ? 'inactive' : 'active';
}

function countersDocument(counters: DecodingCounters) {
  return {
    spill_txns: counters.spillTransactions,
    spill_count: counters.spillCount,
    spill_bytes: counters.spillBytes,
    stream_txns: counters.streamTransactions,
    stream_count: counters.streamCount,
    stream_bytes: counters.streamBytes,
    total_txns: counters.totalTransactions,
    total_bytes: counters.totalBytes,
  };
}

const lsnText = (lsn: Lsn | undefined): string | undefined =>
  lsn === undefined ? undefined : formatLsn(lsn);

/** Without the keys whose value is not known. */
function known<T extends object>(entries: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(entries).filter(([, value]) => value !== undefined),
  ) as Partial<T>; // the same entries, or fewer
}
