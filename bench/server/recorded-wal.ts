// A stretch of WAL that any number of consumers can read from its beginning to its end.

import type { Client } from 'pg';
import { until } from '../../test/support/until.ts';
import { SCHEMA } from './orders.ts';

/** The slot stands at its beginning and is never read from itself. */
export interface RecordedWal {
  readonly publication: string;
  readonly slot: string;
  /** Behind the last transaction; the next one is a row in bench.mark. */
  readonly endLsn: string;
  /** Row changes in it. */
  readonly rows: number;
}

export async function prepareDatabase(client: Client): Promise<void> {
  await client.query(SCHEMA);
}

/** Makes a slot, the changes, and their end. `load` runs statement by statement. */
export async function recordWal(
  client: Client,
  name: string,
  rows: number,
  load: readonly string[],
  publication = 'bench',
): Promise<RecordedWal> {
  const slot = `bench_${name}`;
  await client.query('TRUNCATE bench.orders');
  await client.query("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", [slot]);
  for (const statement of load) await client.query(statement);
  const { rows: ends } = await client.query<{ lsn: string }>(
    'SELECT pg_current_wal_insert_lsn()::text AS lsn',
  );
  await client.query('INSERT INTO bench.mark VALUES ($1)', [name]);
  // what is written from here on is not what a consumer's run should wait for
  await client.query('CHECKPOINT');
  return { publication, slot, endLsn: ends[0]!.lsn, rows };
}

/** A copy of the slot for the time of `work`, for another output plugin if need be. */
export async function withSlotCopy<T>(
  client: Client,
  { slot }: RecordedWal,
  plugin: string,
  work: (copy: string) => Promise<T>,
): Promise<T> {
  const copy = `${slot}_copy`;
  await client.query('SELECT pg_copy_logical_replication_slot($1, $2, false, $3)', [
    slot,
    copy,
    plugin,
  ]);
  try {
    return await work(copy);
  } finally {
    await dropSlot(client, copy);
  }
}

/** A walsender may notice a little later that its client has gone. */
async function dropSlot(client: Client, slot: string): Promise<void> {
  const IS_FREE = 'SELECT 1 FROM pg_replication_slots WHERE slot_name = $1 AND NOT active';
  await until(async () => (await client.query(IS_FREE, [slot])).rowCount === 1, {
    what: `slot ${slot} to be free`,
  });
  await client.query('SELECT pg_drop_replication_slot($1)', [slot]);
}
