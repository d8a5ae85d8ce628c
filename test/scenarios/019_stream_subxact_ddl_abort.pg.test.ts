// After 019_stream_subxact_ddl_abort: a change of shape that is rolled back with its subtransaction.

import { describe, expect, it } from 'vitest';
import { MANY_ORDERS, orders } from '../support/many-orders.ts';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';

const { major } = sharedServer();
const tables = wholeTables('public.orders', 'public.lines');

describe.runIf(major >= 14)('a change of shape that is rolled back', () => {
  it('does not show in what comes after it', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    await shop.commit(
      `BEGIN; ${orders(1, 300)}; ALTER TABLE orders ADD COLUMN total int; SAVEPOINT s;
       INSERT INTO orders SELECT id, 'Ada', repeat('n', 100), 5 FROM generate_series(301, 600) id;
       ALTER TABLE orders DROP COLUMN customer; ALTER TABLE orders ADD COLUMN paid boolean;
       INSERT INTO orders SELECT id, repeat('n', 100), 5, true FROM generate_series(601, 900) id;
       ROLLBACK TO s;
       INSERT INTO orders SELECT id, 'Ada', repeat('n', 100), 6 FROM generate_series(301, 600) id;
       UPDATE orders SET total = id; COMMIT`,
      `INSERT INTO lines VALUES (1, 'tea')`,
      `INSERT INTO orders VALUES (-1, 'Ada', 'after', 1)`,
    );
    const runs = await shop.readInEveryMode({ tables, pressure: 'memory' });
    const keys = new Set(
      runs.plain.flatMap((line) =>
        line.table === 'orders' && line.new ? [Object.keys(line.new).join()] : [],
      ),
    );
    expect([...keys]).toEqual(['id,customer,note', 'id,customer,note,total']);
  });

  it('is read unstreamed where the server cannot decode it while it is in progress', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    await shop.commit(
      `BEGIN; ${orders(1, 900)}; SAVEPOINT s; ALTER TABLE orders ADD COLUMN total int;
       ${orders(901, 1800)}; ROLLBACK TO s; ${orders(901, 1800)};
       ALTER TABLE orders ADD COLUMN paid boolean; ${orders(1801, 2700)}; COMMIT`,
    );
    await shop.readInEveryMode({
      // the same bytes; rows from before a column was added do not have it
      tables: {},
      pressure: 'memory',
      // shown live it ends with the server's error, which says so
      modes: ({ streaming }) => streaming === 'off' || streaming === 'buffer',
    });
  });

  it('nor a table that was made and taken back', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    await shop.commit(
      `BEGIN; ${orders(1, 300)}; SAVEPOINT s; CREATE TABLE drafts (id int PRIMARY KEY, body text);
       INSERT INTO drafts SELECT id, repeat('d', 200) FROM generate_series(1, 300) AS id;
       ROLLBACK TO s; CREATE TABLE drafts (body text, id int PRIMARY KEY);
       INSERT INTO drafts SELECT repeat('d', 200), id FROM generate_series(1, 300) AS id; COMMIT`,
    );
    await shop.readInEveryMode({
      tables: wholeTables('public.orders', 'public.drafts'),
      pressure: 'memory',
    });
  });
});
