// Connections that are lost, in every way a connection can be: the tail goes on where it was.

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { expectNoHang } from '../support/in-time.ts';
import { startOwnServer } from '../support/own-server.ts';
import { startPgtail } from '../support/pgtail.ts';
import type { SharedServer } from '../support/server.ts';
import { insertedIds, type Line, linesOf, Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

let own: EmbeddedServer;
let server: SharedServer;

beforeAll(async () => {
  ({ own, server } = await startOwnServer());
});

afterAll(() => own.stop());

/** The transactions printed whole, and not void: the ids of their rows. */
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

/** Over a new connection: that of the shop is gone. */
async function insertLater(shop: Shop, id: number): Promise<void> {
  const clerk = await shop.database.connect();
  await clerk.query(`INSERT INTO orders VALUES (${id})`);
  await clerk.end();
}

describe('a tail whose walsender is ended', () => {
  it('goes on behind what was printed, and says so', async () => {
    await using shop = await Shop.open(server);
    await using child = startPgtail(shop.args);
    await child.started();
    await shop.order(1);
    await child.output(/"id":1\b[\s\S]*"op":"commit"/);
    await shop.endWalsenders();
    await child.reconnected();
    await shop.order(2);
    await child.output(/"id":2\b[\s\S]*"op":"commit"/);
    const { code, stdout, stderr } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 2] });
    expect(stderr.split('\n').slice(1, -1)).toEqual([
      'pgtail: the server ended the stream: terminating connection due to administrator command: trying to connect again',
      expect.stringMatching(/^pgtail: connected again, going on behind 0\/[0-9A-F]+$/),
      expect.stringMatching(/^pgtail: slot .+ stays, .+$/),
    ]);
    expect(stdout).not.toContain('"op":"restart"');
  });

  it('voids the transaction that was half printed, and prints it whole', async () => {
    await using shop = await Shop.open(server);
    await using child = startPgtail([...shop.args, '--limit', '20000']);
    child.pauseReading();
    await child.started();
    await shop.order(1);
    await shop.orderMany(2, 20_000, 400);
    // it has read as much as it will before its reader reads
    const blocked = `SELECT FROM pg_stat_activity WHERE wait_event = 'WalSenderWriteData'`;
    await until(async () => (await shop.database.query(blocked)).length > 0);
    await shop.endWalsenders();
    child.resumeReading();
    const { code, stdout } = await child.exited;
    expect(code).toBe(0);
    const restart = linesOf(stdout).filter(({ op }) => op === 'restart');
    expect(restart).toEqual([
      { op: 'restart', after_lsn: expect.any(String), void_xids: [expect.any(Number)] },
    ]);
    expect(standingIds(stdout)).toEqual(Array.from({ length: 20_000 }, (_, i) => i + 1));
  });

  it('keeps its --limit, and what it counted before', async () => {
    await using shop = await Shop.open(server);
    await using child = startPgtail([...shop.args, '--limit', '3']);
    await child.started();
    await shop.order(1, 2);
    await child.output(/"op":"commit"/);
    await shop.endWalsenders();
    await child.reconnected();
    await shop.order(3);
    const { code, stdout } = await child.exited;
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 2, 3] });
  });

  it('marks a gap if somebody else moved the slot meanwhile', async () => {
    await using shop = await Shop.open(server);
    if (shop.database.major < 11) return; // pg_replication_slot_advance
    await using child = startPgtail(shop.args);
    await child.started();
    await shop.order(1);
    await child.output(/"op":"commit"/);
    child.kill('SIGSTOP');
    await shop.endWalsenders();
    await until(async () => !(await shop.slotIsActive()));
    await shop.order(2);
    await shop.database.query('SELECT pg_replication_slot_advance($1, pg_current_wal_lsn())', [
      shop.slot,
    ]);
    child.kill('SIGCONT');
    await child.reconnected();
    await shop.order(3);
    await child.output(/"id":3\b[\s\S]*"op":"commit"/);
    const { code, stdout } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 3] });
    expect(linesOf(stdout).filter(({ op }) => op === 'gap')).toHaveLength(1);
  });

  it('makes a new temporary slot, and marks the gap', async () => {
    await using shop = await Shop.open(server);
    await using child = startPgtail([...shop.database.options, '-P', 'shop']);
    await child.started();
    await shop.order(1);
    await child.output(/"op":"commit"/);
    await shop.endWalsenders();
    await child.reconnected();
    await shop.order(2);
    await child.output(/"id":2\b[\s\S]*"op":"commit"/);
    const { code, stdout } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 2] });
    const lines = linesOf(stdout);
    const first = lines.findIndex(({ op }) => op === 'commit');
    expect(lines[first + 1]).toEqual({
      op: 'gap',
      after_lsn: lines[first]!.end_lsn,
      resumed_at: expect.stringMatching(/^0\/[0-9A-F]+$/),
    });
  });
});

