// After 018_stream_subxact_abort: subtransactions of a streamed transaction that are rolled back.

import { describe, expect, it } from 'vitest';
import { MANY_ORDERS, orders } from '../support/many-orders.ts';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { Replica } from '../support/replica.ts';
import { sharedServer } from '../support/server.ts';
import { linesOf } from '../support/tail.ts';

const { major } = sharedServer();
const LIVE_MODES = major >= 16 ? ['on', 'parallel', 'buffer', 'off'] : ['on', 'buffer', 'off'];
const tables = wholeTables('public.orders', 'public.lines');

describe.runIf(major >= 14)('subtransactions that are rolled back', () => {
  it('leave 901 rows: 900, a savepoint, 900 more, back to it, and one', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    await shop.commit(
      `BEGIN; ${orders(1, 900)}; SAVEPOINT s; ${orders(1001, 1900)}; ROLLBACK TO s;
       ${orders(2001, 2001)}; COMMIT`,
    );
    const runs = await shop.readInEveryMode({ tables, pressure: 'memory' });
    for (const { stdout } of runs.runs) {
      expect(Replica.of(stdout).rows('public.orders')).toHaveLength(901);
    }
  });

  it.each(LIVE_MODES)('do so live: --streaming %s', async (mode) => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    const ada = await shop.database.connect();
    await using child = await shop.follow(shop.slot, ['--streaming', mode]);
    const streams = mode === 'on' || mode === 'parallel';
    await ada.query(`BEGIN; ${orders(1, 900)}`);
    // a block of some 300 rows must fit behind it, and a page of WAL that nobody flushes yet
    if (streams) await child.output(/"id":500/);
    await ada.query(`SAVEPOINT s; ${orders(1001, 1900)}`);
    if (streams) await child.output(/"id":1500/);
    await ada.query(`ROLLBACK TO s; ${orders(2001, 2001)}; COMMIT`);
    await child.output(/"op":"(stream_)?commit"/);
    const { code, stdout } = await child.stop();
    await ada.end();
    expect(code).toBe(0);
    expect(Replica.of(stdout).rows('public.orders')).toHaveLength(901);
    const aborts = linesOf(stdout).filter(({ op }) => op === 'stream_abort');
    expect(aborts).toHaveLength(streams ? 1 : 0);
    if (streams) expect(aborts[0]!.subxid).toBeGreaterThan(aborts[0]!.xid!);
  });

  it('within others, released and not', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    await shop.commit(
      `BEGIN; ${orders(1, 200)}; SAVEPOINT a; ${orders(201, 400)}; SAVEPOINT b; ${orders(401, 600)};
       SAVEPOINT c; ${orders(601, 800)}; RELEASE c; ROLLBACK TO b; ${orders(801, 1000)};
       RELEASE a; SAVEPOINT d; UPDATE orders SET note = 'gone'; ROLLBACK TO d;
       DELETE FROM orders WHERE id < 100; ROLLBACK TO d; INSERT INTO lines VALUES (1, 'tea'); COMMIT`,
      `BEGIN; SAVEPOINT a; ${orders(2001, 2600)}; ROLLBACK TO a; COMMIT`,
      `BEGIN; SAVEPOINT a; ${orders(3001, 3600)}; ROLLBACK TO a;
       INSERT INTO lines VALUES (2, 'mug'); COMMIT`,
    );
    await shop.readInEveryMode({ tables, pressure: 'memory' });
  });
});
