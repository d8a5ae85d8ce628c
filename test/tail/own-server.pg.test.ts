// The tail and a server that nobody else uses: exact positions, timeouts and shutdowns.

import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { expectNoHang, expectWithin } from '../support/in-time.ts';
import { OutputPipe } from '../support/output-pipe.ts';
import { startOwnServer } from '../support/own-server.ts';
import { type PgtailProcess, runPgtail, startPgtail } from '../support/pgtail.ts';
import { startOnTerminal, temporaryFolder } from '../support/pty.ts';
import type { SharedServer } from '../support/server.ts';
import { insertedIds, lastEnd, linesOf, lsnOf, Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

let own: EmbeddedServer;
let server: SharedServer;

beforeAll(async () => {
  ({ own, server } = await startOwnServer());
});

afterAll(() => own.stop());

function tailInto(pipe: OutputPipe, args: readonly string[]): PgtailProcess {
  const child = startPgtail(args, { stdout: pipe.writingEnd });
  pipe.handedOver();
  return child;
}

/** When the server last heard from its walsenders' clients, in ms. */
async function lastReply(shop: Shop): Promise<number> {
  const [row] = await shop.database.query<{ ms: number }>(
    'SELECT (extract(epoch FROM max(reply_time)) * 1000)::float8 AS ms FROM pg_stat_replication',
  );
  return row?.ms ?? 0;
}

/** A line of /proc/PID/status in MiB. */
function memory(pid: number, line: 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${line}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
}

async function setting(shop: Shop, name: string, value: string): Promise<void> {
  await shop.database.sql(`ALTER SYSTEM SET ${name} = '${value}'`);
  await shop.database.sql('SELECT pg_reload_conf()');
  await until(async () => {
    const [row] = await shop.database.query<{ now: string }>('SELECT current_setting($1) AS now', [
      name,
    ]);
    return row?.now === value;
  });
}

it('a stop acknowledges exactly the end of the last transaction printed', async () => {
  await using shop = await Shop.open(server);
  await shop.order(1);
  await shop.order(2, 3);
  const { stdout } = await runPgtail([...shop.args, '--limit', '3']);
  expect(await shop.confirmed()).toBe(lastEnd(stdout));
});

it('a transaction whose commit record touches the last one acknowledged is not lost', async () => {
  await using shop = await Shop.open(server);
  const clerks = [await shop.database.connect(), await shop.database.connect()] as const;
  // A record of the server's own may come between: it writes one every 15 seconds or so.
  for (let id = 1; id < 10; id += 2) {
    await using child = startPgtail(shop.args);
    await child.started();
    for (const [i, clerk] of clerks.entries()) {
      await clerk.query(`BEGIN; INSERT INTO orders VALUES (${id + i})`);
    }
    await clerks[0].query('COMMIT');
    await child.output(/"op":"commit"/);
    const stopped = await child.stop('SIGTERM');
    await clerks[1].query('COMMIT');
    const next = await runPgtail([...shop.args, '--no-follow']);
    expect(insertedIds(stopped.stdout)).toEqual([id]);
    expect(insertedIds(next.stdout)).toEqual([id + 1]);
    const commit = linesOf(next.stdout).find((line) => line.op === 'commit');
    if (lsnOf(commit!.commit_lsn!) === lastEnd(stopped.stdout)) break;
    expect(id, 'five attempts without adjacent commits').toBeLessThan(9);
  }
  for (const clerk of clerks) await clerk.end();
});

it('a reader that stops does not fill the memory, nor lose the connection', async () => {
  await using shop = await Shop.open(server);
  using pipe = new OutputPipe();
  const rows = 200_000;
  const args = [...shop.args, '--limit', String(rows)];
  await using child = tailInto(pipe, args);
  await child.started();
  for (let from = 1; from <= rows; from += 20_000) await shop.orderMany(from, from + 19_999, 400);
  const blockedSince = await lastReply(shop);
  // one and a half times the server's patience
  await until(async () => (await lastReply(shop)) > blockedSince + 3000, { timeout: 12_000 });
  expect(pipe.length).toBe(0);
  const peak = memory(child.pid, 'VmHWM');
  const text = await pipe.readToEnd();
  expect(await child.exited).toMatchObject({ code: 0 });
  expect(peak).toBeLessThan(120);
  expect(insertedIds(text)).toEqual(Array.from({ length: rows }, (_, i) => i + 1));
  expect(await shop.confirmed()).toBe(lastEnd(text));
});

it('a tail that the server disconnects is exit code 1 with --no-reconnect', async () => {
  await using shop = await Shop.open(server);
  await using child = startPgtail([...shop.args, '--no-reconnect']);
  await child.started();
  await shop.order(1);
  await child.output(/"op":"commit"/);
  await shop.database.query('SELECT pg_terminate_backend(pid) FROM pg_stat_replication');
  const { code, stdout, stderr } = await child.exited;
  expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 1, ids: [1] });
  expect(stderr.split('\n').slice(1, -1)).toEqual([
    'pgtail: the server ended the stream: terminating connection due to administrator command',
  ]);
});

