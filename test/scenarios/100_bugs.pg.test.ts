// After 100_bugs, where they concern the publisher: what has gone wrong before, in servers or in
// their readers.

import { describe, expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';
import { insertedIds } from '../support/tail.ts';

const { major } = sharedServer();

describe('once broken', () => {
  it('an index on an expression that calls a function of the user', async () => {
    await using shop = await Publisher.open({
      schema: `
        CREATE FUNCTION shout(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT upper($1)';
        CREATE TABLE articles (id int PRIMARY KEY, name text);
        CREATE INDEX ON articles (shout(name))`,
    });
    await shop.commit(
      `INSERT INTO articles VALUES (1, 'tea')`,
      `UPDATE articles SET name = 'mug'; DELETE FROM articles WHERE name = 'pot'`,
    );
    await shop.readInEveryMode({ tables: wholeTables('public.articles') });
  });

  it('a table that is dropped after its rows were written, before they are read', async () => {
    await using shop = await Publisher.open({
      schema: `CREATE TYPE mood AS ENUM ('calm');
        CREATE TABLE drafts (id int PRIMARY KEY, mood mood, moods mood[])`,
    });
    await shop.commit(
      `INSERT INTO drafts VALUES (1, 'calm', '{calm}')`,
      'DROP TABLE drafts; DROP TYPE mood',
      'CREATE TABLE orders (id int PRIMARY KEY); INSERT INTO orders VALUES (2)',
    );
    const { runs } = await shop.readInEveryMode({
      tables: wholeTables('public.orders'),
      ...(major >= 14 && { notices: expect.any(Array) }),
    });
    for (const { stdout } of runs) expect(insertedIds(stdout).at(-1)).toBe(2);
    for (const { mode, stdout } of runs) {
      if (!mode.binary) expect(stdout).toContain('"mood":"calm"');
    }
  });

  it('a deferred unique key is no replica identity, and a later one is', async () => {
    await using shop = await Publisher.open({
      schema: `CREATE TABLE places (id int NOT NULL UNIQUE DEFERRABLE, shelf int NOT NULL)`,
    });
    await shop.commit('INSERT INTO places VALUES (1, 10)');
    await expect(shop.commit('DELETE FROM places')).rejects.toThrow(/replica identity/);
    await shop.commit(
      'CREATE UNIQUE INDEX by_shelf ON places (shelf)',
      'ALTER TABLE places REPLICA IDENTITY USING INDEX by_shelf',
      'UPDATE places SET id = 2',
      'DROP INDEX by_shelf; ALTER TABLE places REPLICA IDENTITY FULL; UPDATE places SET id = 3',
    );
    const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.places') });
    const updates = plain.filter(({ op }) => op === 'update');
    expect(updates.map(({ identity, key, old }) => [identity, key ?? old])).toEqual([
      ['index', { shelf: 10 }],
      ['full', { id: 2, shelf: 10 }],
    ]);
  });

  it('a transaction that only made a table, or only locked one', async () => {
    await using shop = await Publisher.open({ schema: 'CREATE TABLE orders (id int PRIMARY KEY)' });
    await shop.commit(
      'CREATE TABLE carts (id int PRIMARY KEY)',
      'SELECT * FROM orders FOR UPDATE; LOCK orders',
      'CREATE TEMP TABLE scratch AS SELECT generate_series(1, 100)',
      'CREATE UNLOGGED TABLE notes AS SELECT generate_series(1, 100) AS id',
      'INSERT INTO orders VALUES (1)',
      'SELECT * FROM orders FOR UPDATE',
      'INSERT INTO orders VALUES (1) ON CONFLICT DO NOTHING',
    );
    const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.orders') });
    expect(plain.map(({ op }) => op)).toEqual(['begin', 'relation', 'insert', 'commit']);
  });

  it('rows of a table whose name, columns and values are made of quotes and percent signs', async () => {
    await using shop = await Publisher.open({
      schema: `CREATE SCHEMA "My ""Shop"" 100%";
        CREATE TABLE "My ""Shop"" 100%"."Order's \\ ""list""" ("a""b" int PRIMARY KEY, "%s" text, "" text)`.replace(
        ', "" text',
        `, "${'ü'.repeat(31)}" text`,
      ),
    });
    await shop.commit(
      `INSERT INTO "My ""Shop"" 100%"."Order's \\ ""list""" VALUES (1, '"%"', E'\\u0001\\u2028')`,
    );
    await shop.readInEveryMode({
      tables: {
        'My "Shop" 100%.Order\'s \\ "list"': `SELECT * FROM "My ""Shop"" 100%"."Order's \\ ""list"""`,
      },
    });
  });

  it('a speculative insert that lost its race', async () => {
    await using shop = await Publisher.open({
      schema: 'CREATE TABLE orders (id int PRIMARY KEY, note text)',
    });
    const [ada, grace] = [await shop.database.connect(), await shop.database.connect()];
    await ada.query(`BEGIN; INSERT INTO orders VALUES (1, 'Ada')`);
    const waiting = grace.query(
      `INSERT INTO orders VALUES (1, 'Grace')
         ON CONFLICT (id) DO UPDATE SET note = orders.note || ' and ' || excluded.note`,
    );
    await ada.query('COMMIT');
    await waiting;
    await Promise.all([ada.end(), grace.end()]);
    const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.orders') });
    expect(plain.at(-2)?.new).toEqual({ id: 1, note: 'Ada and Grace' });
  });
});
