// The slot that is to be read: whether it can be, by whom it is, and how far behind it stands.
// https://www.postgresql.org/docs/current/view-pg-replication-slots.html

import { type Finding, RELOAD } from '../../findings/finding.ts';
import { formatCounted, formatDuration, formatSize } from '../../format/quantities.ts';
import { slotFindings } from '../../slots/health.ts';
import type { DecodingCounters, Slot, SlotReader } from '../../slots/slot.ts';
import { quoteLiteral } from '../../walsender/commands.ts';
import { type Check, check, quoted } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';
import type { Limits } from '../limits.ts';
import { numberOf } from '../settings.ts';
import { conninfoValue, shellWord } from '../shell.ts';

type SlotCheckFacts = Pick<
  DoctorFacts,
  'request' | 'server' | 'settings' | 'state' | 'slotSettings' | 'slots' | 'slot'
>;

/** None if no slot was asked for: a temporary one would be made. */
export function slotChecks(facts: SlotCheckFacts, limits: Limits): readonly Check[] {
  const { slot, request } = facts;
  if (request.slot === undefined) return [];
  const subject = { kind: 'slot', name: request.slot } as const;
  if (slot === undefined) {
    return [check('slot', subject, `slot ${quoted(request.slot)} does not exist`, missing(facts))];
  }
  const unreadable = cannotBeRead(slot, facts);
  const health = slotFindings(slot, facts.slotSettings, facts.slots);
  // of a slot that is not ours to read nothing else matters
  if (unreadable !== undefined) {
    return [check('slot', subject, positionText(slot, facts), unreadable)];
  }
  if (slot.invalidation !== undefined) {
    return [check('slot', subject, `${shown(slot)} was invalidated`, ...health)];
  }
  return [
    check(
      'slot',
      subject,
      kindText(slot),
      ...health,
      beingRead(slot, facts),
      notFailover(slot, facts),
    ),
    check('slot-position', subject, positionText(slot, facts)),
    ...countersChecks(slot, facts, limits),
  ];
}

const shown = ({ name }: Slot): string => `slot ${quoted(name)}`;

function kindText({ name, plugin, database, twoPhase, failover, temporary }: Slot): string {
  const flags = [
    ...(temporary ? ['temporary'] : []),
    ...(twoPhase ? ['two-phase: prepared transactions are sent when they are prepared'] : []),
    ...(failover ? ['failover'] : []),
  ];
  return `slot ${quoted(name)} uses ${plugin} in database ${quoted(database ?? '')}${flags.map((flag) => `, ${flag}`).join('')}`;
}

/** In time only where the server says it: WAL positions have no clock. */
function positionText(slot: Slot, { slotSettings }: SlotCheckFacts): string {
  const { retained, behind, catalogXminAge, safeWal, reader, inactiveFor } = slot;
  const parts = [
    ...(retained === undefined ? [] : [`keeps ${formatSize(retained)} of WAL (restart_lsn)`]),
    ...(behind === undefined ? [] : [`is ${formatSize(behind)} behind (confirmed_flush_lsn)`]),
    ...(reader?.flushLag === undefined ? [] : [`${formatDuration(reader.flushLag)} in time`]),
    ...(inactiveFor === undefined ? [] : [idleText(inactiveFor, slotSettings.idleTimeout)]),
    ...(safeWal === undefined ? [] : [`lost after ${formatSize(safeWal)} more`]),
    ...(catalogXminAge === undefined
      ? []
      : [`catalog_xmin is ${formatCounted(catalogXminAge, 'transaction')} old`]),
  ];
  return `${shown(slot)} ${parts.join(', ') || 'keeps nothing'}`;
}

/** In seconds. */
function idleText(inactiveFor: number, idleTimeout: number | undefined): string {
  const idle = `not read for ${formatDuration(inactiveFor * 1000)}`;
  return idleTimeout === undefined
    ? idle
    : `${idle} of idle_replication_slot_timeout (${formatDuration(idleTimeout * 1000)})`;
}

