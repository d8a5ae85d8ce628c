// What is wrong with a slot, or soon will be.
// https://www.postgresql.org/docs/current/warm-standby.html#STREAMING-REPLICATION-SLOTS

import { type Finding, RELOAD, severityRank } from '../findings/finding.ts';
import { formatCount, formatDuration, formatSize } from '../format/quantities.ts';
import { quoteLiteral } from '../walsender/commands.ts';
import type { Slot, SlotSettings } from './slot.ts';

/** Of what it may keep, or how long it may idle: where a disk, too, is said to be nearly full. */
const LAST_PART = 0.2;

/**
 * Of autovacuum_freeze_max_age, where autovacuum begins to work through whole tables that it cannot
 * freeze: half of it leaves the time to act.
 */
const OLD_XMIN = 0.5;

/** `all`: every slot of the server, which share its settings. */
export function slotFindings(
  slot: Slot,
  settings: SlotSettings,
  all: readonly Slot[],
): readonly Finding[] {
  // nothing else matters for a slot that nobody can read
  const lost = invalidated(slot);
  if (lost !== undefined) return [lost];
  return [
    // each says the worst of what is kept, so one is enough
    closeToBeingLost(slot, settings, all) ??
      inactiveRetainsWal(slot, settings) ??
      activeRetainsWal(slot, settings),
    closeToIdleTimeout(slot, settings),
    holdsXmin(slot, settings),
    holdsCatalogXmin(slot, settings),
  ].filter((finding) => finding !== undefined);
}

/** Lower is worse; the same for every slot without findings. */
export function slotRank(findings: readonly Finding[]): number {
  return Math.min(...findings.map(({ severity }) => severityRank(severity)), 3);
}

function finding(
  slot: Slot,
  id: `slot-${string}`,
  { severity, ...told }: Pick<Finding, 'severity' | 'fact' | 'consequence' | 'fix'>,
): Finding {
  return { id, severity, subject: { kind: 'slot', name: slot.name }, ...told };
}

const shown = ({ name }: Slot): string => `slot ${JSON.stringify(name)}`;

const drop = ({ name }: Slot): string => `SELECT pg_drop_replication_slot(${quoteLiteral(name)});`;

const dropIfUnused = (slot: Slot): string =>
  `${drop(slot)} -- if nobody needs it any more; else start its consumer`;

const DROPPED_ON_PRIMARY =
  'drop it on the primary, which this standby copies it from, and this copy goes too';

function invalidated(slot: Slot): Finding | undefined {
  if (slot.invalidation === undefined) return undefined;
  return finding(slot, 'slot-invalidated', {
    severity: 'error',
    fact: `${shown(slot)} was invalidated (${slot.invalidation}): nobody can read it any more`,
    consequence:
      'its consumer has missed what it had not read yet, and needs a new slot and a new copy of the data',
    fix: [slot.synced ? DROPPED_ON_PRIMARY : drop(slot)],
  });
}

/** WAL is removed at a checkpoint: until then a slot that is too far behind may still catch up. */
function closeToBeingLost(
  slot: Slot,
  settings: SlotSettings,
  all: readonly Slot[],
): Finding | undefined {
  const { maxSlotWalKeepSize: limit } = settings;
  const { safeWal } = slot;
  if (limit === undefined || safeWal === undefined) return undefined;
  const isOver = slot.walStatus === 'unreserved';
  if (!isOver && safeWal > limit * LAST_PART) return undefined;
  const size = `max_slot_wal_keep_size (${formatSize(limit)})`;
  const reader = slot.reader === undefined ? ' and nobody reads it' : '';
  return finding(slot, 'slot-close-to-being-lost', {
    severity: isOver ? 'error' : 'warning',
    fact: isOver
      ? `${shown(slot)} keeps more than ${size}${reader}: the next checkpoint may remove WAL that it needs`
      : `${shown(slot)} keeps ${formatSize(slot.retained ?? 0)} of WAL${reader}: ${formatSize(safeWal)} more, and it is beyond ${size}`,
    consequence: 'then it is invalidated, and its consumer needs a new copy of the data',
    fix: [
      `ALTER SYSTEM SET max_slot_wal_keep_size = '${enoughFor(all, limit)}MB'; -- gains time, if the disk has the room: its consumer must catch up`,
      RELOAD,
    ],
  });
}

const MB = 1024 ** 2;

/** Twice what a slot keeps or may keep, whichever is most: one setting must do for all of them. */
function enoughFor(slots: readonly Slot[], limit: number): number {
  const most = Math.max(limit, ...slots.map(({ retained = 0 }) => retained));
  return Math.ceil((most * 2) / MB);
}

