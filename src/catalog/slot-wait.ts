// What the creation of a slot waits for: every transaction that was open when it began.
// https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-PG-STAT-ACTIVITY-VIEW

import type { ClientConfig } from 'pg';
import * as z from 'zod/mini';
import { type RunQuery, withCatalog } from './catalog-connection.ts';

export type OpenTransaction =
  | {
      readonly kind: 'session';
      readonly pid: number;
      /** Seconds since it began. */
      readonly age: number;
      /** Its latest statement, on one line, without the values in it. */
      readonly query: string;
      /** Its COMMIT waits for a synchronous standby: perhaps for us, once we have the slot. */
      readonly waitsForStandby: boolean;
    }
  | { readonly kind: 'prepared'; readonly gid: string; readonly age: number }
  /** Of a standby: none of its own, but it must learn which are open on its primary. */
  | { readonly kind: 'standby' };

const row = z.object({
  pid: z.nullable(z.coerce.number()),
  gid: z.nullable(z.string()),
  age: z.coerce.number(),
  query: z.nullable(z.string()),
  waits: z.nullable(z.enum(['t', 'f'])),
});

const OLDEST_SQL = `
SELECT pid::text, NULL AS gid, query, began, floor(extract(epoch FROM clock_timestamp() - began)) AS age,
       wait_event = 'SyncRep' AS waits
FROM (SELECT pid, query, xact_start AS began, wait_event FROM pg_stat_activity
      WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()) AS session
UNION ALL
SELECT NULL, gid, NULL, prepared, floor(extract(epoch FROM clock_timestamp() - prepared)), NULL
FROM pg_prepared_xacts
ORDER BY began LIMIT 1;`;

/** The oldest open transaction of the server; undefined: none is open. */
export async function oldestTransaction(query: RunQuery): Promise<OpenTransaction | undefined> {
  const [[found] = []] = await query(OLDEST_SQL);
  if (found === undefined) return undefined;
  const { pid, gid, age, query: text, waits } = row.parse(found);
  if (gid !== null) return { kind: 'prepared', gid, age };
  return {
    kind: 'session',
    pid: pid ?? 0,
    age,
    query: withoutValues(text ?? ''),
    waitsForStandby: waits === 't',
  };
}

const recoveryRow = z.object({ in_recovery: z.enum(['t', 'f']) });

async function whatSlotWaitsFor(query: RunQuery): Promise<OpenTransaction | undefined> {
  const open = await oldestTransaction(query);
  if (open !== undefined) return open;
  const [[found] = []] = await query('SELECT pg_is_in_recovery() AS in_recovery');
  return recoveryRow.parse(found).in_recovery === 't' ? { kind: 'standby' } : undefined;
}

/** A slot whose creation takes longer waits for a transaction: told so often, in ms. */
const TELL_INTERVAL = 2000;

/** While it works, `onSlotWaits` is told of the oldest open transaction again and again. */
export async function tellingSlotWaits<T>(
  config: ClientConfig,
  onSlotWaits: (open: OpenTransaction) => void,
  work: Promise<T>,
): Promise<T> {
  const tell = async (): Promise<void> => {
    const open = await withCatalog(config, whatSlotWaitsFor).catch(() => undefined);
    if (open !== undefined) onSlotWaits(open);
  };
  const interval = setInterval(() => void tell(), TELL_INTERVAL);
  return await work.finally(() => clearInterval(interval));
}

const LONGEST_QUERY = 80;

/** Statements hold the rows of others: only their shape is shown. */
export function withoutValues(sql: string): string {
  const shape = sql
    .replaceAll(/\$([A-Za-z_]\w*)?\$[\s\S]*?(\$\1\$|$)/g, '…')
    .replaceAll(/[eE]?'(?:[^'\\]|''|\\.)*(?:'|$)/gs, '…')
    .replaceAll(/(?<![\w$])\d[\w.]*(?:(?<=[eE])[-+]\d+)?/g, '…')
    .replaceAll(/--.*$|\/\*[\s\S]*?(\*\/|$)/gm, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return shape.length <= LONGEST_QUERY ? shape : `${shape.slice(0, LONGEST_QUERY - 1)}…`;
}
