// Drops a slot.
// https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-REPLICATION

import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { quoteLiteral } from '../walsender/commands.ts';
import { changeSlotFailure } from '../walsender/server-error.ts';

/** @throws PgtailError, also if somebody else was quicker to read or drop it */
export async function dropSlot(
  query: RunQuery,
  { role }: ServerSummary,
  name: string,
): Promise<void> {
  await query(`SELECT pg_drop_replication_slot(${quoteLiteral(name)});`).catch((error) => {
    throw changeSlotFailure(error, 'drop', name, role);
  });
}
