// The benchmark on a server: each shape has as many row changes as it says, and runs are checked.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pgtailConsumers } from '../../bench/consumers/pgtail.ts';
import { oneRun } from '../../bench/consumers/runs.ts';
import { liveOptions } from '../../bench/live/options.ts';
import { type Result, ratiosTo } from '../../bench/live/report.ts';
import { withClient } from '../../bench/server/benchmark-server.ts';
import { SHAPES } from '../../bench/server/orders.ts';
import { prepareDatabase, recordWal } from '../../bench/server/recorded-wal.ts';
import { startPrivateServer } from '../support/server.ts';

const COUNT_ROWS = `
  SELECT count(*)::int AS count
    FROM pg_logical_slot_peek_binary_changes($1, $2, NULL,
           'proto_version', '1', 'publication_names', 'bench')
   WHERE substr(data, 1, 1) IN ('I', 'U', 'D')`;

it('loads each shape whole, and gives every run the same stretch of WAL', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pgtail-bench-'));
  await using server = await startPrivateServer();
  try {
    await withClient(server, 'postgres', async (client) => {
      await prepareDatabase(client);
      for (const shape of SHAPES) {
        const wal = await recordWal(client, shape.name, 500, shape.load(500));
        const { rows } = await client.query<{ count: number }>(COUNT_ROWS, [wal.slot, wal.endLsn]);
        expect(rows[0]?.count, shape.name).toBe(500);
        const contest = { server, client, connection: 'socket', wal, folder } as const;
        const [pgtail] = pgtailConsumers([]);
        const first = await oneRun(contest, pgtail!);
        const second = await oneRun(contest, pgtail!);
        expect(second.bytes).toBe(first.bytes);
        expect(first.user + first.system).toBeGreaterThan(0);
        const tooMany = { ...contest, wal: { ...wal, rows: 5000 } };
        await expect(oneRun(tooMany, pgtail!)).rejects.toThrow('for 5000 rows');
      }
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('refuses a shape and a connection that there are not', () => {
  expect(() => liveOptions(['--shapes', 'huge'])).toThrow('no shape "huge"');
  expect(() => liveOptions(['--connection', 'pigeon'])).toThrow('got "pigeon"');
  expect(liveOptions(['--connection', 'both'])?.connections).toEqual(['socket', 'tcp']);
});

it('compares only what read the same shape on the same kind of connection', () => {
  const run = { connection: 'socket', shape: 'one', user: 0, system: 0, peakRss: 0 } as const;
  const rest = { serverCpu: undefined, bytes: undefined, runs: [] };
  const pgtail: Result = { ...run, ...rest, consumer: 'pgtail', wall: 3, cpu: 1 };
  const recvlogical: Result = { ...run, ...rest, consumer: 'recvlogical', wall: 2, cpu: 2 };
  expect(ratiosTo('recvlogical', pgtail, [pgtail, recvlogical])).toEqual({ wall: 1.5, cpu: 0.5 });
  const overTcp: Result = { ...recvlogical, connection: 'tcp' };
  expect(ratiosTo('recvlogical', pgtail, [pgtail, overTcp])).toBeUndefined();
});