it('an idle tail does not hold up a fast shutdown, and says what happened', async () => {
  await using shop = await Shop.open(server);
  using pipe = new OutputPipe();
  await shop.createSlot(`${shop.slot}_2`);
  await shop.createSlot(`${shop.slot}_3`);
  const others = [2, 3].map((n) => [
    ...shop.database.options,
    '-S',
    `${shop.slot}_${n}`,
    '-P',
    'shop',
    '--no-reconnect',
  ]);
  await using onSocket = startPgtail([...shop.args, '--no-reconnect']);
  await using onPipe = tailInto(pipe, others[0]!);
  await using onTerminal = startOnTerminal(others[1]!);
  await Promise.all([
    onSocket.started(),
    onPipe.started(),
    onTerminal.output(/publication "shop"/),
  ]);
  await shop.order(1);
  await Promise.all([onSocket.output(/"op":"commit"/), onTerminal.output(/commit/)]);
  const begun = performance.now();
  await own.shutDown('fast');
  const took = performance.now() - begun;
  await own.start();
  expectNoHang(took, 5000);
  for (const child of [onSocket, onPipe, onTerminal]) {
    const { code, stdout, stderr } = await child.exited;
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(/pgtail: the server ended the stream: .*shutting down/);
  }
  // before 17 a shutdown may forget what was acknowledged last
  const again = await runPgtail([...shop.args, '--no-follow']);
  if (server.major >= 17) expect(insertedIds(again.stdout)).toEqual([]);
});

it('a tail whose reader does not read does not hold up a fast shutdown', async () => {
  await using shop = await Shop.open(server);
  using pipe = new OutputPipe();
  await using child = tailInto(pipe, [...shop.args, '--no-reconnect']);
  await child.started();
  await shop.orderMany(1, 20_000, 400);
  const watching = `SELECT FROM pg_stat_activity
    WHERE application_name = 'pgtail' AND backend_type = 'client backend'`;
  await until(async () => (await shop.database.query(watching)).length > 0);
  const begun = performance.now();
  await own.shutDown('fast');
  const took = performance.now() - begun;
  await own.start();
  expectNoHang(took, 2000);
  await pipe.readToEnd();
  const { code, stderr } = await child.exited;
  expect(code).toBe(1);
  expect(stderr).toMatch(/pgtail: the server ended the stream: .*shutting down/);
  // the transaction was never acknowledged
  const again = await runPgtail([...shop.args, '--no-follow']);
  expect(insertedIds(again.stdout)).toHaveLength(20_000);
});

it('somebody ending the connection that watches for a shutdown does not end the tail', async () => {
  await using shop = await Shop.open(server);
  using pipe = new OutputPipe();
  await using child = tailInto(pipe, [...shop.args, '--limit', '20000']);
  await child.started();
  await shop.orderMany(1, 20_000, 400);
  const watching = `SELECT pid FROM pg_stat_activity
    WHERE application_name = 'pgtail' AND backend_type = 'client backend'`;
  const watch = async (): Promise<number | undefined> =>
    (await shop.database.query<{ pid: number }>(watching))[0]?.pid;
  await until(async () => (await watch()) !== undefined);
  const first = await watch();
  await shop.database.query('SELECT pg_terminate_backend($1)', [first]);
  await until(async () => ![undefined, first].includes(await watch()));
  expect(insertedIds(await pipe.readToEnd())).toHaveLength(20_000);
  expect(await child.exited).toMatchObject({ code: 0 });
});

