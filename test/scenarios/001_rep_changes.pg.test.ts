// After 001_rep_changes: inserts, updates and deletes under every replica identity, in the order of
// the commits.

import { expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';

const SCHEMA = `
  CREATE TABLE orders (id int PRIMARY KEY, customer text NOT NULL, total numeric(10,2));
  CREATE TABLE price_history (article text, price numeric(10,2), since date);
  ALTER TABLE price_history REPLICA IDENTITY FULL;
  CREATE TABLE stock (warehouse text NOT NULL, article text NOT NULL, pieces int, note text);
  CREATE UNIQUE INDEX stock_place ON stock (warehouse, article);
  ALTER TABLE stock REPLICA IDENTITY USING INDEX stock_place;
  CREATE TABLE visits (page text, at timestamptz);
  ALTER TABLE visits REPLICA IDENTITY NOTHING;
  CREATE TABLE beacons ();`;

it('every change arrives under every replica identity', async () => {
  await using shop = await Publisher.open({ schema: SCHEMA });
  await shop.commit(
    `INSERT INTO orders VALUES (1, 'Ada', 12.50), (2, 'Grace', 99.00), (3, 'Edsger', NULL);
     INSERT INTO visits VALUES ('/cart', '2026-03-01 12:00:00+02');
     INSERT INTO beacons DEFAULT VALUES`,
    `INSERT INTO price_history VALUES ('tea', 3.20, '2026-01-01'), ('tea', 3.20, '2026-01-01'),
       ('mug', NULL, '2026-02-01')`,
    `INSERT INTO stock VALUES ('Oslo', 'tea', 40, 'top shelf'), ('Lima', 'tea', 7, NULL)`,
    `UPDATE orders SET total = total + 1 WHERE id < 3`,
    `UPDATE orders SET id = id + 10 WHERE id = 3`,
    `UPDATE price_history SET price = 3.40 WHERE article = 'tea'`,
    `UPDATE stock SET pieces = pieces - 2; UPDATE stock SET warehouse = 'Quito' WHERE pieces = 5`,
    `DELETE FROM orders WHERE id = 2; DELETE FROM price_history WHERE price IS NULL`,
    `DELETE FROM stock WHERE warehouse = 'Oslo'`,
  );
  const tables = ['orders', 'price_history', 'stock', 'visits', 'beacons'];
  const { plain } = await shop.readInEveryMode({
    tables: wholeTables(...tables.map((table) => `public.${table}`)),
  });
  const changed = plain.filter(({ op }) => op === 'update' || op === 'delete');
  expect(changed.map(({ identity, key, old }) => ({ identity, key, old }))).toMatchObject([
    { identity: 'default', key: { id: 1 } },
    { identity: 'default', key: { id: 2 } },
    { identity: 'default', key: { id: 3 } },
    { identity: 'full', old: { article: 'tea', price: 3.2, since: '2026-01-01' } },
    { identity: 'full', old: { article: 'tea', price: 3.2, since: '2026-01-01' } },
    { identity: 'index', key: { warehouse: 'Oslo', article: 'tea' } },
    { identity: 'index', key: { warehouse: 'Lima', article: 'tea' } },
    { identity: 'index', key: { warehouse: 'Lima', article: 'tea' } },
    { identity: 'default', key: { id: 2 } },
    { identity: 'full', old: { article: 'mug', price: null } },
    { identity: 'index', key: { warehouse: 'Oslo', article: 'tea' } },
  ]);
});

it('a transaction that commits later comes later, whenever it began', async () => {
  await using shop = await Publisher.open({ schema: SCHEMA });
  const slow = await shop.database.connect();
  await slow.query(`BEGIN; INSERT INTO orders VALUES (1, 'Ada', 5)`);
  await shop.commit(`INSERT INTO orders VALUES (2, 'Grace', 6)`);
  await slow.query(`INSERT INTO orders VALUES (3, 'Ada', 7); COMMIT`);
  await slow.query(`BEGIN; INSERT INTO orders VALUES (4, 'Ada', 8); ROLLBACK`);
  await slow.end();
  const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.orders') });
  const rows = plain.filter(({ op }) => op === 'insert');
  expect(rows.map((line) => line.new?.id)).toEqual([2, 1, 3]);
});

it('what is read once is not read again, and the next reader goes on where it ended', async () => {
  await using shop = await Publisher.open({ schema: SCHEMA });
  await shop.commit(`INSERT INTO orders VALUES (1, 'Ada', 5)`);
  const first = await shop.run(shop.slot);
  await shop.commit(`INSERT INTO orders VALUES (2, 'Grace', 6)`, 'DELETE FROM orders');
  const second = await shop.run(shop.slot);
  const third = await shop.run(shop.slot);
  expect(first.stdout.match(/"op":"insert"/g)).toHaveLength(1);
  expect(second.stdout.match(/"op":"(insert|delete)"/g)).toEqual([
    '"op":"insert"',
    '"op":"delete"',
    '"op":"delete"',
  ]);
  expect(third.stdout).toBe('');
});
