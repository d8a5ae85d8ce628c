// A healthy slot and a server's default settings, to be changed in one thing at a time.

import { catalogNames } from '../../src/catalog/catalog-names.ts';
import type { ServerSummary } from '../../src/catalog/server-summary.ts';
import { slotsReport } from '../../src/slots/report.ts';
import type { Slot, SlotReader, SlotSettings } from '../../src/slots/slot.ts';

export const MB = 1024 ** 2;
export const GB = 1024 ** 3;

export const READER: SlotReader = {
  pid: 4711,
  application: 'pgtail',
  role: 'clerk',
  clientAddress: '10.0.0.7',
  flushLag: 12,
  readable: true,
};

export function slot(different: Partial<Slot> = {}): Slot {
  return {
    name: 'audit',
    kind: 'logical',
    plugin: 'pgoutput',
    database: 'shop',
    temporary: false,
    twoPhase: false,
    failover: false,
    synced: false,
    reader: undefined,
    inactiveSince: '2026-11-29T20:36:50.055877+00:00',
    inactiveFor: 60,
    walStatus: 'reserved',
    invalidation: undefined,
    restartLsn: 0x16b3748n,
    confirmedFlushLsn: 0x16b3900n,
    retained: 10 * MB,
    behind: 9 * MB,
    safeWal: undefined,
    xminAge: undefined,
    catalogXminAge: 12,
    counters: undefined,
    ...different,
  };
}

export function settings(different: Partial<SlotSettings> = {}): SlotSettings {
  return {
    maxReplicationSlots: 10,
    maxWalSize: GB,
    maxSlotWalKeepSize: undefined,
    idleTimeout: undefined,
    autovacuumFreezeMaxAge: 200_000_000,
    ...different,
  };
}

export const SERVER: ServerSummary = {
  version: '18.4',
  major: 18,
  names: catalogNames('UTF8'),
  database: 'shop',
  role: 'clerk',
  inRecovery: false,
  walEnd: 0x20b3748n,
};

export const report = (slots: readonly Slot[], different: Partial<SlotSettings> = {}) =>
  slotsReport(SERVER, settings(different), slots);
