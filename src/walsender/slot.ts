// The slot to read: the one asked for, made if wanted, or a temporary one of our own.
// https://www.postgresql.org/docs/current/logicaldecoding-explanation.html

import { type Lsn, parseLsn } from '../lsn.ts';
import { createReplicationSlot } from './commands.ts';
import { missingSlot, type Preflight } from './preflight.ts';
import { createSlotFailure, hasSqlState } from './server-error.ts';
import type { ReplicationSession } from './session.ts';

const DUPLICATE_OBJECT = '42710';

export interface SlotRequest {
  /** Undefined: a temporary slot, gone with the connection. */
  readonly name: string | undefined;
  /** Create it if it is missing. */
  readonly create: boolean;
  /** The name of a temporary slot. */
  readonly temporaryName: string;
}

export interface ReadySlot {
  readonly name: string;
  readonly temporary: boolean;
  readonly created: boolean;
  /** What it has been acknowledged up to, or where it was made; undefined if nobody told. */
  readonly position: Lsn | undefined;
}

/**
 * A slot that exists has been checked.
 * @throws PgtailError: exit code 6 if it does not exist, 4 if it cannot be created.
 */
export async function prepareSlot(
  session: ReplicationSession,
  request: SlotRequest,
  found: Preflight,
): Promise<ReadySlot> {
  const { name, create, temporaryName } = request;
  if (name === undefined) {
    const position = await createSlot(session, temporaryName, true);
    return { name: temporaryName, temporary: true, created: true, position };
  }
  if (found.slot !== undefined) {
    const position = found.slot.confirmedFlushLsn;
    return { name, temporary: false, created: false, position };
  }
  if (!create) throw missingSlot(name);
  const position = await createSlot(session, name, false);
  return { name, temporary: false, created: position !== undefined, position };
}

/**
 * Waits for every transaction that is open now. Returns where the slot begins; undefined if
 * somebody else was quicker.
 */
async function createSlot(
  session: ReplicationSession,
  name: string,
  temporary: boolean,
): Promise<Lsn | undefined> {
  try {
    const [rows = []] = await session.query(createReplicationSlot(name, temporary));
    return parseLsn(rows[0]?.consistent_point ?? '');
  } catch (error) {
    if (hasSqlState(error, DUPLICATE_OBJECT) && !temporary) return undefined;
    throw createSlotFailure(error, name);
  }
}
