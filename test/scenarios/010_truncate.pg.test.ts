// After 010_truncate: which tables a TRUNCATE empties, and how it was said. PostgreSQL 10 sends none.

import { expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';
import type { Line } from '../support/tail.ts';

const { major } = sharedServer();

const truncates = (lines: readonly Line[]): unknown[] =>
  lines.flatMap(({ op, tables, cascade, restart_identity }) =>
    op === 'truncate' ? [{ tables: names(tables), cascade, restart_identity }] : [],
  );

const names = (tables: unknown): string[] =>
  (tables as { table: string }[]).map(({ table }) => table);

it.runIf(major >= 11)('TRUNCATE shows all its published tables in one line', async () => {
  await using shop = await Publisher.open({
    schema: `
      CREATE TABLE orders (id serial PRIMARY KEY, note text);
      CREATE TABLE lines (id int PRIMARY KEY, "order" int REFERENCES orders);
      CREATE TABLE secrets (id int PRIMARY KEY REFERENCES orders)`,
    publications: { shop: 'FOR TABLE orders, lines' },
  });
  const fill = `INSERT INTO orders (note) VALUES ('tea'), ('mug');
    INSERT INTO lines SELECT id, id FROM orders; INSERT INTO secrets SELECT id FROM orders`;
  await shop.commit(
    fill,
    'TRUNCATE orders, lines, secrets',
    fill,
    'TRUNCATE orders CASCADE',
    fill,
    'TRUNCATE secrets',
    'TRUNCATE orders, lines, secrets RESTART IDENTITY',
    `${fill}; TRUNCATE lines, orders RESTART IDENTITY CASCADE;
     INSERT INTO orders (note) VALUES ('pot')`,
  );
  const { plain } = await shop.readInEveryMode({
    tables: wholeTables('public.orders', 'public.lines'),
  });
  expect(truncates(plain)).toEqual([
    { tables: ['orders', 'lines'], cascade: false, restart_identity: false },
    { tables: ['orders', 'lines'], cascade: true, restart_identity: false },
    { tables: ['orders', 'lines'], cascade: false, restart_identity: true },
    { tables: ['lines', 'orders'], cascade: true, restart_identity: true },
  ]);
});

it.runIf(major >= 11)('a publication without truncate shows none', async () => {
  await using shop = await Publisher.open({
    schema: 'CREATE TABLE orders (id int PRIMARY KEY)',
    publications: { shop: `FOR TABLE orders WITH (publish = 'insert')` },
  });
  await shop.commit('INSERT INTO orders VALUES (1)', 'TRUNCATE orders');
  const { plain } = await shop.readInEveryMode({ tables: {} });
  expect(plain.map(({ op }) => op)).toEqual(['begin', 'relation', 'insert', 'commit']);
});

it.runIf(major >= 11)('a truncate that is rolled back to a savepoint did not happen', async () => {
  await using shop = await Publisher.open({
    schema: 'CREATE TABLE orders (id int PRIMARY KEY, note text)',
  });
  await shop.commit(
    `INSERT INTO orders VALUES (1, 'tea')`,
    `BEGIN; INSERT INTO orders VALUES (2, 'mug'); SAVEPOINT before; TRUNCATE orders;
     INSERT INTO orders VALUES (3, 'pot'); ROLLBACK TO before;
     INSERT INTO orders VALUES (4, 'cup'); COMMIT`,
  );
  const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.orders') });
  expect(truncates(plain)).toEqual([]);
});

it.runIf(major === 10)(
  'TRUNCATE on PostgreSQL 10 shows nothing, as the server sends nothing',
  async () => {
    await using shop = await Publisher.open({
      schema: 'CREATE TABLE orders (id int PRIMARY KEY)',
    });
    await shop.commit('INSERT INTO orders VALUES (1)', 'TRUNCATE orders');
    const { plain } = await shop.readInEveryMode({ tables: {} });
    expect(plain.map(({ op }) => op)).toEqual(['begin', 'relation', 'insert', 'commit']);
  },
);
