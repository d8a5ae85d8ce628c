// npm run bench:startup: how long pgtail takes to begin, beside Node itself and a script that connects.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import { PGTAIL } from '../consumers/pgtail.ts';
import { count } from '../measure/count-option.ts';
import { LiveOutput } from '../measure/live-output.ts';
import { machineLine, thisMachine } from '../measure/machine.ts';
import { measuredRun } from '../measure/measured-run.ts';
import { median, rotated } from '../measure/statistics.ts';
import { textTable } from '../measure/text-table.ts';
import { startBenchmarkServer, withClient } from '../server/benchmark-server.ts';
import { prepareDatabase, recordWal, withSlotCopy } from '../server/recorded-wal.ts';

const USAGE = `npm run bench:startup -- [OPTIONS]
  --runs N            of each program (20)
  --server FOLDER     a PostgreSQL installation with bin/ and lib/
  --check             exit code 1 if a ratio is above its bound, or if --runs is less than 11
  --json              results as JSON, the table on standard error
`;

const CONNECT = fileURLToPath(new URL('../references/connect.mjs', import.meta.url));
const MARK = 'the first change';

/** Fewer runs say too little to fail by. */
const FEWEST_CHECKED_RUNS = 11;
/** How many times as long as the reference it may take. */
const SAYS_SOMETHING_BOUND = 1.5;
const FIRST_CHANGE_BOUND = 3;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    server: { type: 'string' },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** A program, and how its milliseconds are found out. */
interface Contestant {
  readonly name: string;
  /** The one it is compared with. */
  readonly reference: string;
  /** The ratio to the reference that is checked; undefined: it is the reference. */
  readonly bound?: number;
  readonly milliseconds: () => Promise<number>;
}

interface Result {
  readonly name: string;
  readonly reference: string;
  readonly milliseconds: number;
  readonly ratio: number;
  readonly passed: boolean;
}

async function bench(): Promise<void> {
  const runs = count('runs', values.runs);
  if (values.check && runs < FEWEST_CHECKED_RUNS) {
    throw new Error(`--check needs at least ${FEWEST_CHECKED_RUNS} --runs`);
  }
  await using started = await startBenchmarkServer(values.server);
  const folder = mkdtempSync(join(tmpdir(), 'pgtail-bench-'));
  try {
    await withClient(started.server, 'postgres', async (client) => {
      const contestants = [...ending(folder), ...(await connecting(started.server, client))];
      report(await measured(contestants, runs));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Those that only say something, from their start to their end. */
function ending(folder: string): Contestant[] {
  const wall = (args: readonly string[]) => async () => {
    const usage = await measuredRun([process.execPath, ...args], { file: join(folder, 'output') });
    return usage.wall * 1000;
  };
  const reference = 'node -e 0';
  const bound = SAYS_SOMETHING_BOUND;
  return [
    { name: reference, reference, milliseconds: wall(['-e', '0']) },
    { name: 'pgtail --version', reference, bound, milliseconds: wall([PGTAIL, '--version']) },
    { name: 'pgtail --help', reference, bound, milliseconds: wall([PGTAIL, '--help']) },
  ];
}

/** Those that connect, from their start to their first word. */
async function connecting(
  server: { readonly socketDirectory: string; readonly port: number; readonly user: string },
  client: Client,
): Promise<Contestant[]> {
  await prepareDatabase(client);
  const wal = await recordWal(client, 'startup', 1, [`INSERT INTO bench.mark VALUES ('${MARK}')`]);
  const { socketDirectory: host, port, user } = server;
  const script = [CONNECT, host, String(port), user, 'postgres'];
  const login = ['-h', host, '-p', String(port), '-U', user, '-d', 'postgres'];
  const tail = (slot: string): string[] => [
    ...[PGTAIL, ...login, '-S', slot, '-P', wal.publication],
    ...['--format', 'pretty', '--limit', '1'],
  ];
  const reference = 'a script that connects';
  return [
    { name: reference, reference, milliseconds: () => firstWord(script, 'connected') },
    {
      name: 'pgtail to the first change',
      reference,
      bound: FIRST_CHANGE_BOUND,
      milliseconds: () =>
        withSlotCopy(client, wal, 'pgoutput', (slot) => firstWord(tail(slot), MARK)),
    },
  ];
}

async function firstWord(args: readonly string[], word: string): Promise<number> {
  const start = performance.now();
  const output = new LiveOutput([process.execPath, ...args]);
  const end = await output.arrival(word);
  await output.ended();
  return end - start;
}

/** The first run of each does not count: it reads the program from the disk. */
async function measured(contestants: readonly Contestant[], runs: number): Promise<Result[]> {
  const times = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let run = 0; run <= runs; run++) {
    for (const { name, milliseconds } of rotated(contestants, run)) {
      const time = await milliseconds();
      if (run > 0) times.get(name)!.push(time);
    }
  }
  const middle = (name: string): number => median(times.get(name)!);
  return contestants.map(({ name, reference, bound = Number.POSITIVE_INFINITY }) => {
    const milliseconds = middle(name);
    const ratio = milliseconds / middle(reference);
    return { name, reference, milliseconds, ratio, passed: ratio <= bound };
  });
}

function report(results: readonly Result[]): void {
  const machine = thisMachine(new Date());
  const print = values.json ? process.stderr : process.stdout;
  const lines = results.map(({ name, reference, milliseconds, ratio, passed }) => [
    name,
    milliseconds.toFixed(0),
    `${ratio.toFixed(2)} x ${reference}`,
    ...(values.check && !passed ? ['too slow'] : []),
  ]);
  print.write(`${machineLine(machine)}\n${textTable([['', 'ms', 'ratio', ''], ...lines])}`);
  if (values.json) process.stdout.write(`${JSON.stringify({ machine, results }, null, 2)}\n`);
  if (values.check && !results.every(({ passed }) => passed)) process.exitCode = 1;
}

if (values.help) process.stdout.write(USAGE);
else await bench();
