// After 017_stream_ddl: a table changes its shape in the middle of a streamed transaction.

import { describe, expect, it } from 'vitest';
import { MANY_ORDERS, orders } from '../support/many-orders.ts';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';

const { major } = sharedServer();
const tables = wholeTables('public.orders', 'public.lines');

describe.runIf(major >= 14)('a change of shape in a streamed transaction', () => {
  it('is announced before the first row that has it', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    await shop.commit(
      `BEGIN; ${orders(1, 300)}; ALTER TABLE orders ADD COLUMN total numeric(10,2); SAVEPOINT s1;
       INSERT INTO orders SELECT id, 'Ada', repeat('x', 100), id / 4.0
         FROM generate_series(301, 600) AS id;
       ALTER TABLE orders DROP COLUMN customer; SAVEPOINT s2; ALTER TABLE orders ADD paid boolean;
       INSERT INTO orders SELECT id, repeat('y', 100), 7, true FROM generate_series(601, 900) AS id;
       UPDATE orders SET note = 'all'; COMMIT`,
      `INSERT INTO lines VALUES (1, 'tea')`,
    );
    const runs = await shop.readInEveryMode({ tables, pressure: 'memory' });
    for (const lines of runs.of({ streaming: 'on' })) {
      const shapes = lines.flatMap(({ op, table, columns }) =>
        op === 'relation' && table === 'orders' ? [(columns as unknown[]).length] : [],
      );
      expect(shapes).toEqual([3, 4, 4]);
    }
  });

  it('made by two transactions at once reaches each when it should', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    const other = await shop.database.connect();
    await other.query(`BEGIN; INSERT INTO lines SELECT id, repeat('tea', 60)
      FROM generate_series(1, 300) AS id`);
    await shop.commit(
      `BEGIN; ALTER TABLE orders ADD COLUMN gift boolean; ${orders(1, 400)}; COMMIT`,
    );
    await other.query(`INSERT INTO orders VALUES (0, 'Grace', 'late', true);
      ALTER TABLE orders RENAME COLUMN gift TO present;
      INSERT INTO lines SELECT id, repeat('mug', 60) FROM generate_series(301, 600) AS id;
      UPDATE orders SET present = id % 2 = 0; COMMIT`);
    await other.end();
    await shop.readInEveryMode({ tables, pressure: 'memory' });
  });
});
