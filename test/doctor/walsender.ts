// A pgtail that reads a slot while the doctor looks at it.

import { startPgtail } from '../support/pgtail.ts';
import type { TestDatabase } from '../support/server.ts';
import { until } from '../support/until.ts';

export interface Tail extends AsyncDisposable {
  /** Of its walsender. */
  readonly pid: number;
}

/** It does not come back when its session is ended. */
export async function startTail(database: TestDatabase, slot: string): Promise<Tail> {
  const tail = startPgtail([...database.options, '-S', slot, '-P', 'shop', '--no-reconnect']);
  await tail.started();
  const pid = await until(async () => {
    const [row] = await database.query<{ active_pid: number | null }>(
      `SELECT active_pid FROM pg_replication_slots WHERE slot_name = $1`,
      [slot],
    );
    return row?.active_pid;
  });
  return { pid, [Symbol.asyncDispose]: () => tail[Symbol.asyncDispose]() };
}
