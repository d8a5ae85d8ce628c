// Large transactions in progress take neither memory nor lasting room on disk. PGTAIL_TEST_LARGE=1
// makes them ten times larger.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MANY_ORDERS, orders } from '../support/many-orders.ts';
import { cleanEnvironment, PGTAIL, startPgtail } from '../support/pgtail.ts';
import { Publisher } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';
import { pressed } from '../support/stream-modes.ts';
import { until } from '../support/until.ts';

const { major } = sharedServer();

const ROWS = process.env.PGTAIL_TEST_LARGE === '1' ? 2_000_000 : 200_000;
const LIMIT_MB = 120;
const DEADLINE = ROWS / 10;

describe.runIf(major >= 14)('a large transaction in progress', () => {
  it.each(['on', 'buffer'])(
    'takes no memory: --streaming %s',
    { timeout: DEADLINE + 60_000 },
    async (mode) => {
      await using shop = await Publisher.open({
        schema: 'CREATE TABLE orders (id int PRIMARY KEY, note text)',
      });
      await shop.commit(
        `INSERT INTO orders SELECT id, 'order ' || id FROM generate_series(1, ${ROWS}) AS id`,
      );
      const { peak, inserts } = await readAndWatch(shop, ['--streaming', mode]);
      if (process.env.PGTAIL_TEST_LARGE === '1') {
        process.stderr.write(`${ROWS} rows, --streaming ${mode}: peak ${peak.toFixed(1)} MB\n`);
      }
      expect(inserts).toBe(ROWS);
      expect(peak).toBeLessThan(LIMIT_MB);
    },
  );

  it('leaves no file behind, though it is killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pgtail-spool-test-'));
    try {
      await using shop = await Publisher.open({ schema: MANY_ORDERS });
      const clerk = await shop.database.connect();
      await using child = startPgtail([...shop.args(), '--streaming', 'buffer'], {
        env: { TMPDIR: folder, PGOPTIONS: '-c logical_decoding_work_mem=64kB' },
      });
      await child.started();
      await clerk.query(`BEGIN; ${orders(1, 9000)}`);
      const kept = await until(() => keptFile(child.pid, folder), { what: 'a file to be kept in' });
      expect(kept.mode & 0o777).toBe(0o600);
      expect(kept.nlink).toBe(0);
      expect(readdirSync(folder)).toEqual([]);
      await child.stop('SIGKILL');
      await clerk.end();
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** Reads all that it prints as it comes: how many rows, and its peak memory in MB. */
async function readAndWatch(
  shop: Publisher,
  options: readonly string[],
): Promise<{ peak: number; inserts: number }> {
  const args = [PGTAIL, ...shop.args(), '--no-follow', '-q', ...options];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: cleanEnvironment(pressed(major, 'memory')),
  });
  let [peak, inserts, rest] = [0, 0, ''];
  for await (const chunk of child.stdout) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line.startsWith('{"op":"insert"')) inserts++;
    peak = Math.max(peak, peakMemory(child.pid!));
  }
  return { peak, inserts };
}

function peakMemory(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0; // it has ended
  }
}

/** A process's open file that was in the folder and has no name any more. */
function keptFile(pid: number, folder: string) {
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    const path = `/proc/${pid}/fd/${fd}`;
    if (/ \(deleted\)$/.test(linkOf(path)) && linkOf(path).startsWith(folder))
      return statSync(path);
  }
  return undefined;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed since
  }
}
