// A standby that takes over: the tail goes on behind what was printed, on the new timeline, or says
// what it printed that is no part of the history any more.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { formatLsn } from '../../src/lsn.ts';
import { FaultProxy, type Target } from '../support/fault-proxy.ts';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import { temporaryFolder } from '../support/pty.ts';
import { sharedServer, startPrivateServer } from '../support/server.ts';
import {
  copyData,
  FIRST_WITH_STANDBY_SIGNAL,
  restoreData,
  startStandby,
} from '../support/standby.ts';
import { insertedIds, type Line, linesOf, lsnOf } from '../support/tail.ts';
import { until } from '../support/until.ts';

const { major } = sharedServer();

const FIRST_THAT_DECODES_ON_STANDBY = 16;
const FIRST_WITH_FAILOVER_SLOTS = 17;

const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

async function untilWritten(path: string, pattern: RegExp): Promise<void> {
  await until(() => pattern.test(read(path)), { what: `${pattern} in the file` });
}

async function ask(server: EmbeddedServer, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client(server.connectionConfig());
  client.on('error', () => undefined); // a session that a promotion ends
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

const order = (server: EmbeddedServer, id: number): Promise<unknown> =>
  ask(server, `INSERT INTO orders VALUES (${id})`);

/** Several statements would be one transaction, in which no slot can be made. */
async function startShop(settings: Readonly<Record<string, string>> = {}): Promise<EmbeddedServer> {
  const primary = await startPrivateServer({ wal_sender_timeout: '2s', ...settings });
  await ask(
    primary,
    'CREATE TABLE orders (id int PRIMARY KEY); CREATE PUBLICATION shop FOR ALL TABLES',
  );
  return primary;
}

const createSlot = (server: EmbeddedServer, name = 'tail', more = ''): Promise<unknown> =>
  ask(server, `SELECT pg_create_logical_replication_slot('${name}', 'pgoutput'${more})`);

async function untilReplayed(primary: EmbeddedServer, standby: EmbeddedServer): Promise<void> {
  const [{ lsn } = {}] = await ask(primary, 'SELECT pg_current_wal_lsn()::text AS lsn');
  const sql = `SELECT pg_last_wal_replay_lsn() >= '${lsn}' AS reached`;
  await until(async () => (await ask(standby, sql))[0]?.reached === true, { what: 'the replay' });
}

const promote = (standby: EmbeddedServer): Promise<unknown> => ask(standby, 'SELECT pg_promote()');

/** The options that tail the shop there through the slot. */
const argsAt = ({ host, port }: Target, slot = 'tail'): string[] => [
  ...['-h', host, '-p', String(port), '-U', 'postgres', '-d', 'postgres'],
  ...['-S', slot, '-P', 'shop'],
];

const toFileAt = (path: string): readonly string[] => ['-f', path, '--fsync-interval', '0.05'];

const NO_TLS = { env: { PGSSLMODE: 'disable' } };

const timelinesOf = (file: string): unknown[] =>
  linesOf(file).flatMap(({ op, timeline }: Line) => (op === 'pgtail' ? [timeline] : []));

describe.runIf(major >= FIRST_WITH_FAILOVER_SLOTS)('a primary that dies', () => {
  it('is followed by its standby, with a slot that was synchronized to it', async () => {
    await using primary = await startShop();
    await ask(primary, `SELECT pg_create_physical_replication_slot('standby')`);
    await createSlot(primary, 'tail', ', false, false, true');
    await createSlot(primary, 'pipe', ', false, false, true');
    await using standby = await startStandby(primary, {
      hot_standby_feedback: 'on',
      primary_slot_name: 'standby',
    });
    await using proxy = await FaultProxy.start(primary);
    const here = { host: '127.0.0.1', port: proxy.port };
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await using toFile = startPgtail([...argsAt(here), ...toFileAt(path), '-v'], NO_TLS);
    await using toPipe = startPgtail([...argsAt(here, 'pipe'), '-v'], NO_TLS);
    await Promise.all([toFile.started(), toPipe.started()]);
    await order(primary, 1);
    await untilSynchronized(primary, standby);
    await order(primary, 2);
    await untilWritten(path, /"id":2\b[\s\S]*"op":"commit"/);
    await toPipe.output(/"id":2\b[\s\S]*"op":"commit"/);
    await untilReplayed(primary, standby);

    await primary.crash();
    proxy.retarget(standby);
    await Promise.all([toFile, toPipe].map((child) => child.notice(/standby.*trying to connect/)));
    const early = await runPgtail(argsAt(standby));
    expect(early.code).toBe(4);
    expect(early.stderr).toContain('slot "tail" is the copy that this standby keeps');
    await promote(standby);
    await Promise.all([toFile, toPipe].map((child) => child.reconnected()));
    await order(standby, 3);
    await untilWritten(path, /"id":3\b[\s\S]*"op":"commit"/);
    await toPipe.output(/"id":3\b[\s\S]*"op":"commit"/);

    expect((await toPipe.stop()).code).toBe(0);
    expect(insertedIds(toPipe.stdout)).toEqual([1, 2, 3]);
    expect((await toFile.stop()).code).toBe(0);
    expect(insertedIds(read(path))).toEqual([1, 2, 3]);
    expect(timelinesOf(read(path))).toEqual([1, 2]);
    await order(standby, 4);
    const next = await runPgtail([...argsAt(here), ...toFileAt(path), '--no-follow'], NO_TLS);
    expect(next.code).toBe(0);
    expect(insertedIds(read(path))).toEqual([1, 2, 3, 4]);
  });
});

/** The slots must move first, which takes records of running transactions that come every 15 s. */
async function untilSynchronized(primary: EmbeddedServer, standby: EmbeddedServer): Promise<void> {
  const ready = `SELECT FROM pg_replication_slots WHERE synced AND NOT temporary`;
  await until(
    async () => {
      await ask(primary, 'SELECT pg_log_standby_snapshot()');
      await ask(standby, 'SELECT pg_sync_replication_slots()').catch(() => undefined);
      return (await ask(standby, ready)).length === 2;
    },
    { what: 'the slots on the standby', interval: 100 },
  );
}

describe.runIf(major >= FIRST_THAT_DECODES_ON_STANDBY)('a standby that is read', () => {
  it('goes on as a primary, and a file knows its new timeline', async () => {
    await using primary = await startShop();
    await using standby = await startStandby(primary, { hot_standby_feedback: 'on' });
    for (const name of ['tail', 'brief', 'pipe']) await createSlotOnStandby(primary, standby, name);
    using folder = temporaryFolder();
    const [path, briefPath] = [join(folder.path, 'out.ndjson'), join(folder.path, 'brief.ndjson')];
    await using toFile = startPgtail([...argsAt(standby), ...toFileAt(path), '--no-reconnect']);
    await using brief = startPgtail([...argsAt(standby, 'brief'), ...toFileAt(briefPath)]);
    await using toPipe = startPgtail(argsAt(standby, 'pipe'));
    await Promise.all([toFile, brief, toPipe].map((child) => child.started()));
    await order(primary, 1);
    await untilWritten(path, /"op":"commit"/);
    await promote(standby);
    await order(standby, 2);
    // one is stopped at once, and two find out by themselves
    await untilWritten(briefPath, /"id":2\b[\s\S]*"op":"commit"/);
    expect((await brief.stop()).code).toBe(0);
    await toPipe.output(/"id":2\b[\s\S]*"op":"commit"/);
    await Promise.all([toFile, toPipe].map((child) => child.notice(/the standby was promoted/)));
    await order(standby, 3);
    await untilWritten(path, /"id":3\b[\s\S]*"op":"commit"/);
    await toPipe.output(/"id":3\b[\s\S]*"op":"commit"/);
    expect((await toFile.stop()).code).toBe(0);
    // what was printed since belongs to the timeline that it finds after a restart
    await standby.crash();
    await standby.start();
    await toPipe.reconnected();
    await order(standby, 4);
    await toPipe.output(/"id":4\b[\s\S]*"op":"commit"/);
    expect((await toPipe.stop()).code).toBe(0);
    expect(insertedIds(toPipe.stdout)).toEqual([1, 2, 3, 4]);
    for (const [slot, file] of [
      ['tail', path],
      ['brief', briefPath],
    ] as const) {
      const next = await runPgtail([...argsAt(standby, slot), ...toFileAt(file), '--no-follow']);
      expect(next.code).toBe(0);
      expect(insertedIds(read(file))).toEqual([1, 2, 3, 4]);
      expect(timelinesOf(read(file))).toEqual([1, 2]);
    }
  });
});

/** On a standby it waits for a record of running transactions, which the primary writes now and then. */
async function createSlotOnStandby(
  primary: EmbeddedServer,
  standby: EmbeddedServer,
  name: string,
): Promise<void> {
  let made = false;
  const making = createSlot(standby, name).then(() => {
    made = true;
  });
  await until(
    async () => {
      if (!made) await ask(primary, 'SELECT pg_log_standby_snapshot()');
      return made;
    },
    { what: 'the slot on the standby', interval: 50 },
  );
  await making;
}

describe.runIf(major >= FIRST_WITH_STANDBY_SIGNAL)('a file with more than the server has', () => {
  it('was written from a branch that a promotion has cut off: exit code 6', async () => {
    await using primary = await startShop();
    await createSlot(primary);
    await using standby = await startStandby(primary);
    await using proxy = await FaultProxy.start(primary);
    const here = { host: '127.0.0.1', port: proxy.port };
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await using child = startPgtail([...argsAt(here), ...toFileAt(path)], NO_TLS);
    await child.started();
    await order(primary, 1);
    await untilReplayed(primary, standby);
    await expectNoDecoding(standby);
    await standby.shutDown('fast');
    await order(primary, 2);
    await untilWritten(path, /"id":2\b[\s\S]*"op":"commit"/);
    await primary.crash();
    await standby.start();
    await promote(standby);
    await createSlot(standby);
    proxy.retarget(standby);
    const before = read(path);
    const { code, stderr } = await child.exited;
    expect(code).toBe(6);
    const commit = linesOf(before).findLast(({ op }) => op === 'commit');
    expect(stderr).toMatch(deadBranchUpTo(commit!.end_lsn!));
    // and whoever begins it again is told the same
    const again = await runPgtail([...argsAt(standby), ...toFileAt(path)]);
    expect(again.code).toBe(6);
    expect(again.stderr).toMatch(deadBranchUpTo(commit!.end_lsn!));
    expect(read(path)).toBe(before);
  });

  it('was written before the server was restored from a copy: exit code 6', async () => {
    await using server = await startShop();
    await createSlot(server);
    using folder = temporaryFolder();
    const path = join(folder.path, 'out.ndjson');
    await order(server, 1);
    const copy = join(server.socketDirectory, 'copy');
    await copyData(server, copy);
    await using child = startPgtail([...argsAt(server), ...toFileAt(path)]);
    await child.started();
    await order(server, 2);
    await untilWritten(path, /"id":2\b[\s\S]*"op":"commit"/);
    const before = read(path);
    const end = linesOf(before).findLast(({ op }) => op === 'commit')!.end_lsn!;
    await restoreData(server, copy);
    const { code, stderr } = await child.exited;
    const again = await runPgtail([...argsAt(server), ...toFileAt(path)]);
    expect([code, again.code]).toEqual([6, 6]);
    for (const told of [stderr, again.stderr]) {
      expect(told).toMatch(/the server's WAL ends at [0-9A-F]+\/[0-9A-F]+, before /);
      expect(told).toContain(`before ${formatLsn(lsnOf(end))}, up to which was printed already`);
    }
    expect(read(path)).toBe(before);
  });
});

/** Those of today decode, but do not have the slot. */
async function expectNoDecoding(standby: EmbeddedServer): Promise<void> {
  const { code, stderr } = await runPgtail(argsAt(standby));
  if (major >= FIRST_THAT_DECODES_ON_STANDBY) return expect(code).toBe(6);
  expect(code).toBe(4);
  expect(stderr).toMatch(/the server is a standby[\s\S]*HINT: .*connect to the primary/);
}

const deadBranchUpTo = (end: string): RegExp =>
  new RegExp(
    `timeline 1 was left at \\S+ for timeline 2: what was printed between \\S+ and ${end} is no part`,
  );
