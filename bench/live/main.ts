// npm run bench:live: pgtail beside other consumers of the same WAL, on a server of its own.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { Consumer } from '../consumers/consumer.ts';
import { recvlogicalConsumers } from '../consumers/pg-recvlogical.ts';
import { pgtailConsumers } from '../consumers/pgtail.ts';
import { pluginConsumer } from '../consumers/plugin-script.ts';
import { alternatingRuns } from '../consumers/runs.ts';
import { machineLine, thisMachine } from '../measure/machine.ts';
import { bundledScript } from '../references/bundled-script.ts';
import {
  type BenchmarkServer,
  startBenchmarkServer,
  withClient,
} from '../server/benchmark-server.ts';
import type { Shape } from '../server/orders.ts';
import { prepareDatabase, type RecordedWal, recordWal } from '../server/recorded-wal.ts';
import { type LiveOptions, liveOptions, USAGE } from './options.ts';
import { REFERENCES, type Result, ratiosTo, resultOf, resultsTable } from './report.ts';

/** Everything that the contests of one call share. */
interface Arena extends BenchmarkServer {
  readonly options: LiveOptions;
  readonly client: Client;
  readonly consumers: readonly Consumer[];
  readonly folder: string;
  readonly say: (text: string) => void;
}

async function bench(options: LiveOptions): Promise<void> {
  const say = (text: string): void => void process.stderr.write(text);
  const folder = mkdtempSync(join(tmpdir(), 'pgtail-bench-'));
  await using benchmarkServer = await startBenchmarkServer(options.server);
  try {
    const script = await bundledScript('plugin-script.ts', folder);
    const all = [
      ...recvlogicalConsumers(benchmarkServer),
      pluginConsumer(script),
      ...pgtailConsumers(options.pgtailOptions),
    ];
    const consumers = chosen(all, options.consumers, say);
    await withClient(benchmarkServer.server, 'postgres', async (client) => {
      await report({ ...benchmarkServer, options, client, consumers, folder, say });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Those that can run here; the others are named with what they lack. */
function chosen(
  all: readonly Consumer[],
  names: readonly string[] | undefined,
  say: (text: string) => void,
): Consumer[] {
  const unknown = names?.find((name) => !all.some((consumer) => consumer.name === name));
  if (unknown !== undefined) {
    throw new Error(
      `no consumer "${unknown}": there are ${all.map(({ name }) => name).join(', ')}`,
    );
  }
  const wanted = all.filter(({ name }) => names === undefined || names.includes(name));
  for (const { name, missing } of wanted) {
    if (missing !== undefined) say(`without ${name}: ${missing}\n`);
  }
  return wanted.filter(({ missing }) => missing === undefined);
}

async function report(arena: Arena): Promise<void> {
  const { options, server, say } = arena;
  const machine = thisMachine(new Date());
  const table = options.json ? say : (text: string) => void process.stdout.write(text);
  table(machineLine(machine));
  table(`PostgreSQL ${server.version}, ${options.rows} rows, medians of ${options.runs} runs\n`);
  await prepareDatabase(arena.client);
  const results: Result[] = [];
  for (const shape of options.shapes) results.push(...(await shapeResults(arena, shape, table)));
  if (!options.json) return;
  const withRatios = results.map((result) => ({ ...result, ratios: ratiosOf(result, results) }));
  const { rows, runs } = options;
  const postgres = server.version;
  process.stdout.write(
    `${JSON.stringify({ machine, postgres, rows, runs, results: withRatios }, null, 2)}\n`,
  );
}

async function shapeResults(
  arena: Arena,
  shape: Shape,
  table: (text: string) => void,
): Promise<Result[]> {
  const { client, options, say } = arena;
  say(`loading: ${shape.title}\n`);
  const wal = await recordWal(client, shape.name, options.rows, shape.load(options.rows));
  const results: Result[] = [];
  for (const connection of options.connections) {
    const part = await contestResults(arena, shape, wal, connection);
    table(`\n${shape.title}, ${connection}\n${resultsTable(part)}`);
    results.push(...part);
  }
  return results;
}

async function contestResults(
  { server, client, folder, consumers, options, say }: Arena,
  shape: Shape,
  wal: RecordedWal,
  connection: LiveOptions['connections'][number],
): Promise<Result[]> {
  const contest = { server, client, connection, wal, folder };
  const runs = await alternatingRuns(contest, consumers, options.runs, ({ name }, { wall }) =>
    say(`  ${name} ${wall.toFixed(2)} s\n`),
  );
  return [...runs].map(([{ name: consumer }, each]) =>
    resultOf({ connection, shape: shape.name, consumer }, each),
  );
}

function ratiosOf(result: Result, results: readonly Result[]) {
  return Object.fromEntries(REFERENCES.map((name) => [name, ratiosTo(name, result, results)]));
}

const options = liveOptions(process.argv.slice(2));
if (options === undefined) process.stdout.write(USAGE);
else await bench(options);
