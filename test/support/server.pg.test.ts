// The tests' own databases: apart from each other, and gone afterwards whatever uses them.

import { expect, it } from 'vitest';
import { createDatabase, sharedServer, withDatabase } from './server.ts';

it('gives each test a database of its own', async () => {
  await using first = await createDatabase();
  await using second = await createDatabase();
  await first.sql('CREATE TABLE articles (id int)');
  const rows = await second.query(`SELECT to_regclass('articles') AS articles`);
  expect(rows).toEqual([{ articles: null }]);
});

it('drops a database with its sessions, slots and prepared transactions', async () => {
  const name = await withDatabase(async (database) => {
    await database.sql('CREATE TABLE orders (id int)');
    await database.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [
      `${database.name}_slot`,
    ]);
    await database.connect();
    const clerk = await database.connect();
    await clerk.query('BEGIN');
    await clerk.query('INSERT INTO orders VALUES (1)');
    await clerk.query(`PREPARE TRANSACTION '${database.name}: it''s due'`);
    return database.name;
  });
  await withDatabase(async (other) => {
    const left = await other.query(
      `SELECT datname FROM pg_database WHERE datname = $1
         UNION ALL SELECT slot_name FROM pg_replication_slots WHERE database = $1
         UNION ALL SELECT gid FROM pg_prepared_xacts WHERE database = $1`,
      [name],
    );
    expect(left).toEqual([]);
  });
});

it('tells which server it is', async () => {
  await withDatabase(async (database) => {
    const [row] = await database.query<{ version: number }>(
      `SELECT current_setting('server_version_num')::int / 10000 AS version`,
    );
    expect(row).toEqual({ version: sharedServer().major });
  });
});