function missing({ request }: SlotCheckFacts): Finding {
  const name = request.slot!;
  return {
    id: 'slot-missing',
    severity: 'error',
    subject: { kind: 'slot', name },
    fact: `slot ${quoted(name)} does not exist`,
    consequence:
      'there is nothing to read from; a new slot begins with the changes after it is made',
    fix: [`pgtail slots create ${name}`],
  };
}

/** The first thing that makes reading it impossible whatever else is done. */
function cannotBeRead(slot: Slot, facts: SlotCheckFacts): Finding | undefined {
  return (
    physical(slot) ??
    otherPlugin(slot) ??
    otherDatabase(slot, facts) ??
    copyOfPrimary(slot, facts) ??
    ofAnotherSession(slot)
  );
}

function unusable(
  slot: Slot,
  id: string,
  told: Pick<Finding, 'fact' | 'consequence' | 'fix'>,
): Finding {
  return { id, severity: 'error', subject: { kind: 'slot', name: slot.name }, ...told };
}

const SUFFIX = '_pgtail';
const LONGEST_NAME = 63;

function otherSlot({ name }: Slot): readonly string[] {
  const other = name.slice(0, LONGEST_NAME - SUFFIX.length) + SUFFIX;
  return [`pgtail slots create ${other}`, `export PGTAIL_SLOT=${other} # or -S`];
}

function physical(slot: Slot): Finding | undefined {
  if (slot.kind === 'logical') return undefined;
  return unusable(slot, 'slot-physical', {
    fact: `${shown(slot)} is a physical slot, kept for a standby or a backup`,
    consequence: 'it sends WAL as it is, not changes of rows',
    fix: otherSlot(slot),
  });
}

function otherPlugin(slot: Slot): Finding | undefined {
  if (slot.plugin === 'pgoutput') return undefined;
  return unusable(slot, 'slot-of-other-plugin', {
    fact: `${shown(slot)} uses the output plugin ${quoted(slot.plugin ?? '')}, not pgoutput`,
    consequence: 'what it sends is in another format, for another consumer',
    fix: otherSlot(slot),
  });
}

function otherDatabase(slot: Slot, { server }: SlotCheckFacts): Finding | undefined {
  if (slot.database === server.database) return undefined;
  const database = slot.database ?? '';
  return unusable(slot, 'slot-of-other-database', {
    fact: `${shown(slot)} belongs to database ${quoted(database)}, not to ${quoted(server.database)}`,
    consequence: 'it sends the changes of its own database only, and can be read only there',
    fix: [`export PGDATABASE=${shellWord(database)} # or -d`],
  });
}

function copyOfPrimary(slot: Slot, { server }: SlotCheckFacts): Finding | undefined {
  if (!slot.synced || !server.inRecovery) return undefined;
  return unusable(slot, 'slot-synced', {
    fact: `${shown(slot)} is the copy that this standby keeps of its primary's`,
    consequence: 'it can be read after a promotion, not before',
    fix: ['SELECT pg_promote(); -- if the primary is gone; else connect to the primary'],
  });
}

function ofAnotherSession(slot: Slot): Finding | undefined {
  if (!slot.temporary) return undefined;
  return unusable(slot, 'slot-temporary', {
    fact: `${shown(slot)} is a temporary slot of the session with PID ${slot.reader?.pid ?? 0}`,
    consequence: 'no other session can read it, and it is gone with that session',
    fix: otherSlot(slot),
  });
}

const FIRST_WITH_COPIES = 12;

function beingRead(slot: Slot, { server }: SlotCheckFacts): Finding | undefined {
  const { reader } = slot;
  if (reader === undefined) return undefined;
  return {
    id: 'slot-in-use',
    severity: 'info',
    subject: { kind: 'slot', name: slot.name },
    fact: `${shown(slot)} is being read by ${whoReads(reader)}`,
    consequence: 'a slot has one reader at a time: another one is refused',
    fix: [
      ...(server.major >= FIRST_WITH_COPIES
        ? [`pgtail --peek -S ${slot.name} # looks on, and moves nothing`]
        : []),
      `SELECT pg_terminate_backend(${reader.pid}); -- ends that reader, unless it comes back`,
    ],
  };
}