function closeToIdleTimeout(slot: Slot, { idleTimeout }: SlotSettings): Finding | undefined {
  const { inactiveFor } = slot;
  // those that a standby copies are idle there by nature, and exempt
  if (idleTimeout === undefined || inactiveFor === undefined || slot.synced) return undefined;
  if (slot.reader !== undefined || slot.restartLsn === undefined) return undefined;
  if (inactiveFor < idleTimeout * (1 - LAST_PART)) return undefined;
  const limit = `idle_replication_slot_timeout (${formatDuration(idleTimeout * 1000)})`;
  return finding(slot, 'slot-close-to-idle-timeout', {
    severity: 'warning',
    fact: `${shown(slot)} has not been read for ${formatDuration(inactiveFor * 1000)}, of ${limit}`,
    consequence:
      'a checkpoint after that invalidates it, and its consumer needs a new copy of the data',
    fix: [
      `ALTER SYSTEM SET idle_replication_slot_timeout = 0; -- for all slots; or start its consumer`,
      RELOAD,
    ],
  });
}

/** So much WAL a server may keep for itself: what is beyond is kept for the slot. */
const keepsMuch = ({ retained = 0 }: Slot, { maxWalSize }: SlotSettings): boolean =>
  retained > maxWalSize;

const FULL_DISK = 'a full disk stops the whole server';

function inactiveRetainsWal(slot: Slot, settings: SlotSettings): Finding | undefined {
  if (slot.reader !== undefined || !keepsMuch(slot, settings)) return undefined;
  const since =
    slot.inactiveFor === undefined ? '' : `, for ${formatDuration(slot.inactiveFor * 1000)}`;
  const end =
    settings.maxSlotWalKeepSize === undefined ? `without an end: ${FULL_DISK}` : growsTo(settings);
  return finding(slot, 'slot-inactive-retains-wal', {
    severity: 'warning',
    fact: `${shown(slot)} keeps ${formatSize(slot.retained ?? 0)} of WAL and nobody reads it${since}`,
    consequence: `the WAL grows ${end}`,
    fix: [slot.synced ? DROPPED_ON_PRIMARY : dropIfUnused(slot)],
  });
}

const growsTo = ({ maxSlotWalKeepSize = 0 }: SlotSettings): string =>
  `to max_slot_wal_keep_size (${formatSize(maxSlotWalKeepSize)}), then the slot is lost`;

const OPEN_TRANSACTIONS_SQL =
  'SELECT pid::text AS pid, xact_start, state FROM pg_stat_activity WHERE backend_xid IS NOT NULL ' +
  `UNION ALL SELECT gid, prepared, 'prepared' FROM pg_prepared_xacts ORDER BY xact_start`;

function activeRetainsWal(slot: Slot, settings: SlotSettings): Finding | undefined {
  const { reader } = slot;
  if (reader === undefined || !keepsMuch(slot, settings)) return undefined;
  const end = settings.maxSlotWalKeepSize === undefined ? FULL_DISK : growsTo(settings);
  const who = reader.application === undefined ? '' : ` (${reader.application})`;
  const position = slot.kind === 'logical' ? 'confirmed_flush_lsn' : 'restart_lsn';
  return finding(slot, 'slot-active-retains-wal', {
    severity: 'warning',
    fact: `${shown(slot)} keeps ${formatSize(slot.retained ?? 0)} of WAL although PID ${reader.pid}${who} reads it`,
    consequence: `${whyActiveKeeps(slot)}; if the WAL grows: ${end}`,
    fix: [
      `${OPEN_TRANSACTIONS_SQL}; -- end what is open for long`,
      `SELECT ${position} FROM pg_replication_slots WHERE slot_name = ${quoteLiteral(slot.name)}; -- if nothing is: while that stays, the consumer acknowledges nothing; end what keeps it waiting`,
    ],
  });
}

/** A reader that has confirmed most of what is kept is not what keeps it. */
function whyActiveKeeps({ retained = 0, behind = retained }: Slot): string {
  if (behind > retained / 2) {
    return 'its consumer is slow, does not acknowledge, or a transaction is open for long';
  }
  const rest = behind === 0 ? 'all' : `all but ${formatSize(behind)}`;
  return `its consumer has confirmed ${rest} of it: restart_lsn trails, as a transaction is open for long or the server has not moved it yet`;
}

function holdsXmin(slot: Slot, settings: SlotSettings): Finding | undefined {
  const { xminAge: age = 0 } = slot;
  if (age < settings.autovacuumFreezeMaxAge * OLD_XMIN) return undefined;
  return finding(slot, 'slot-holds-xmin', {
    severity: 'warning',
    fact: `${shown(slot)} holds xmin back by ${formatCount(age)} transactions`,
    consequence: `VACUUM removes no row that died since, in any table of the server: tables grow, and transaction ids run out`,
    fix: [dropIfUnused(slot)],
  });
}

function holdsCatalogXmin(slot: Slot, settings: SlotSettings): Finding | undefined {
  const { catalogXminAge: age = 0 } = slot;
  if (age < settings.autovacuumFreezeMaxAge * OLD_XMIN) return undefined;
  return finding(slot, 'slot-holds-catalog-xmin', {
    severity: 'warning',
    fact: `${shown(slot)} holds catalog_xmin back by ${formatCount(age)} transactions`,
    consequence: `VACUUM removes no row of a system catalog that died since: catalogs grow, and transaction ids run out`,
    fix: [slot.synced ? DROPPED_ON_PRIMARY : dropIfUnused(slot)],
  });
}
