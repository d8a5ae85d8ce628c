// After 012_collation: whatever compares as equal, keys and values are told by their bytes.

import { expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';

const { major } = sharedServer();

it.runIf(major >= 12)('a key that changes only by case is a change of the key', async (context) => {
  await using shop = await Publisher.open({
    schema: 'CREATE TABLE articles (id int PRIMARY KEY, price int)',
  });
  const [icu] = await shop.database.query(`SELECT FROM pg_collation WHERE collprovider = 'i'`);
  if (icu === undefined) return context.skip('this server was built without ICU');
  await shop.commit(
    `CREATE COLLATION ignore_case
       (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    `CREATE TABLE customers (name text COLLATE ignore_case PRIMARY KEY, town text);
     CREATE TABLE towns (name text COLLATE ignore_case, people int);
     ALTER TABLE towns REPLICA IDENTITY FULL`,
    `INSERT INTO customers VALUES ('ada', 'Łódź'), ('grace', 'New York');
     INSERT INTO towns VALUES ('łódź', 1), ('Oslo', 2)`,
    `UPDATE customers SET name = 'ADA' WHERE name = 'Ada';
     UPDATE towns SET name = 'ŁÓDŹ' WHERE name = 'Łódź'`,
    `UPDATE customers SET town = 'Oslo' WHERE name = 'aDa'; DELETE FROM towns WHERE name = 'oslo'`,
  );
  const { plain } = await shop.readInEveryMode({
    tables: wholeTables('public.customers', 'public.towns'),
  });
  const updates = plain.filter(({ op }) => op === 'update');
  expect(updates.map(({ key, changed }) => ({ key, changed }))).toEqual([
    { key: { name: 'ada' }, changed: undefined },
    { key: undefined, changed: ['name'] },
    { key: { name: 'ADA' }, changed: undefined },
  ]);
});

it('text of a LATIN1 database arrives as UTF-8', async () => {
  await using shop = await Publisher.open({
    schema: 'CREATE TABLE customers (name text PRIMARY KEY, "größe" "char")',
    database: `ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
  });
  await shop.commit(
    `INSERT INTO customers VALUES ('Zoë Müller', 'x'), ('¿Señor?', NULL)`,
    `UPDATE customers SET name = 'Zoë Møller' WHERE name LIKE 'Zo%'`,
  );
  const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.customers') });
  expect(plain.find(({ op }) => op === 'update')?.new).toEqual({ name: 'Zoë Møller', größe: 'x' });
});
