// All slots of a server as they were at one moment, with what is wrong with them.

import type { RunQuery } from '../catalog/catalog-connection.ts';
import { readServerSummary, type ServerSummary } from '../catalog/server-summary.ts';
import { type Finding, worstFirst } from '../findings/finding.ts';
import { slotFindings, slotRank } from './health.ts';
import { readSlotSettings, readSlots } from './read-slots.ts';
import type { Slot, SlotSettings } from './slot.ts';

export interface SlotsReport {
  readonly server: ServerSummary;
  readonly settings: SlotSettings;
  /** Worst first, then costliest. */
  readonly slots: readonly Slot[];
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** Keys of a slot that the role may not read. */
  readonly unreadable: readonly string[];
}

export async function readSlotsReport(query: RunQuery): Promise<SlotsReport> {
  const server = await readServerSummary(query);
  const settings = await readSlotSettings(query);
  return slotsReport(server, settings, await readSlots(query, server));
}

export function slotsReport(
  server: ServerSummary,
  settings: SlotSettings,
  found: readonly Slot[],
): SlotsReport {
  const findingsOf = new Map(found.map((slot) => [slot, slotFindings(slot, settings, found)]));
  const rank = (slot: Slot): number => slotRank(findingsOf.get(slot)!);
  const slots = found.toSorted(
    (a, b) => rank(a) - rank(b) || (b.retained ?? 0) - (a.retained ?? 0),
  );
  return {
    server,
    settings,
    slots,
    findings: worstFirst(slots.flatMap((slot) => findingsOf.get(slot)!)),
    unreadable: slots.some(({ reader }) => reader?.readable === false) ? READER_KEYS : [],
  };
}

/** What pg_stat_activity and pg_stat_replication show to the same role and to pg_read_all_stats only. */
const READER_KEYS: readonly string[] = ['client_addr', 'flush_lag_ms'];
