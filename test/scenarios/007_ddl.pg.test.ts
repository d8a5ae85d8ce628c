// After 007_ddl: tables and publications that change while they are read.

import { describe, expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';
import type { Line } from '../support/tail.ts';
import { insertedIds, linesOf } from '../support/tail.ts';

const SCHEMA = 'CREATE TABLE orders (id int PRIMARY KEY, note text, total int)';

const shapes = (lines: readonly Line[]): unknown[] =>
  lines.flatMap(({ op, schema, table, identity, columns }) => {
    if (op !== 'relation') return [];
    const names = (columns as { name: string; key?: true }[]).map(
      ({ name, key }) => `${name}${key ? '*' : ''}`,
    );
    return [`${schema}.${table} ${identity}: ${names.join(' ')}`];
  });

describe('a table that changes', () => {
  it('is announced anew before the first row of its new shape', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'tea', 3)`,
      `ALTER TABLE orders ADD COLUMN paid boolean NOT NULL DEFAULT false;
       INSERT INTO orders VALUES (2, 'mug', 8, true)`,
      `ALTER TABLE orders DROP COLUMN note; INSERT INTO orders VALUES (3, 20, true)`,
      'ALTER TABLE orders RENAME COLUMN total TO amount',
      'ALTER TABLE orders REPLICA IDENTITY FULL',
      `UPDATE orders SET amount = amount + 1 WHERE id = 3`,
      `CREATE SCHEMA sales; ALTER TABLE orders SET SCHEMA sales;
       ALTER TABLE sales.orders RENAME TO purchases;
       INSERT INTO sales.purchases VALUES (4, 1, false)`,
    );
    const { plain } = await shop.readInEveryMode({ tables: {} });
    expect(shapes(plain)).toEqual([
      'public.orders default: id* note total',
      'public.orders default: id* note total paid',
      'public.orders default: id* total paid',
      'public.orders full: id* amount* paid*',
      'sales.purchases full: id* amount* paid*',
    ]);
    const rows = plain.flatMap((line) => (line.new ? [line.new] : []));
    expect(rows).toEqual([
      { id: 1, note: 'tea', total: 3 },
      { id: 2, note: 'mug', total: 8, paid: true },
      { id: 3, total: 20, paid: true },
      { id: 3, amount: 21, paid: true },
      { id: 4, amount: 1, paid: false },
    ]);
  });

  it('may change many times in one transaction', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'tea', 3);
       ALTER TABLE orders ADD COLUMN a int; INSERT INTO orders VALUES (2, 'mug', 8, 1);
       ALTER TABLE orders DROP COLUMN a, ADD COLUMN a text; INSERT INTO orders VALUES (3, '', 1, 'x');
       ALTER TABLE orders DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (total);
       UPDATE orders SET note = 'new', a = 'y' WHERE id = 3;
       UPDATE orders SET note = 'new', a = 'y' WHERE id < 3`,
    );
    const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.orders') });
    expect(shapes(plain)).toEqual([
      'public.orders default: id* note total',
      'public.orders default: id* note total a',
      'public.orders default: id* note total a',
      'public.orders default: id note total* a',
    ]);
  });

  it('and is dropped and made again is a new relation', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'tea', 3)`,
      `DROP TABLE orders; ${SCHEMA}; INSERT INTO orders VALUES (2, 'mug', 8)`,
      'DROP TABLE orders',
      `CREATE TABLE orders (note text, id uuid PRIMARY KEY);
       INSERT INTO orders VALUES ('pot', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')`,
    );
    const { plain } = await shop.readInEveryMode({ tables: {} });
    const ids = plain.flatMap((line) => (line.op === 'relation' ? [line.relation_id] : []));
    expect(new Set(ids).size).toBe(3);
    expect(plain.flatMap((line) => (line.new ? [line.new] : []))).toEqual([
      { id: 1, note: 'tea', total: 3 },
      { id: 2, note: 'mug', total: 8 },
      { note: 'pot', id: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' },
    ]);
  });

  it('may have a type whose definition grows', async () => {
    await using shop = await Publisher.open({
      schema: `CREATE TYPE size AS ENUM ('small'); CREATE TYPE part AS (name text);
        CREATE TABLE articles (id int PRIMARY KEY, size size, parts part[])`,
    });
    await shop.commit(
      `INSERT INTO articles VALUES (1, 'small', '{(lid)}')`,
      `ALTER TYPE size ADD VALUE 'large'`,
      `INSERT INTO articles VALUES (2, 'large', '{(pot)}')`,
    );
    await shop.readInEveryMode({ tables: wholeTables('public.articles') });
  });
});

