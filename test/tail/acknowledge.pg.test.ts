// What is acknowledged, and that a restart neither loses nor repeats it.

import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectNoHang } from '../support/in-time.ts';
import { OutputPipe } from '../support/output-pipe.ts';
import { type PgtailProcess, runPgtail, startPgtail } from '../support/pgtail.ts';
import { temporaryFolder } from '../support/pty.ts';
import { insertedIds, type Line, lastEnd, linesOf, lsnOf, opsOf, Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** What the next run prints. */
async function rest(shop: Shop): Promise<string> {
  const { code, stdout } = await runPgtail([...shop.args, '--no-follow']);
  expect(code).toBe(0);
  return stdout;
}

/** Tails into a pipe that only the test reads. */
function tailInto(pipe: OutputPipe, args: readonly string[]): PgtailProcess {
  const child = startPgtail(args, { stdout: pipe.writingEnd });
  pipe.handedOver();
  return child;
}

describe.concurrent('a clean stop', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'by %s acknowledges the last transaction printed',
    async (signal) => {
      await using shop = await Shop.open();
      await using child = startPgtail(shop.args);
      await child.started();
      await shop.order(1, 2);
      await shop.order(3);
      await child.output(/"op":"commit"[\s\S]*"op":"commit"/);
      const { code, stdout } = await child.stop(signal);
      expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 2, 3] });
      expect(await shop.confirmed()).toBeGreaterThanOrEqual(lastEnd(stdout));
      await shop.order(4);
      expect(insertedIds(await rest(shop))).toEqual([4]);
    },
  );

  it('acknowledges what went into a file', async () => {
    using folder = temporaryFolder();
    await using shop = await Shop.open();
    await shop.order(1);
    const path = join(folder.path, 'changes.ndjson');
    const args = [...shop.args, '--limit', '1'];
    const child = startPgtail(args, { stdout: openSync(path, 'w') });
    expect(await child.exited).toMatchObject({ code: 0 });
    const written = readFileSync(path, 'utf8');
    expect(opsOf(written)).toEqual(['begin', 'relation', 'insert', 'commit']);
    expect(await shop.confirmed()).toBe(lastEnd(written));
  });

  it('in the middle of a transaction prints it again whole, and what came before not', async () => {
    await using shop = await Shop.open();
    using pipe = new OutputPipe();
    await using child = tailInto(pipe, shop.args);
    await child.started();
    await shop.order(1);
    await shop.orderMany(1001, 101_000, 10);
    await pipe.readUntil(/"id":1001\b/);
    child.kill('SIGTERM');
    const cut = await pipe.readToEnd();
    expect(await child.exited).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('lost'),
    });
    expect(opsOf(cut).filter((op) => op === 'commit')).toHaveLength(1);
    expect(await shop.confirmed()).toBeGreaterThanOrEqual(lastEnd(cut));
    expect(insertedIds(await rest(shop))).toEqual(range(1001, 101_000));
  });

  it('waits a moment for a reader that does not read, and acknowledges less', async () => {
    await using shop = await Shop.open();
    using pipe = new OutputPipe();
    await using child = tailInto(pipe, shop.args);
    await child.started();
    await shop.order(1);
    for (const from of range(1, 8)) await shop.orderMany(from * 1000, from * 1000 + 999, 500);
    await until(() => blocked(child.pid));
    const begun = performance.now();
    child.kill('SIGINT');
    expect(await child.exited).toMatchObject({ code: 0 });
    expectNoHang(performance.now() - begun, 3000);
    const confirmed = await shop.confirmed();
    const commits = linesOf(await pipe.readToEnd()).filter((line) => line.op === 'commit');
    const settled = commits.filter((commit) => lsnOf(commit.end_lsn!) <= confirmed);
    const transactions = [[1], ...range(1, 8).map((n) => range(n * 1000, n * 1000 + 999))];
    expect(commits.length).toBeLessThan(transactions.length);
    expect(insertedIds(await rest(shop))).toEqual(transactions.slice(settled.length).flat());
  });

  it('is cut short by a second signal: exit code 130', async () => {
    await using shop = await Shop.open();
    using pipe = new OutputPipe();
    await using child = tailInto(pipe, shop.args);
    await child.started();
    await shop.orderMany(1, 20_000);
    await until(() => blocked(child.pid));
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect(await child.exited).toMatchObject({ code: 130 });
  });
});