/** A smart shutdown waits for every session that is not a walsender's. */
async function endSessions(): Promise<void> {
  const admin = new Client(own.connectionConfig());
  await admin.connect();
  await admin.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  );
  await admin.end();
}

describe.each([
  ['a smart shutdown', () => own.shutDown('smart')],
  ['a fast shutdown', () => own.shutDown('fast')],
  ['an immediate shutdown', () => own.shutDown('immediate')],
  ['a crash', () => own.crash()],
])('%s of the server', (_, goDown) => {
  it('is waited for, however long it takes', async () => {
    await using shop = await Shop.open(server);
    await using child = startPgtail([...shop.args, '-v']);
    await child.started();
    await shop.order(1);
    await child.output(/"op":"commit"/);
    await endSessions();
    const begun = performance.now();
    await goDown();
    expectNoHang(performance.now() - begun, 5000);
    // refused more than once
    await child.notice(/(cannot connect[\s\S]*){2}/);
    await own.start();
    await child.reconnected();
    await insertLater(shop, 2);
    await child.output(/"id":2\b[\s\S]*"op":"commit"/);
    const { code, stdout } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 2] });
  });
});

describe('a network that is cut without a word', () => {
  it('is noticed by a question that nobody answers', async () => {
    await using shop = await Shop.open(server);
    await using proxy = await FaultProxy.start(server, (payload) => payload);
    const viaProxy = ['-h', '127.0.0.1', '-p', String(proxy.port)];
    await using child = startPgtail([...shop.args, ...viaProxy], {
      env: { PGSSLMODE: 'disable' },
    });
    await child.started();
    await shop.order(1);
    await child.output(/"op":"commit"/);
    proxy.swallow();
    await child.notice(/has not answered for \d+ s|terminating|connection was lost/);
    await shop.order(2);
    await child.output(/"id":2\b[\s\S]*"op":"commit"/);
    const { code, stdout, stderr } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 2] });
    expect(stderr).toMatch(
      /pgtail: the server has not answered for \d+ s: trying to connect again/,
    );
  });
});

describe('a tail that is cut off before its first stream has started', () => {
  it('tells what it reads when it starts at last, and not that it goes on', async () => {
    await using shop = await Shop.open(server);
    await using proxy = await FaultProxy.start(server);
    proxy.resetAt('START_REPLICATION');
    const viaProxy = ['-h', '127.0.0.1', '-p', String(proxy.port)];
    const args = [...shop.args, ...viaProxy, '-v'];
    await using child = startPgtail(args, { env: { PGSSLMODE: 'disable' } });
    await child.started();
    await shop.order(1);
    await child.output(/"op":"commit"/);
    await shop.endWalsenders();
    await child.reconnected();
    const { code, stdout, stderr } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1] });
    expect(stderr.split('\n').slice(0, -1)).toEqual([
      expect.stringMatching(/^pgtail: .*: trying to connect again$/),
      expect.stringMatching(/^pgtail: publication "shop", slot /),
      expect.stringMatching(/^pgtail: from .+, the server's WAL ends at /),
      expect.stringMatching(/^pgtail: .*: trying to connect again$/),
      expect.stringMatching(/^pgtail: connected again, going on behind /),
      expect.stringMatching(/^pgtail: slot .+ stays, /),
    ]);
  });
});

describe('what would not go away by itself ends the tail with its exit code', () => {
  it('a slot that was dropped meanwhile is exit code 6', async () => {
    await using shop = await Shop.open(server);
    await using child = startPgtail(shop.args);
    await child.started();
    await shop.endWalsenders();
    await until(async () => !(await shop.slotIsActive()));
    await shop.database.query('SELECT pg_drop_replication_slot($1)', [shop.slot]);
    const { code, stderr } = await child.exited;
    expect(code).toBe(6);
    expect(stderr).toContain('does not exist');
  });

  it('a publication that was dropped meanwhile is exit code 4', async () => {
    await using shop = await Shop.open(server);
    await using child = startPgtail(shop.args);
    await child.started();
    await shop.database.sql('DROP PUBLICATION shop');
    await shop.endWalsenders();
    const { code, stderr } = await child.exited;
    expect(code).toBe(4);
    expect(stderr).toContain('publication "shop" does not exist');
  });
});

describe('a stop while the server is away', () => {
  it('ends the tail at once', async () => {
    await using shop = await Shop.open(server);
    await using child = startPgtail(shop.args);
    await child.started();
    await own.shutDown('fast');
    await child.notice(/trying to connect again/);
    const begun = performance.now();
    const { code } = await child.stop();
    expectNoHang(performance.now() - begun, 1000);
    expect(code).toBe(0);
    await own.start();
  });
});
