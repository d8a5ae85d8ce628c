// Where the stream starts and stops when the user says so, and a look that moves nothing.

import { describe, expect, it } from 'vitest';
import { formatLsn } from '../../src/lsn.ts';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import { sharedServer } from '../support/server.ts';
import { insertedIds, linesOf, lsnOf, Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const { major } = sharedServer();

/** Three orders, each a transaction, and where each was committed and ended. */
async function threeOrders(shop: Shop): Promise<{ commits: bigint[]; ends: bigint[] }> {
  for (const id of [1, 2, 3]) await shop.order(id);
  const copy = `${shop.slot}_copy`;
  await shop.createSlot(copy);
  const { stdout } = await runPgtail([...shop.args, '--peek', '--no-follow']);
  const lines = linesOf(stdout).filter(({ op }) => op === 'commit');
  return {
    commits: lines.map((line) => lsnOf(line.commit_lsn!)),
    ends: lines.map((line) => lsnOf(line.end_lsn!)),
  };
}

describe.runIf(major >= 12)('--peek', () => {
  it('shows what the slot would show, and leaves it where it is', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const before = await shop.confirmed();
    const peek = await runPgtail([...shop.args, '--peek', '--no-follow']);
    expect(peek.code).toBe(0);
    expect(peek.stderr).toContain(`a copy of slot "${shop.slot}", which does not move`);
    expect(insertedIds(peek.stdout)).toEqual([1]);
    expect(await shop.confirmed()).toBe(before);
    const tail = await runPgtail([...shop.args, '--no-follow']);
    expect(tail.stdout).toBe(peek.stdout);
    const slots = `SELECT FROM pg_replication_slots WHERE database = current_database()`;
    expect(await shop.database.query(slots)).toHaveLength(1);
  });

  it('looks while another consumer reads the slot', async () => {
    await using shop = await Shop.open();
    await using consumer = startPgtail(shop.args);
    await consumer.started();
    await using peek = startPgtail([...shop.args, '--peek']);
    await peek.started();
    await shop.order(1);
    await Promise.all([consumer.output(/"op":"commit"/), peek.output(/"op":"commit"/)]);
    expect((await peek.stop()).code).toBe(0);
    expect((await consumer.stop()).code).toBe(0);
  });

  it('goes on after a lost connection, with a gap if the slot has moved on', async () => {
    await using shop = await Shop.open();
    await using peek = startPgtail([...shop.args, '--peek']);
    await peek.started();
    await shop.order(1);
    await peek.output(/"op":"commit"/);
    const end = `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE temporary
      AND database = current_database()`;
    await shop.database.query(end);
    await peek.notice(/connected again/);
    await shop.order(2);
    await peek.output(/"id":2\b[\s\S]*"op":"commit"/);
    expect(peek.stdout).not.toContain('"op":"gap"');
    // somebody else takes what was shown, and more: the copy cannot begin before that
    peek.kill('SIGSTOP');
    await shop.order(3);
    await runPgtail([...shop.args, '--no-follow']);
    await shop.database.query(end);
    peek.kill('SIGCONT');
    await until(async () => /"op":"gap"|"id":3/.test(peek.stdout));
    await shop.order(4);
    await peek.output(/"id":4\b[\s\S]*"op":"commit"/);
    expect((await peek.stop()).code).toBe(0);
  });

  it.runIf(major >= 15)('keeps the slot’s two-phase', async () => {
    await using shop = await Shop.open();
    const slot = `${shop.slot}_2`;
    await shop.database.query(
      `SELECT pg_create_logical_replication_slot($1, 'pgoutput', false, true)`,
      [slot],
    );
    const gid = `${shop.database.name} seen`;
    await shop.database.sql(`BEGIN; INSERT INTO orders VALUES (1); PREPARE TRANSACTION '${gid}'`);
    const args = [...shop.database.options, '-S', slot, '-P', 'shop', '--peek', '--no-follow'];
    const { stdout } = await runPgtail(args);
    expect(linesOf(stdout).map(({ op }) => op)).toEqual([
      ...['begin_prepare', 'relation', 'insert', 'prepare'],
    ]);
  });

  it.each([
    [['--peek'], 'needs a slot'],
    [['--peek', '-S', 's', '--create-slot'], 'needs a slot that is there already'],
    [['--peek', '-S', 's', '-f', 'x'], 'cannot be used with --file'],
    [['--start-lsn', '0/1'], 'needs a slot'],
    [['--start-lsn', 'x', '-S', 's'], '--start-lsn'],
    [['--idle-timeout', '5', '-S', 's'], '--idle-timeout'],
  ])('and options that make no sense are exit code 2: %j', async (args, message) => {
    const { code, stderr } = await runPgtail(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('--start-lsn', () => {
  it('skips what lies before it, if somebody says yes or only peeks', async () => {
    await using shop = await Shop.open();
    const { ends } = await threeOrders(shop);
    const start = ['--start-lsn', formatLsn(ends[0]!), '--no-follow'];
    const refused = await runPgtail([...shop.args, ...start]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('skips for good');
    for (const option of ['--peek', '--yes']) {
      const { code, stdout, stderr } = await runPgtail([...shop.args, ...start, option, '-q']);
      expect({ code, stderr, ids: insertedIds(stdout) }).toEqual({
        code: 0,
        stderr: '',
        ids: [2, 3],
      });
    }
  });

  it('behind the slot is exit code 6, and ahead of the server 2', async () => {
    await using shop = await Shop.open();
    const { ends } = await threeOrders(shop);
    await runPgtail([...shop.args, '--no-follow']);
    const behind = await runPgtail([...shop.args, '--start-lsn', formatLsn(ends[0]!)]);
    expect(behind.code).toBe(6);
    expect(behind.stderr).toContain('is gone: slot');
    const ahead = await runPgtail([...shop.args, '--start-lsn', 'FFFF/0']);
    expect(ahead.code).toBe(2);
    expect(ahead.stderr).toContain('is ahead of the server');
  });
});

describe('--end-lsn', () => {
  it('is the last commit that is printed, and the next reader goes on behind it', async () => {
    await using shop = await Shop.open();
    const { commits } = await threeOrders(shop);
    const first = await runPgtail([...shop.args, '--end-lsn', formatLsn(commits[1]!)]);
    expect({ code: first.code, ids: insertedIds(first.stdout) }).toEqual({ code: 0, ids: [1, 2] });
    const second = await runPgtail([...shop.args, '--no-follow']);
    expect(insertedIds(second.stdout)).toEqual([3]);
  });

  it('between two commits stops before the second, unacknowledged', async () => {
    await using shop = await Shop.open();
    const { commits } = await threeOrders(shop);
    const { stdout } = await runPgtail([...shop.args, '--end-lsn', formatLsn(commits[1]! - 1n)]);
    expect(insertedIds(stdout)).toEqual([1]);
    expect(await shop.confirmed()).toBeLessThanOrEqual(commits[1]!);
  });

  it('in the future is waited for', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const end = formatLsn((await shop.position()) + 200_000n);
    await using child = startPgtail([...shop.args, '--end-lsn', end]);
    await child.output(/"op":"commit"/);
    await shop.orderMany(2, 3000);
    const { code, stdout } = await child.exited;
    expect(code).toBe(0);
    expect(insertedIds(stdout)).toEqual([1]);
  });
});

describe('--idle-timeout', () => {
  it('ends when nothing came for so long, with everything acknowledged', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const { code, stdout } = await runPgtail([...shop.args, '--idle-timeout', '300ms']);
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1] });
    expect((await runPgtail([...shop.args, '--no-follow'])).stdout).toBe('');
  });
});
