// After 008_diff_schema: columns are told by name, whatever their order and their holes are.

import { expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';

it('dropped columns leave no trace in rows, keys and old rows', async () => {
  await using shop = await Publisher.open({
    schema: `
      CREATE TABLE orders (gone int, note text, was text, id int, customer text, late text);
      ALTER TABLE orders DROP COLUMN gone, DROP COLUMN was, DROP COLUMN late;
      ALTER TABLE orders ADD COLUMN total numeric(10,2) DEFAULT 1, ADD PRIMARY KEY (customer, id);
      CREATE TABLE prices (a int, article text, b int, price int, c int);
      ALTER TABLE prices DROP COLUMN a, DROP COLUMN b, DROP COLUMN c;
      ALTER TABLE prices REPLICA IDENTITY FULL`,
  });
  await shop.commit(
    `INSERT INTO orders (id, customer, note) VALUES (1, 'Ada', 'gift'), (2, 'Ada', NULL)`,
    `INSERT INTO prices VALUES ('tea', 3), ('mug', 8)`,
    `UPDATE orders SET note = 'no gift' WHERE id = 1; UPDATE orders SET id = 3 WHERE id = 2`,
    `UPDATE prices SET price = NULL WHERE article = 'tea'; DELETE FROM prices WHERE price = 8`,
  );
  const { plain } = await shop.readInEveryMode({
    tables: wholeTables('public.orders', 'public.prices'),
  });
  const keys = plain.flatMap((line) => (line.key ? [line.key] : []));
  expect(keys).toEqual([
    { id: 1, customer: 'Ada' },
    { id: 2, customer: 'Ada' },
  ]);
});

it('a table with the most columns a table can have is read whole', async () => {
  const columns = Array.from({ length: 1600 }, (_, i) => `c${i + 1}`);
  await using shop = await Publisher.open({
    schema: `CREATE TABLE wide (${columns.map((name) => `${name} bool`).join(', ')});
      ALTER TABLE wide ADD PRIMARY KEY (c1600)`,
  });
  await shop.commit(
    'INSERT INTO wide (c1600, c7) VALUES (true, false), (false, NULL)',
    'UPDATE wide SET c800 = c1600; DELETE FROM wide WHERE c1600 = false',
  );
  await shop.readInEveryMode({ tables: wholeTables('public.wide') });
});

it('tables that inherit and tables that are children show as themselves', async () => {
  await using shop = await Publisher.open({
    schema: `
      CREATE TABLE cities (name text PRIMARY KEY, people int);
      CREATE TABLE capitals (country text, PRIMARY KEY (name)) INHERITS (cities)`,
  });
  await shop.commit(
    `INSERT INTO cities VALUES ('Bergen', 289330); INSERT INTO capitals VALUES ('Oslo', 1, 'NO')`,
    'UPDATE cities SET people = people + 1',
  );
  await shop.readInEveryMode({
    tables: {
      'public.cities': 'SELECT * FROM ONLY cities',
      'public.capitals': 'SELECT * FROM capitals',
    },
  });
});