function whoReads({ pid, application, role, clientAddress, readable }: SlotReader): string {
  const what = application ? `${application}, PID ${pid}` : `PID ${pid}`;
  const as = role === undefined ? '' : `, role ${quoted(role)}`;
  if (!readable) return `${what}${as}`;
  return `${what}${as}, from ${clientAddress ?? 'this machine'}`;
}

const FIRST_WITH_FAILOVER = 17;

function notFailover(slot: Slot, { server, state, request }: SlotCheckFacts): Finding | undefined {
  if (server.major < FIRST_WITH_FAILOVER || slot.failover || server.inRecovery) return undefined;
  if (state.standbys.length === 0 && !state.hasPhysicalSlots) return undefined;
  const session = `dbname=${conninfoValue(request.connection.database)} replication=database`;
  return {
    id: 'slot-not-failover',
    severity: 'info',
    subject: { kind: 'slot', name: slot.name },
    fact: `${shown(slot)} is no failover slot, although the server has ${state.standbys.length > 0 ? 'standbys' : 'a physical slot, as standbys use them'}`,
    consequence: 'after a failover it does not exist on the new primary, and changes are missed',
    fix: [
      `psql ${shellWord(session)} -c 'ALTER_REPLICATION_SLOT ${slot.name} (FAILOVER true)' # while nobody reads it; standbys need sync_replication_slots = on`,
    ],
  };
}

function countersChecks(slot: Slot, facts: SlotCheckFacts, limits: Limits): readonly Check[] {
  const { counters } = slot;
  if (counters === undefined) return [];
  const fact = `${shown(slot)} has decoded ${decodedText(counters)}`;
  const subject = { kind: 'slot', name: slot.name } as const;
  return [check('slot-decoding', subject, fact, spills(slot, facts, limits))];
}

function decodedText(counters: DecodingCounters): string {
  if (counters.totalBytes === 0) return 'nothing yet';
  return `${formatSize(counters.totalBytes)}, ${spilledText(counters)}`;
}

function spilledText(counters: DecodingCounters): string {
  const { spillBytes, spillTransactions, streamBytes, streamTransactions } = counters;
  if (spillBytes === 0 && streamBytes === 0) return 'all of it in memory';
  return `spilled ${formatSize(spillBytes)} of ${formatCounted(spillTransactions, 'transaction')} to disk, streamed ${formatSize(streamBytes)} of ${formatCounted(streamTransactions, 'transaction')}`;
}

const KB = 1024;
const SPILL_PROOF_FACTOR = 4;

function spills(
  slot: Slot,
  { settings }: SlotCheckFacts,
  { muchSpilled }: Limits,
): Finding | undefined {
  const spilled = slot.counters?.spillBytes ?? 0;
  const memory = numberOf(settings, 'logical_decoding_work_mem');
  // `!`: NaN, where a server has no such setting
  if (!(spilled > memory * muchSpilled)) return undefined;
  return {
    id: 'slot-spills',
    severity: 'info',
    subject: { kind: 'slot', name: slot.name },
    fact: `decoding for ${shown(slot)} has written ${formatSize(spilled)} of changes to disk: logical_decoding_work_mem is ${formatSize(memory)}`,
    consequence: 'large transactions are written twice and read again before they are sent',
    fix: [
      `ALTER SYSTEM SET logical_decoding_work_mem = '${(memory / KB) * SPILL_PROOF_FACTOR}kB'; -- for each reader; or read with --streaming buffer`,
      RELOAD,
      `SELECT pg_stat_reset_replication_slot(${quoteLiteral(slot.name)}); -- counts anew`,
    ],
  };
}
