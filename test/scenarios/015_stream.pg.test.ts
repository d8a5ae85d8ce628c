// After 015_stream: large transactions are sent while they are in progress, side by side.

import { describe, expect, it } from 'vitest';
import { MANY_ORDERS, orders } from '../support/many-orders.ts';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { Replica } from '../support/replica.ts';
import { sharedServer } from '../support/server.ts';
import { linesOf } from '../support/tail.ts';

const { major } = sharedServer();
const LIVE_MODES = major >= 16 ? ['on', 'parallel'] : ['on'];
const TABLES = wholeTables('public.orders', 'public.lines');

describe.runIf(major >= 14)('transactions in progress', () => {
  it('end as the same tables in every mode', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    const other = await shop.database.connect();
    await shop.commit(orders(1, 10));
    await other.query(`BEGIN; ${orders(1001, 1500)}`);
    await shop.commit(
      `${orders(2001, 2500)}; UPDATE orders SET note = 'short' WHERE id % 3 = 0;
       DELETE FROM orders WHERE id % 5 = 0`,
    );
    await other.query(`${orders(1501, 2000)}; UPDATE orders SET id = -id WHERE id > 1900; COMMIT`);
    await other.query(`BEGIN; ${orders(5001, 5900)}; ROLLBACK`);
    await other.query(`BEGIN; ${orders(6001, 6900)}`);
    await shop.commit(`INSERT INTO lines VALUES (1, 'tea')`);
    const runs = await shop.readInEveryMode({ tables: TABLES, pressure: 'memory' });
    await other.query('ROLLBACK');
    await other.end();
    for (const lines of runs.of({ streaming: 'on' })) {
      const blocks = lines.filter(({ op }) => op === 'stream_start');
      const ends = lines.filter(({ op }) => op === 'stream_commit');
      expect(blocks.filter(({ first }) => first === true).length).toBeGreaterThanOrEqual(2);
      expect(blocks.length).toBeGreaterThan(4);
      expect(ends).toHaveLength(2);
      expect(lines.filter(({ op }) => op === 'stream_stop')).toHaveLength(blocks.length);
    }
  });

  it.each(LIVE_MODES)('are told apart line by line, live: --streaming %s', async (mode) => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    const [ada, grace] = [await shop.database.connect(), await shop.database.connect()];
    await using child = await shop.follow(shop.slot, ['--streaming', mode]);
    await ada.query(`BEGIN; ${orders(1, 400)}`);
    const adaXid = await xidOf(ada);
    await child.output(new RegExp(`"stream_stop","xid":${adaXid}`));
    await grace.query(`BEGIN; ${orders(1001, 1400)}`);
    const graceXid = await xidOf(grace);
    await child.output(new RegExp(`"stream_stop","xid":${graceXid}`));
    await shop.commit(`INSERT INTO lines VALUES (1, 'tea')`);
    await ada.query(`${orders(401, 800)}; ROLLBACK`);
    await child.output(new RegExp(`"stream_abort","xid":${adaXid}`));
    await grace.query(`${orders(1401, 1800)}; COMMIT`);
    await child.output(/"stream_commit"/);
    const { code, stdout } = await child.stop();
    await Promise.all([ada.end(), grace.end()]);

    expect(code).toBe(0);
    const lines = linesOf(stdout);
    for (const line of lines.filter(({ op, table }) => op === 'insert' && table === 'orders')) {
      expect(line).toMatchObject({ streamed: true, xid: expect.any(Number) });
      expect(line).not.toHaveProperty('commit_lsn');
      expect(line.xid).toBe((line.new?.id as number) < 1000 ? adaXid : graceXid);
    }
    const abort = lines.find(({ op }) => op === 'stream_abort')!;
    const place = mode === 'parallel' ? ['abort_lsn', 'abort_time'] : [];
    expect(Object.keys(abort)).toEqual(['op', 'xid', 'subxid', ...place]);
    expect(lines.find(({ op }) => op === 'stream_commit')).toMatchObject({
      xid: graceXid,
      changes: 800,
    });
    const replica = Replica.of(stdout);
    for (const [table, rows] of await shop.expectedRows(TABLES)) {
      expect(replica.rows(table)).toEqual(rows);
    }
    expect((await shop.run(shop.slot)).stdout).toBe('');
  });

  it('kept until they end come out whole, in the order of their commits', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    const ada = await shop.database.connect();
    const plainSlot = await shop.copyOfSlot();
    await using child = await shop.follow(shop.slot, ['--streaming', 'buffer']);
    await ada.query(`BEGIN; ${orders(1, 900)}`);
    await shop.commit(orders(1001, 1900), `INSERT INTO lines VALUES (1, 'tea')`);
    await child.output(/"table":"lines"[\s\S]*"commit"/);
    expect(linesOf(child.stdout).filter(({ op }) => op === 'commit')).toHaveLength(2);
    await ada.query('COMMIT');
    await child.output(/"id":900[\s\S]*"commit"/);
    await ada.query(`BEGIN; ${orders(2001, 2900)}; ROLLBACK`);
    await shop.commit(`INSERT INTO lines VALUES (2, 'mug')`);
    await child.output(/"mug"[\s\S]*"commit"/);
    const { code, stdout } = await child.stop();
    await ada.end();
    expect(code).toBe(0);
    const plain = await shop.run(plainSlot);
    expect(stdout).toBe(plain.stdout);
  });

  it('cut by a stop come again whole', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    const ada = await shop.database.connect();
    {
      await using child = await shop.follow(shop.slot, ['--streaming', 'on']);
      await ada.query(`BEGIN; ${orders(1, 900)}`);
      await child.output(/"stream_stop"/);
      await shop.commit(`INSERT INTO lines VALUES (1, 'tea')`);
      await child.output(/"op":"commit"/);
      const stopped = await child.stop('SIGTERM');
      expect(stopped.code).toBe(0);
      expect(Replica.of(stopped.stdout).rows('public.orders')).toEqual([]);
    }
    await ada.query('COMMIT');
    await ada.end();
    const again = await shop.run(shop.slot, ['--streaming', 'on'], 'memory');
    const expected = await shop.expectedRows(wholeTables('public.orders'));
    expect(Replica.of(again.stdout).rows('public.orders')).toEqual(expected.get('public.orders'));
    expect(again.stdout).not.toContain('"lines"');
  });
});

async function xidOf(client: {
  query(text: string): Promise<{ rows: { xid: string }[] }>;
}): Promise<number> {
  const { rows } = await client.query('SELECT txid_current()::text AS xid');
  return Number(rows[0]!.xid);
}
