// What a slot costs: the WAL that the server keeps because of it.
// https://www.postgresql.org/docs/current/view-pg-replication-slots.html

import * as z from 'zod/mini';
import { quoteLiteral } from '../walsender/commands.ts';
import type { RunQuery } from './catalog-connection.ts';
import { WAL_END_SQL } from './server-summary.ts';

const row = z.object({ bytes: z.nullable(z.coerce.number()) });

/** In bytes; undefined: there is no such slot, or it keeps none (any more). */
export async function retainedWal(query: RunQuery, slot: string): Promise<number | undefined> {
  const [[found] = []] = await query(`
SELECT pg_wal_lsn_diff(
         ${WAL_END_SQL},
         restart_lsn) AS bytes
FROM pg_replication_slots WHERE slot_name = ${quoteLiteral(slot)};`);
  if (found === undefined) return undefined;
  return row.parse(found).bytes ?? undefined;
}