const addOrder = (shop: Shop): Promise<void> =>
  shop.database.sql('INSERT INTO orders SELECT coalesce(max(id), 0) + 1 FROM orders');

/** Every COMMIT waits for a tail that was started so, on whose output nothing else happens. */
async function expectPromptCommits(shop: Shop, child: PgtailProcess): Promise<void> {
  await child.started();
  await child.notice(/COMMITs on this server wait for this tail/);
  for (let i = 0; i < 10; i++) await expectWithin(1000, () => addOrder(shop));
  expect((await child.stop()).code).toBe(0);
}

/** The default would do for a moment only: an hour shows that nothing waits for it. */
const RARELY = ['--status-interval', '3600'];

it('a commit that waits for the tail waits for no timer: a file on standard output', async () => {
  await using shop = await Shop.open(server);
  using folder = temporaryFolder();
  const file = openSync(join(folder.path, 'out.ndjson'), 'w');
  await using child = startPgtail(shop.args, { stdout: file });
  await child.started();
  await setting(shop, 'synchronous_standby_names', '*');
  await expectWithin(2000, () => addOrder(shop));
  await setting(shop, 'synchronous_standby_names', '');
  expect((await child.stop()).code).toBe(0);
});

it('a new slot that waits for a commit that waits for a standby says so', async () => {
  await using shop = await Shop.open(server);
  await setting(shop, 'synchronous_standby_names', '*');
  const clerk = await shop.database.connect();
  const committing = clerk.query('INSERT INTO orders VALUES (1)');
  await until(async () => {
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    return (await shop.database.query(waiting)).length === 1;
  });
  await using child = startPgtail([...shop.database.options, '-P', 'shop']);
  await child.notice(/its COMMIT waits for a synchronous standby/);
  await setting(shop, 'synchronous_standby_names', '');
  await committing;
  await clerk.end();
  await child.started();
  expect((await child.stop()).code).toBe(0);
});

it('a setting that makes commits wait for the tail is noticed while it runs', async () => {
  await using shop = await Shop.open(server);
  await using child = startPgtail([...shop.args, '--status-interval', '0']);
  await child.started();
  await setting(shop, 'synchronous_standby_names', '*');
  // the first ones wait for it to look again, or for the server to ask
  for (let seen = false; !seen; ) {
    await addOrder(shop);
    seen = child.stderr.includes('COMMITs on this server wait for this tail');
  }
  for (let i = 0; i < 10; i++) await expectWithin(1000, () => addOrder(shop));
  await setting(shop, 'synchronous_standby_names', '');
  expect((await child.stop()).code).toBe(0);
});

it('a commit that waits for the tail waits for no timer: a pipe', async () => {
  await using shop = await Shop.open(server);
  await setting(shop, 'synchronous_standby_names', '*');
  await using child = startPgtail([...shop.args, ...RARELY]);
  await expectPromptCommits(shop, child);
  await setting(shop, 'synchronous_standby_names', '');
});

it('a commit that waits for the tail waits for no timer: a file that is synced', async () => {
  await using shop = await Shop.open(server);
  using folder = temporaryFolder();
  await setting(shop, 'synchronous_standby_names', '*');
  const file = ['-f', join(folder.path, 'out.ndjson'), '--fsync-interval', '3600'];
  await using child = startPgtail([...shop.args, ...RARELY, ...file]);
  await expectPromptCommits(shop, child);
  await setting(shop, 'synchronous_standby_names', '');
});

it('a server that crashes is exit code 1 with --no-reconnect', async () => {
  await using shop = await Shop.open(server);
  await using child = startPgtail([...shop.args, '--no-reconnect']);
  await child.started();
  await own.crash();
  const { code, stderr } = await child.exited;
  await own.start();
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/pgtail: the connection was lost: .+\n$/),
  });
});