describe('a publication that changes while it is read', () => {
  const publications = { shop: 'FOR TABLE orders' };

  it('shows a table from the moment it was added until it is dropped', async () => {
    await using shop = await Publisher.open({
      schema: `${SCHEMA}; CREATE TABLE carts (id int PRIMARY KEY, items int)`,
      publications,
    });
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'tea', 3); INSERT INTO carts VALUES (1, 1)`,
      'ALTER PUBLICATION shop ADD TABLE carts',
      `INSERT INTO orders VALUES (2, 'mug', 8); INSERT INTO carts VALUES (2, 1)`,
      'ALTER PUBLICATION shop DROP TABLE orders',
      `INSERT INTO orders VALUES (3, 'pot', 20); INSERT INTO carts VALUES (3, 1)`,
      `ALTER PUBLICATION shop SET TABLE orders; INSERT INTO orders VALUES (4, 'cup', 2);
       INSERT INTO carts VALUES (4, 1)`,
    );
    const { runs } = await shop.readInEveryMode({ tables: {} });
    for (const { stdout } of runs) expect(insertedIds(stdout)).toEqual([1, 2, 2, 3, 4]);
  });

  it('shows only the operations it publishes', async () => {
    await using shop = await Publisher.open({
      schema: SCHEMA,
      publications: { shop: `FOR ALL TABLES WITH (publish = 'insert, delete')` },
    });
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'tea', 3); UPDATE orders SET total = 4`,
      `ALTER PUBLICATION shop SET (publish = 'update')`,
      `UPDATE orders SET total = 5; DELETE FROM orders`,
    );
    const { plain } = await shop.readInEveryMode({ tables: {} });
    expect(plain.map(({ op, new: row }) => (row ? [op, row.total] : op))).toEqual([
      ...['begin', 'relation', ['insert', 3], 'commit'],
      ...['begin', ['update', 5], 'commit'],
    ]);
  });

  it('and several of them show what any of them publishes, once', async () => {
    await using shop = await Publisher.open({
      schema: `${SCHEMA}; CREATE TABLE carts (id int PRIMARY KEY); CREATE TABLE visits (id int)`,
      publications: {
        'Orders, "live"': `FOR TABLE orders WITH (publish = 'insert')`,
        everyday: 'FOR TABLE orders, carts',
      },
    });
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'tea', 3); INSERT INTO carts VALUES (2);
       INSERT INTO visits VALUES (3); UPDATE orders SET total = 4`,
    );
    const { plain } = await shop.readInEveryMode({
      tables: wholeTables('public.orders', 'public.carts'),
    });
    expect(plain.map(({ op }) => op)).toEqual([
      ...['begin', 'relation', 'insert', 'relation', 'insert', 'update', 'commit'],
    ]);
  });

  it('is followed live through all of it', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA, publications });
    await using child = await shop.follow(shop.slot);
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'tea', 3)`,
      `CREATE TABLE carts (id int PRIMARY KEY); ALTER PUBLICATION shop ADD TABLE carts`,
      'INSERT INTO carts VALUES (2)',
      'ALTER TABLE carts ADD COLUMN items int; INSERT INTO carts VALUES (3, 1)',
      'ALTER PUBLICATION shop DROP TABLE carts',
      'INSERT INTO carts VALUES (4)',
      `ALTER TABLE orders RENAME TO purchases; INSERT INTO purchases VALUES (5, 'cup', 2)`,
    );
    await child.output(/"table":"purchases".*\n.*"commit"/);
    const { code, stdout } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 2, 3, 5] });
    expect(shapes(linesOf(stdout))).toEqual([
      'public.orders default: id* note total',
      'public.carts default: id*',
      'public.carts default: id* items',
      'public.purchases default: id* note total',
    ]);
  });
});
