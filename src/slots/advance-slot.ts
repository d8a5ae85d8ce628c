// Moves a slot forward without reading what lies between.
// https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-REPLICATION

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { formatLsn, type Lsn, parseLsn } from '../lsn.ts';
import { quoteLiteral } from '../walsender/commands.ts';
import { changeSlotFailure } from '../walsender/server-error.ts';
import type { Slot } from './slot.ts';

const FIRST_WITH_ADVANCE = 11;

/** @throws PgtailError (exit code 4) */
export function checkCanAdvance({ major }: ServerSummary): void {
  if (major >= FIRST_WITH_ADVANCE) return;
  throw new PgtailError(
    EXIT.notReady,
    `slots can be advanced from PostgreSQL ${FIRST_WITH_ADVANCE} on, this server is ${major}`,
    { hint: 'read the slot up to the position instead: pgtail --slot … --end-lsn …' },
  );
}

/**
 * Where the slot stands now. The server would silently stop short at the end of its WAL.
 * @throws PgtailError: exit code 6 if the slot cannot be moved there, 2 if the server is not there yet
 */
export function checkAdvance(slot: Slot, to: Lsn, server: ServerSummary): Lsn {
  const shown = `slot ${JSON.stringify(slot.name)}`;
  if (slot.invalidation !== undefined) {
    throw new PgtailError(EXIT.slot, `${shown} was invalidated (${slot.invalidation})`, {
      hint: 'what it missed cannot be read any more: drop it and make a new one',
    });
  }
  if (slot.kind === 'logical' && slot.database !== server.database) {
    throw new PgtailError(
      EXIT.slot,
      `${shown} belongs to database ${JSON.stringify(slot.database)}`,
      { hint: `connect to it: -d ${slot.database}` },
    );
  }
  const from = positionOf(slot);
  if (from === undefined) {
    throw new PgtailError(EXIT.slot, `${shown} keeps no WAL yet, so it stands nowhere`, {
      hint: 'its position begins with its first reader',
    });
  }
  if (to < from) {
    throw new PgtailError(
      EXIT.slot,
      `position ${formatLsn(to)} is gone: ${shown} stands at ${formatLsn(from)}`,
      { hint: 'a slot only moves forward' },
    );
  }
  checkWritten(to, server);
  return from;
}

/** A physical slot has nothing but the WAL that it keeps. */
const positionOf = ({ kind, confirmedFlushLsn, restartLsn }: Slot): Lsn | undefined =>
  kind === 'logical' ? confirmedFlushLsn : restartLsn;

function checkWritten(to: Lsn, { walEnd }: ServerSummary): void {
  if (walEnd === undefined || to <= walEnd) return;
  throw new PgtailError(
    EXIT.usage,
    `position ${formatLsn(to)} is ahead of the server, whose WAL ends at ${formatLsn(walEnd)}`,
    { hint: 'a slot can be advanced to what is written' },
  );
}

const row = z.object({ end_lsn: z.string() });

/** Returns where it stands then. */
export async function advanceSlot(
  query: RunQuery,
  { role }: ServerSummary,
  name: string,
  to: Lsn,
): Promise<Lsn> {
  const target = `${quoteLiteral(name)}, '${formatLsn(to)}'`;
  const [[found] = []] = await query(
    `SELECT end_lsn FROM pg_replication_slot_advance(${target});`,
  ).catch((error) => {
    throw changeSlotFailure(error, 'advance', name, role);
  });
  return parseLsn(row.parse(found).end_lsn) ?? to;
}

const pidRow = z.object({ pid: z.coerce.number() });

/** Who will do the work, for `cancelBackend`. */
export async function backendPid(query: RunQuery): Promise<number> {
  const [[found] = []] = await query('SELECT pg_backend_pid() AS pid;');
  return pidRow.parse(found).pid;
}

/** What it has moved so far may stay moved. */
export async function cancelBackend(query: RunQuery, pid: number): Promise<void> {
  await query(`SELECT pg_cancel_backend(${pid});`);
}
