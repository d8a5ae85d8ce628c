// npm run bench:latency: from COMMIT to the row on a pipe, on a server that does nothing else. The
// process that commits reads the pipe, so that there is one clock.

import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import { until } from '../../test/support/until.ts';
import type { Consumer } from '../consumers/consumer.ts';
import { recvlogicalConsumers } from '../consumers/pg-recvlogical.ts';
import { pgtailConsumers } from '../consumers/pgtail.ts';
import { count } from '../measure/count-option.ts';
import { LiveOutput } from '../measure/live-output.ts';
import { machineLine, thisMachine } from '../measure/machine.ts';
import { percentile, rotated } from '../measure/statistics.ts';
import { textTable } from '../measure/text-table.ts';
import {
  type BenchmarkServer,
  startBenchmarkServer,
  withClient,
} from '../server/benchmark-server.ts';
import { prepareDatabase } from '../server/recorded-wal.ts';

const USAGE = `npm run bench:latency -- [OPTIONS]
  --commits N              of each consumer (1000)
  --pgtail-options TEXT    added to pgtail's command line
  --server FOLDER          a PostgreSQL installation with bin/ and lib/
  --json                   results as JSON, the table on standard error
`;

const ROUNDS = 10;
/** Between two commits, in ms: the server and its reader have gone to sleep by then. */
const REST = 5;
/** Commits before those that count: what is run for the first time is slow. */
const WARM_UP = 20;
const SLOT = 'bench_latency';
/** A position that is never reached: pg_recvlogical and pgtail follow. */
const NEVER = 'FFFFFFFF/0';

const { values } = parseArgs({
  options: {
    commits: { type: 'string', default: '1000' },
    'pgtail-options': { type: 'string', default: '' },
    server: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Result {
  readonly consumer: string;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

async function bench(): Promise<void> {
  await using benchmarkServer = await startBenchmarkServer(values.server);
  const pgtailOptions = values['pgtail-options'].split(' ').filter((word) => word !== '');
  const consumers = [
    ...recvlogicalConsumers(benchmarkServer).filter(({ name }) => name === 'recvlogical'),
    ...pgtailConsumers(pgtailOptions).filter(({ name }) => name === 'pgtail'),
  ];
  const able = consumers.filter(({ missing }) => missing === undefined);
  const results = await withClient(benchmarkServer.server, 'postgres', async (client) => {
    await prepareDatabase(client);
    // else the WAL writer flushes it some time later
    await client.query('SET synchronous_commit = on');
    return await latencies(benchmarkServer, client, able, count('commits', values.commits));
  });
  report(results, benchmarkServer);
}

async function latencies(
  benchmarkServer: BenchmarkServer,
  client: Client,
  consumers: readonly Consumer[],
  commits: number,
): Promise<Result[]> {
  const times = new Map<string, number[]>(consumers.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const consumer of rotated(consumers, round)) {
      const part = await roundOf(benchmarkServer, client, consumer, Math.ceil(commits / ROUNDS));
      times.get(consumer.name)!.push(...part);
    }
  }
  return [...times].map(([consumer, all]) => ({
    consumer,
    p50: percentile(all, 50),
    p99: percentile(all, 99),
    max: Math.max(...all),
  }));
}

async function roundOf(
  { server }: BenchmarkServer,
  client: Client,
  consumer: Consumer,
  commits: number,
): Promise<number[]> {
  await client.query("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", [SLOT]);
  const { socketDirectory: host, port, user } = server;
  const place = { host, port, user, database: 'postgres', publication: 'bench' };
  const output = new LiveOutput(consumer.command({ ...place, slot: SLOT, endLsn: NEVER }));
  try {
    const times: number[] = [];
    for (let i = 0; i < WARM_UP + commits; i++) {
      times.push(await latency(client, output, `mark ${i};`));
      await delay(REST);
    }
    return times.slice(WARM_UP);
  } finally {
    await output.stop();
    await dropSlot(client);
  }
}

/** Only the commit counts: the row was made before. */
async function latency(client: Client, output: LiveOutput, mark: string): Promise<number> {
  await client.query('BEGIN');
  await client.query('INSERT INTO bench.mark VALUES ($1)', [mark]);
  const arrival = output.arrival(mark);
  const start = performance.now();
  const [end] = await Promise.all([arrival, client.query('COMMIT')]);
  return end - start;
}

async function dropSlot(client: Client): Promise<void> {
  const DROP = `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
                 WHERE slot_name = $1 AND NOT active`;
  await until(async () => (await client.query(DROP, [SLOT])).rowCount === 1, {
    what: 'the slot to be free',
  });
}

function report(results: readonly Result[], { server }: BenchmarkServer): void {
  const machine = thisMachine(new Date());
  const print = values.json ? process.stderr : process.stdout;
  const lines = results.map(({ consumer, p50, p99, max }) => [
    consumer,
    ...[p50, p99, max].map((ms) => ms.toFixed(2)),
  ]);
  print.write(machineLine(machine));
  print.write(`PostgreSQL ${server.version}, ${values.commits} commits each, Unix socket\n\n`);
  print.write(textTable([['COMMIT to line, ms', 'p50', 'p99', 'max'], ...lines]));
  if (!values.json) return;
  process.stdout.write(
    `${JSON.stringify({ machine, postgres: server.version, results }, null, 2)}\n`,
  );
}

if (values.help) process.stdout.write(USAGE);
else await bench();
