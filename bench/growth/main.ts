// npm run bench:growth: whether a row costs the same in a long stream, and with many tables.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import { recvlogicalConsumers } from '../consumers/pg-recvlogical.ts';
import { pgtailConsumers } from '../consumers/pgtail.ts';
import { alternatingRuns, type Run } from '../consumers/runs.ts';
import { count } from '../measure/count-option.ts';
import { machineLine, thisMachine } from '../measure/machine.ts';
import { median } from '../measure/statistics.ts';
import { textTable } from '../measure/text-table.ts';
import {
  type BenchmarkServer,
  startBenchmarkServer,
  withClient,
} from '../server/benchmark-server.ts';
import { SHAPES, shapeNamed } from '../server/orders.ts';
import { prepareDatabase, type RecordedWal, recordWal } from '../server/recorded-wal.ts';
import { ALL_TABLES, makeRelations, spreadRows } from './relations.ts';

const USAGE = `npm run bench:growth -- [OPTIONS]
  --rows LIST              (10000,100000,1000000,5000000)
  --relations LIST         (1,100,5000)
  --relation-rows N        rows in each run with many relations (100000)
  --shape NAME             of ${SHAPES.map(({ name }) => name).join(',')} (hundreds)
  --runs N                 (3)
  --pgtail-options TEXT    added to pgtail's command line
  --server FOLDER          a PostgreSQL installation with bin/ and lib/
  --json                   results as JSON, the table on standard error
`;

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000,100000,1000000,5000000' },
    relations: { type: 'string', default: '1,100,5000' },
    'relation-rows': { type: 'string', default: '100000' },
    shape: { type: 'string', default: 'hundreds' },
    runs: { type: 'string', default: '3' },
    'pgtail-options': { type: 'string', default: '' },
    server: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Result {
  readonly what: string;
  readonly rows: number;
  readonly consumer: string;
  /** Microseconds of user and system time: all of it, and what goes beyond a run with one row. */
  readonly cpuPerRow: number;
  readonly cpuPerRowAfterStart: number;
  /** Of each row, or relation, beyond those of the run before this one. */
  readonly cpuPerFurther: number | undefined;
  readonly peakRss: number;
}

interface Arena extends BenchmarkServer {
  readonly client: Client;
  readonly folder: string;
}

async function bench(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pgtail-bench-'));
  await using benchmarkServer = await startBenchmarkServer(values.server);
  try {
    const results = await withClient(benchmarkServer.server, 'postgres', async (client) => {
      await prepareDatabase(client);
      await client.query(`CREATE PUBLICATION ${ALL_TABLES} FOR ALL TABLES`);
      return await allResults({ ...benchmarkServer, client, folder });
    });
    report(results, benchmarkServer);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function allResults(arena: Arena): Promise<Result[]> {
  const { client } = arena;
  const shape = shapeNamed(values.shape);
  const one = await recordWal(client, 'start', 1, shapeNamed('one').load(1));
  const start = new Map([...(await runsOf(arena, one))].map(([name, runs]) => [name, cpu(runs)]));
  const rows = new Series('rows', start);
  for (const size of list('rows', values.rows)) {
    say(`${size} rows\n`);
    const wal = await recordWal(client, `rows_${size}`, size, shape.load(size));
    rows.add(size, wal, await runsOf(arena, wal));
  }
  const relations = new Series('relations', start);
  for (const size of list('relations', values.relations)) {
    say(`${size} relations\n`);
    const wal = await spreadWal(client, size);
    relations.add(size, wal, await runsOf(arena, wal));
  }
  return [...rows.results, ...relations.results];
}

async function spreadWal(client: Client, relations: number): Promise<RecordedWal> {
  const rows = count('relation-rows', values['relation-rows']);
  await makeRelations(client, relations);
  const name = `relations_${relations}`;
  return await recordWal(client, name, rows, spreadRows(rows, relations), ALL_TABLES);
}

async function runsOf(
  { server, client, folder, ...place }: Arena,
  wal: RecordedWal,
): Promise<Map<string, readonly Run[]>> {
  const pgtailOptions = values['pgtail-options'].split(' ').filter((word) => word !== '');
  const consumers = [...recvlogicalConsumers(place), ...pgtailConsumers(pgtailOptions)].filter(
    ({ name, missing }) => (name === 'recvlogical' || name === 'pgtail') && missing === undefined,
  );
  const contest = { server, client, connection: 'socket', wal, folder } as const;
  const runs = await alternatingRuns(contest, consumers, count('runs', values.runs), () => {});
  return new Map([...runs].map(([{ name }, each]) => [name, each]));
}

/** The runs of one size after the other. */
class Series {
  readonly results: Result[] = [];
  readonly #what: string;
  /** CPU time of a run with one row, in seconds, by consumer. */
  readonly #start: ReadonlyMap<string, number>;
  readonly #before = new Map<string, { readonly size: number; readonly cpu: number }>();

  constructor(what: string, start: ReadonlyMap<string, number>) {
    this.#what = what;
    this.#start = start;
  }

  add(size: number, { rows }: RecordedWal, runs: ReadonlyMap<string, readonly Run[]>): void {
    for (const [consumer, each] of runs) {
      const all = cpu(each);
      const before = this.#before.get(consumer);
      this.#before.set(consumer, { size, cpu: all });
      this.results.push({
        what: `${size} ${this.#what}`,
        rows,
        consumer,
        cpuPerRow: (all / rows) * 1e6,
        cpuPerRowAfterStart: ((all - this.#start.get(consumer)!) / rows) * 1e6,
        cpuPerFurther: before && ((all - before.cpu) / (size - before.size)) * 1e6,
        peakRss: Math.max(...each.map(({ peakRss }) => peakRss)),
      });
    }
  }
}

const cpu = (runs: readonly Run[]): number => median(runs.map((run) => run.user + run.system));

const list = (option: string, text: string): number[] =>
  text.split(',').map((each) => count(option, each));

const say = (text: string): void => void process.stderr.write(text);

function report(results: readonly Result[], { server }: BenchmarkServer): void {
  const machine = thisMachine(new Date());
  const print = values.json ? process.stderr : process.stdout;
  const lines = results.map((result) => [
    `${result.what}, ${result.consumer}`,
    result.cpuPerRow.toFixed(2),
    result.cpuPerRowAfterStart.toFixed(2),
    result.cpuPerFurther?.toFixed(2) ?? '',
    (result.peakRss / 1e6).toFixed(0),
  ]);
  const heading = ['', 'CPU us/row', 'after start', 'each further', 'RSS MB'];
  print.write(`${machineLine(machine)}PostgreSQL ${server.version}\n\n`);
  print.write(textTable([heading, ...lines]));
  if (!values.json) return;
  process.stdout.write(
    `${JSON.stringify({ machine, postgres: server.version, results }, null, 2)}\n`,
  );
}

if (values.help) process.stdout.write(USAGE);
else await bench();
