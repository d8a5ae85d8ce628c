// The slot to read: the one asked for, made if wanted, or a temporary one of our own.
// https://www.postgresql.org/docs/current/logicaldecoding-explanation.html

import { EXIT, PgtailError } from '../errors.ts';
import { type Lsn, parseLsn } from '../lsn.ts';
import { createReplicationSlot, quoteLiteral } from './commands.ts';
import { missingSlot, type Preflight } from './preflight.ts';
import { copySlotFailure, createSlotFailure, hasSqlState } from './server-error.ts';
import type { ReplicationSession } from './session.ts';

const DUPLICATE_OBJECT = '42710';

export interface SlotRequest {
  /** Undefined: a temporary slot, gone with the connection. */
  readonly name: string | undefined;
  /** Read a temporary copy of it. */
  readonly peek: boolean;
  /** Create it if it is missing. */
  readonly create: boolean;
  /** The name of a temporary slot. */
  readonly temporaryName: string;
}

export interface ReadySlot {
  readonly name: string;
  readonly temporary: boolean;
  readonly created: boolean;
  /** The slot it is a copy of. */
  readonly copyOf?: string;
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
  const { name, create, peek, temporaryName } = request;
  if (name === undefined) {
    const position = await createSlot(session, temporaryName, true);
    return { name: temporaryName, temporary: true, created: true, position };
  }
  if (found.slot !== undefined) {
    if (peek) return await copySlot(session, name, temporaryName, found.server.major);
    const position = found.slot.confirmedFlushLsn;
    return { name, temporary: false, created: false, position };
  }
  if (!create) throw missingSlot(name);
  const position = await createSlot(session, name, false);
  return { name, temporary: false, created: position !== undefined, position };
}

const FIRST_WITH_COPIES = 12;

/** A temporary copy, which goes with the connection. Works also while somebody reads the slot. */
async function copySlot(
  session: ReplicationSession,
  name: string,
  temporaryName: string,
  serverMajor: number,
): Promise<ReadySlot> {
  if (serverMajor < FIRST_WITH_COPIES) {
    const text = `--peek needs PostgreSQL ${FIRST_WITH_COPIES} or newer, this server is ${serverMajor}`;
    throw new PgtailError(EXIT.notReady, text);
  }
  const names = `${quoteLiteral(name)}, ${quoteLiteral(temporaryName)}`;
  const sql = `SELECT lsn FROM pg_copy_logical_replication_slot(${names}, true)`;
  const position = await copied(session, sql, name);
  return { name: temporaryName, temporary: true, created: true, copyOf: name, position };
}

/** A slot that its reader moves forward at that very moment cannot be copied: XX000. */
const MOVED_MEANWHILE = 'XX000';
const COPY_ATTEMPTS = 5;

async function copied(
  session: ReplicationSession,
  sql: string,
  name: string,
): Promise<Lsn | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      const [rows = []] = await session.query(sql);
      return parseLsn(rows[0]?.lsn ?? '');
    } catch (error) {
      const again = hasSqlState(error, MOVED_MEANWHILE) && attempt < COPY_ATTEMPTS;
      if (!again) throw copySlotFailure(error, name);
    }
  }
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
    const [rows = []] = await session.query(createReplicationSlot({ name, temporary }));
    return parseLsn(rows[0]?.consistent_point ?? '');
  } catch (error) {
    if (hasSqlState(error, DUPLICATE_OBJECT) && !temporary) return undefined;
    throw createSlotFailure(error, name);
  }
}