/** Its pipe is full: it has written 64 KiB and waits. */
function blocked(pid: number): boolean {
  const written = /^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1];
  return Number(written) >= 60_000;
}

describe.concurrent('a stop before the stream', () => {
  it('while the slot is in use is exit code 0', async () => {
    await using shop = await Shop.open();
    await using reader = startPgtail(shop.args);
    await reader.started();
    await using child = startPgtail(shop.args);
    await until(async () => {
      const [row] = await shop.database.query<{ count: number }>(
        `SELECT count(*)::int FROM pg_stat_activity
          WHERE datname = current_database() AND backend_type = 'walsender'`,
      );
      return row!.count === 2;
    });
    expect(await child.stop()).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(await reader.stop()).toMatchObject({ code: 0 });
  });

  it('while the server does not answer is exit code 0', async () => {
    await using silent = await SilentServer.start();
    await using child = startPgtail(['-h', '127.0.0.1', '-p', String(silent.port), '-d', 'shop']);
    await silent.reached;
    expect(await child.stop()).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });
});

/** Takes connections and says nothing. */
class SilentServer implements AsyncDisposable {
  readonly reached: Promise<unknown>;
  readonly #server = createServer((socket) => {
    this.#sockets.push(socket);
  });
  readonly #sockets: Socket[] = [];

  constructor() {
    this.reached = once(this.#server, 'connection');
  }

  static async start(): Promise<SilentServer> {
    const silent = new SilentServer();
    silent.#server.listen(0, '127.0.0.1');
    await once(silent.#server, 'listening');
    return silent;
  }

  get port(): number {
    return silentAddress(this.#server).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

const silentAddress = (server: Server): AddressInfo => server.address() as AddressInfo; // on TCP

describe.concurrent('two transactions whose commit records are adjacent', () => {
  /** Interleaved transactions, until two of their commits stand side by side in the WAL. */
  async function adjacentCommits(shop: Shop): Promise<{ lines: Line[]; first: number }> {
    const probe = `${shop.slot}_probe`;
    await shop.createSlot(probe);
    const clerks = [await shop.database.connect(), await shop.database.connect()];
    let id = 0;
    try {
      for (let attempt = 0; attempt < 20; attempt++) {
        for (let pair = 0; pair < 10; pair++) {
          for (const clerk of clerks)
            await clerk.query(`BEGIN; INSERT INTO orders VALUES (${++id})`);
          await Promise.all(clerks.map((clerk) => clerk.query('COMMIT')));
        }
        const peeked = await peek(shop, probe);
        const first = peeked.findIndex((line, i) => line.end_lsn === peeked[i + 1]?.commit_lsn);
        if (first !== -1) return { lines: peeked, first };
      }
      throw new Error('no two commit records became adjacent');
    } finally {
      for (const clerk of clerks) await clerk.end();
    }
  }

  async function peek(shop: Shop, probe: string): Promise<Line[]> {
    const copy = `${probe}_copy`;
    await shop.database.query('SELECT pg_copy_logical_replication_slot($1, $2)', [probe, copy]);
    const args = [...shop.database.options, '-S', copy, '-P', 'shop', '--no-follow'];
    const { stdout } = await runPgtail(args);
    await shop.database.query('SELECT pg_drop_replication_slot($1)', [copy]);
    return linesOf(stdout).filter((line) => line.op === 'commit');
  }

  it('survive a stop between them and a restart', async () => {
    await using shop = await Shop.open();
    const { lines, first } = await adjacentCommits(shop);
    const all = await runPgtail([
      ...shop.args.slice(0, -4),
      '-S',
      `${shop.slot}_probe`,
      '--no-follow',
    ]);
    const ids = insertedIds(all.stdout);
    expect(ids).toHaveLength(lines.length);
    const upTo = await runPgtail([...shop.args, '--limit', String(first + 1)]);
    expect(lastEnd(upTo.stdout)).toBe(lsnOf(lines[first]!.end_lsn!));
    expect(await shop.confirmed()).toBe(lsnOf(lines[first + 1]!.commit_lsn!));
    expect(insertedIds(upTo.stdout)).toEqual(ids.slice(0, first + 1));
    expect(insertedIds(await rest(shop))).toEqual(ids.slice(first + 1));
  });
});

describe.concurrent('kill -9', () => {
  it('loses nothing that was acknowledged, and repeats only what was not', async () => {
    await using shop = await Shop.open();
    await using child = startPgtail([...shop.args, '--status-interval', '0.05']);
    await child.started();
    await shop.order(1);
    await shop.order(2);
    await child.output(/"id":2\b[\s\S]*"op":"commit"/);
    const end = lastEnd(child.stdout);
    await until(async () => (await shop.confirmed()) >= end);
    await shop.orderMany(3, 50_000, 20);
    await child.output(/"id":3\b/);
    expect(await child.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    const again = insertedIds(await rest(shop));
    const committed = opsOf(child.stdout).filter((op) => op === 'commit').length;
    // the big one may have been printed and acknowledged just before the end
    expect(again).toEqual(committed === 3 && again.length === 0 ? [] : range(3, 50_000));
  });
});

describe.concurrent('a pipe', () => {
  it('that ends before its rows are settled leaves them unacknowledged', async () => {
    await using shop = await Shop.open();
    const before = await shop.confirmed();
    using pipe = new OutputPipe();
    await using child = tailInto(pipe, [...shop.args, '--status-interval', '0']);
    await child.started();
    await shop.order(1);
    await pipe.readUntil(/"op":"commit"/);
    pipe.close();
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(await shop.confirmed()).toBeLessThan(lastEnd(pipe.text));
    expect(await shop.confirmed()).toBeGreaterThanOrEqual(before);
    expect(insertedIds(await rest(shop))).toEqual([1]);
  });

  it('acknowledges what was accepted 64 KiB before its end', async () => {
    await using shop = await Shop.open();
    using pipe = new OutputPipe();
    await using child = tailInto(pipe, [...shop.args, '--status-interval', '0']);
    await child.started();
    await shop.order(1);
    for (const from of [1000, 2000, 3000]) await shop.orderMany(from, from + 199, 10);
    await pipe.readUntil(/"id":3199\b[\s\S]*"op":"commit"/);
    pipe.close();
    expect(await child.exited).toMatchObject({ code: 0 });
    const ends = linesOf(pipe.text).flatMap(({ end_lsn }) => (end_lsn ? [lsnOf(end_lsn)] : []));
    const confirmed = await shop.confirmed();
    expect(confirmed).toBeGreaterThanOrEqual(ends[0]!);
    expect(confirmed).toBeLessThan(ends.at(-1)!);
    const again = insertedIds(await rest(shop));
    expect(again.at(-1)).toBe(3199);
    expect(again).not.toContain(1);
  });

  it('acknowledges at the status interval, with its reader still there', async () => {
    await using shop = await Shop.open();
    using pipe = new OutputPipe();
    await using child = tailInto(pipe, [...shop.args, '--status-interval', '0.1']);
    await child.started();
    await shop.order(1);
    const position = await shop.position();
    await until(async () => (await shop.confirmed()) >= position);
    expect(pipe.length).toBe(0); // nobody has read any of it
    expect(await child.stop()).toMatchObject({ code: 0 });
    expect(insertedIds(await pipe.readToEnd())).toEqual([1]);
    expect(insertedIds(await rest(shop))).toEqual([]);
  });
});

describe.concurrent('an idle slot', () => {
  it('moves forward with what is written to tables nobody publishes', async () => {
    await using shop = await Shop.open();
    await shop.database.sql('DROP PUBLICATION shop');
    await shop.database.sql('CREATE TABLE audit (entry text)');
    await shop.database.sql('CREATE PUBLICATION shop FOR TABLE orders');
    const slot = `${shop.slot}_2`;
    const args = [...shop.database.options, '-P', 'shop', '-S', slot, '--create-slot'];
    await using child = startPgtail([...args, '--status-interval', '0.1']);
    await child.started();
    await shop.database.sql(
      `INSERT INTO audit SELECT repeat('x', 100) FROM generate_series(1, 999)`,
    );
    const position = await shop.position();
    await until(async () => {
      const [row] = await shop.database.query<{ lsn: string }>(
        'SELECT confirmed_flush_lsn::text AS lsn FROM pg_replication_slots WHERE slot_name = $1',
        [slot],
      );
      return lsnOf(row!.lsn) >= position;
    });
    expect(await child.stop()).toMatchObject({ code: 0, stdout: '' });
  });
});
