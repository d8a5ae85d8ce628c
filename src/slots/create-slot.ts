// Makes a slot that stays, on a replication connection as the tail does.
// https://www.postgresql.org/docs/current/protocol-replication.html#PROTOCOL-REPLICATION-CREATE-REPLICATION-SLOT

import { type OpenTransaction, tellingSlotWaits } from '../catalog/slot-wait.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { type Lsn, parseLsn } from '../lsn.ts';
import { createReplicationSlot } from '../walsender/commands.ts';
import { checkRecovery, checkWalLevel, type Preflight } from '../walsender/preflight.ts';
import { createSlotFailure } from '../walsender/server-error.ts';
import type { ReplicationSession } from '../walsender/session.ts';

export interface WantedSlot {
  readonly name: string;
  readonly plugin: string;
  readonly twoPhase: boolean;
  readonly failover: boolean;
}

/** @throws PgtailError (exit code 4) that says why the server cannot make it */
export function checkCanCreate(wanted: WantedSlot, { server, slot }: Preflight): void {
  checkWalLevel(server);
  checkRecovery(server, undefined, undefined);
  checkVersion(wanted, server.major);
  if (slot === undefined) return;
  throw new PgtailError(
    EXIT.notReady,
    `slot ${JSON.stringify(wanted.name)} exists already, for ${slot.plugin ?? 'a standby'}`,
    { hint: `choose another name, or drop it first: pgtail slots drop ${wanted.name}` },
  );
}

const FIRST_WITH_TWO_PHASE = 14;
const FIRST_WITH_PGOUTPUT_TWO_PHASE = 15;
const FIRST_WITH_FAILOVER = 17;

function checkVersion({ plugin, twoPhase, failover }: WantedSlot, major: number): void {
  const needs = (option: string, since: number): void => {
    if (major >= since) return;
    throw new PgtailError(
      EXIT.notReady,
      `${option} needs PostgreSQL ${since} or newer, this server is ${major}`,
    );
  };
  // pgoutput of 14 would take the option, and then ignore it
  const ofPlugin = plugin === 'pgoutput' ? FIRST_WITH_PGOUTPUT_TWO_PHASE : FIRST_WITH_TWO_PHASE;
  if (twoPhase) needs('--two-phase', ofPlugin);
  if (failover) needs('--failover', FIRST_WITH_FAILOVER);
}

/** Waits for every transaction that is open now. Returns its consistent point. */
export async function createSlot(
  session: ReplicationSession,
  wanted: WantedSlot,
  onSlotWaits: (open: OpenTransaction) => void,
): Promise<Lsn> {
  const command = createReplicationSlot({ ...wanted, temporary: false });
  try {
    const creating = session.query(command);
    const [rows = []] = await tellingSlotWaits(session.ordinaryConfig, onSlotWaits, creating);
    return parseLsn(rows[0]?.consistent_point ?? '') ?? 0n;
  } catch (error) {
    throw createSlotFailure(error, wanted.name);
  }
}
