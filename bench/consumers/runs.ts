// Runs the consumers of one stretch of WAL in turn, and checks that each of them read all of it.

import { createReadStream, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { measuredRun, type Usage } from '../measure/measured-run.ts';
import { rotated } from '../measure/statistics.ts';
import { type ConnectionKind, hostOf } from '../server/benchmark-server.ts';
import { type RecordedWal, withSlotCopy } from '../server/recorded-wal.ts';
import { SessionCpu } from '../server/server-cpu.ts';
import type { Consumer } from './consumer.ts';

export interface Run extends Usage {
  /** Seconds of CPU time that the server's sessions took; undefined where nobody tells. */
  readonly serverCpu: number | undefined;
  /** Of its output; undefined on a pipe. */
  readonly bytes: number | undefined;
}

/** Where and how the runs of one contest take place. */
export interface Contest {
  readonly server: EmbeddedServer;
  readonly client: Client;
  readonly connection: ConnectionKind;
  readonly wal: RecordedWal;
  /** For the output. */
  readonly folder: string;
}

/** Consumers alternate, and another one begins each round. */
export async function alternatingRuns(
  contest: Contest,
  consumers: readonly Consumer[],
  rounds: number,
  onRun: (consumer: Consumer, run: Run) => void,
): Promise<Map<Consumer, Run[]>> {
  const runs = new Map<Consumer, Run[]>(consumers.map((consumer) => [consumer, []]));
  for (let round = 0; round < rounds; round++) {
    for (const consumer of rotated(consumers, round)) {
      const run = await oneRun(contest, consumer);
      runs.get(consumer)!.push(run);
      onRun(consumer, run);
    }
  }
  return runs;
}

export function oneRun(contest: Contest, consumer: Consumer): Promise<Run> {
  const { client, wal } = contest;
  return withSlotCopy(client, wal, consumer.plugin, (slot) => measure(contest, consumer, slot));
}

async function measure(
  { server, connection, wal, folder }: Contest,
  consumer: Consumer,
  slot: string,
): Promise<Run> {
  const file = join(folder, 'output');
  const command = consumer.command({
    host: hostOf(server, connection),
    port: server.port,
    user: server.user,
    database: 'postgres',
    publication: wal.publication,
    slot,
    endLsn: wal.endLsn,
  });
  const sessions = process.platform === 'linux' ? new SessionCpu(server.pid) : undefined;
  const usage = await measuredRun(command, consumer.piped ? 'pipe' : { file });
  const serverCpu = await sessions?.seconds();
  if (consumer.piped) return { ...usage, serverCpu, bytes: undefined };
  await checkLines(file, consumer, wal.rows);
  const bytes = statSync(file).size;
  rmSync(file);
  return { ...usage, serverCpu, bytes };
}

/** Every consumer writes at least a line a row: one that stopped early must not look fast. */
async function checkLines(file: string, { name }: Consumer, rows: number): Promise<void> {
  let lines = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
    lines += lineFeeds(chunk as Buffer); // no encoding was set
  }
  if (lines < rows) throw new Error(`${name} wrote ${lines} lines for ${rows} rows`);
}

function lineFeeds(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf('\n'); at !== -1; at = chunk.indexOf('\n', at + 1)) count++;
  return count;
}
