// A stop by the user is over within a second whatever the tail is doing, a second one at once; and a
// tail that is stopped as by Ctrl-Z goes on.

import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { expectNoHang } from '../support/in-time.ts';
import { OutputPipe } from '../support/output-pipe.ts';
import { startOwnServer } from '../support/own-server.ts';
import { type PgtailProcess, startPgtail } from '../support/pgtail.ts';
import { temporaryFolder } from '../support/pty.ts';
import type { SharedServer } from '../support/server.ts';
import { insertedIds, type Line, linesOf, Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

let own: EmbeddedServer;
let server: SharedServer;

beforeAll(async () => {
  ({ own, server } = await startOwnServer());
});

afterAll(() => own.stop());

async function expectStopInTime(child: PgtailProcess): Promise<void> {
  const begun = performance.now();
  const { code } = await child.stop();
  expectNoHang(performance.now() - begun, 1000);
  expect(code).toBe(0);
}

function viaProxy(shop: Shop, proxy: FaultProxy, more: readonly string[] = []): PgtailProcess {
  const args = [...shop.args, '-h', '127.0.0.1', '-p', String(proxy.port), '-v', ...more];
  // so patient that nothing but the stop can end an attempt
  return startPgtail(args, { env: { PGSSLMODE: 'disable', PGCONNECT_TIMEOUT: '60' } });
}

/** Nobody can read the publications, so that whoever connects waits for the answer. */
async function lockPublications(shop: Shop): Promise<Client> {
  const clerk = await shop.database.connect();
  await clerk.query('BEGIN; LOCK TABLE pg_publication IN ACCESS EXCLUSIVE MODE');
  return clerk;
}

/** A walsender waits for what `lockPublications` holds. */
async function untilWaiting(clerk: Client): Promise<void> {
  const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'pg_publication'::regclass`;
  await until(async () => (await clerk.query(waiting)).rows.length > 0);
}

/** The tail has asked, and nothing will ever be answered. The lock is held until the clerk leaves. */
async function untilUnheard(shop: Shop, proxy: FaultProxy, child: PgtailProcess): Promise<Client> {
  await child.started();
  const clerk = await lockPublications(shop);
  proxy.cut('reset');
  await untilWaiting(clerk);
  proxy.freeze();
  return clerk;
}

describe('a stop within a second', () => {
  it('while rows come as fast as they can', async () => {
    await using shop = await Shop.open(server);
    await shop.orderMany(1, 300_000, 10);
    await using child = startPgtail(shop.args);
    await child.output(/"id":20\b/);
    await expectStopInTime(child);
    expect(child.stdout).not.toContain('"op":"commit"');
  });

  it('while it connects again and the network swallows that', async () => {
    await using shop = await Shop.open(server);
    await using proxy = await FaultProxy.start(server);
    await using child = viaProxy(shop, proxy);
    await child.started();
    proxy.freeze();
    const before = proxy.connections;
    proxy.cut('reset');
    await until(() => proxy.connections > before, { what: 'another connection' });
    await expectStopInTime(child);
  });

  it('while the server does not answer its questions', async () => {
    await using shop = await Shop.open(server);
    await using child = startPgtail(shop.args);
    await child.started();
    const clerk = await lockPublications(shop);
    await shop.endWalsenders();
    await untilWaiting(clerk);
    await expectStopInTime(child);
    await clerk.end();
  });

  it('while its questions are waited for and the network is cut', async () => {
    await using shop = await Shop.open(server);
    await using proxy = await FaultProxy.start(server);
    await using child = viaProxy(shop, proxy);
    const clerk = await untilUnheard(shop, proxy, child);
    await expectStopInTime(child);
    await clerk.end();
  });

  it('while another consumer reads the slot', async () => {
    await using shop = await Shop.open(server);
    await using reader = startPgtail(shop.args);
    await reader.started();
    await using child = startPgtail(shop.args);
    // its first attempt has failed, and it waits for the next
    const refused = `SELECT FROM pg_stat_activity WHERE backend_type = 'walsender'
      AND state = 'idle' AND query LIKE 'START_REPLICATION%'`;
    await until(async () => (await shop.database.query(refused)).length > 0);
    await expectStopInTime(child);
    expect((await reader.stop()).code).toBe(0);
  });
});

describe('a second signal', () => {
  it('ends at once a tail that waits for an answer: exit code 130', async () => {
    await using shop = await Shop.open(server);
    await using proxy = await FaultProxy.start(server);
    await using child = viaProxy(shop, proxy);
    const clerk = await untilUnheard(shop, proxy, child);
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect(await child.exited).toMatchObject({ code: 130 });
    await clerk.end();
  });
});

/** The ids of the transactions printed whole and not void. */
function standingIds(ndjson: string): unknown[] {
  let open: Line[] = [];
  const ids: unknown[] = [];
  for (const line of linesOf(ndjson)) {
    if (line.op === 'restart' || line.op === 'begin') open = [];
    if (line.op === 'insert') open.push(line);
    if (line.op === 'commit') ids.push(...open.map((each) => each.new?.id));
  }
  return ids;
}

describe('a tail that is stopped as by Ctrl-Z and continued', () => {
  it('loses nothing, although its reader does not read and the server gave it up', async () => {
    await using shop = await Shop.open(server);
    using pipe = new OutputPipe();
    const args = [...shop.args, '--limit', '20001'];
    await using child = startPgtail(args, { stdout: pipe.writingEnd });
    pipe.handedOver();
    await child.started();
    await shop.orderMany(1, 20_000, 400);
    await pipe.readUntil(/"id":1\b/);
    child.kill('SIGSTOP');
    await until(async () => !(await shop.slotIsActive()), { what: 'the server to give it up' });
    await shop.order(20_001);
    child.kill('SIGCONT');
    const text = await pipe.readToEnd();
    expect((await child.exited).code).toBe(0);
    expect(standingIds(text)).toEqual(Array.from({ length: 20_001 }, (_, i) => i + 1));
  });
});

const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

async function untilWritten(path: string, pattern: RegExp): Promise<void> {
  await until(() => pattern.test(read(path)), { what: `${pattern} in the file` });
}

describe('a file that others take turns with', () => {
  it('may be asked for anew before there is a stream', async () => {
    await using shop = await Shop.open(server);
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    const clerk = await lockPublications(shop);
    await using child = startPgtail([...shop.args, '-f', path, '--fsync-interval', '0.05']);
    await untilWaiting(clerk);
    child.kill('SIGHUP');
    await clerk.query('ROLLBACK');
    await clerk.end();
    await child.started();
    await shop.order(1);
    await untilWritten(path, /"op":"commit"/);
    expect((await child.stop()).code).toBe(0);
    expect(insertedIds(read(path))).toEqual([1]);
  });

  it('may be renamed just before the connection is lost: nothing is missing, nor there twice', async () => {
    await using shop = await Shop.open(server);
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await using child = startPgtail([...shop.args, '-f', path, '--fsync-interval', '0.05']);
    await child.started();
    await shop.order(1);
    await untilWritten(path, /"op":"commit"/);
    renameSync(path, `${path}.old`);
    await shop.endWalsenders();
    await child.notice(/connected again/);
    await shop.order(2);
    await untilWritten(path, /"id":2\b[\s\S]*"op":"commit"/);
    child.kill('SIGHUP');
    await shop.order(3);
    await untilWritten(path, /"id":3\b[\s\S]*"op":"commit"/);
    expect((await child.stop()).code).toBe(0);
    expect([read(`${path}.old`), read(path)].map(insertedIds)).toEqual([[1], [2, 3]]);
    const [header] = linesOf(read(path));
    expect(header).toMatchObject({ op: 'pgtail', slot: shop.slot });
  });
});
