// After 003_constraints: what foreign keys, triggers and failed statements really did to the rows.

import { expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';

const SCHEMA = `
  CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL UNIQUE);
  CREATE TABLE orders (id serial PRIMARY KEY, total numeric CHECK (total >= 0),
    customer int NOT NULL REFERENCES customers ON UPDATE CASCADE ON DELETE CASCADE
      DEFERRABLE INITIALLY DEFERRED);
  CREATE TABLE notes (id int PRIMARY KEY, body text,
    "order" int REFERENCES orders ON DELETE SET NULL);`;

it('a cascade shows every row that it changed', async () => {
  await using shop = await Publisher.open({ schema: SCHEMA });
  await shop.commit(
    `INSERT INTO customers VALUES (1, 'Ada'), (2, 'Grace');
     INSERT INTO orders (total, customer) VALUES (10, 1), (20, 1), (30, 2);
     INSERT INTO notes VALUES (1, 'gift', 1), (2, 'fragile', 3)`,
    `UPDATE customers SET id = 7 WHERE id = 2`,
    `DELETE FROM customers WHERE id = 1`,
    // the customer comes after the order: checked at the commit
    `INSERT INTO orders (total, customer) VALUES (5, 9); INSERT INTO customers VALUES (9, 'Alan')`,
  );
  const { plain } = await shop.readInEveryMode({
    tables: wholeTables('public.customers', 'public.orders', 'public.notes'),
  });
  const deleted = plain.filter(({ op }) => op === 'delete');
  expect(deleted.map(({ table, key }) => [table, key])).toEqual([
    ['customers', { id: 1 }],
    ['orders', { id: 1 }],
    ['orders', { id: 2 }],
  ]);
});

it('a statement that fails leaves nothing, nor does a caught error', async () => {
  await using shop = await Publisher.open({ schema: SCHEMA });
  await shop.commit(`INSERT INTO customers VALUES (1, 'Ada')`);
  const fails = [
    `INSERT INTO orders (total, customer) VALUES (1, 1), (-1, 1)`,
    `INSERT INTO customers VALUES (2, 'Alan'), (3, 'Ada')`,
    `INSERT INTO orders (total, customer) VALUES (1, 99)`,
  ];
  for (const text of fails) await expect(shop.commit(text)).rejects.toThrow(/violates/);
  await shop.commit(`
    DO $$ BEGIN
      INSERT INTO customers VALUES (4, 'Edsger');
      BEGIN
        INSERT INTO orders (total, customer) VALUES (1, 4), (2, 4);
        INSERT INTO customers VALUES (5, 'Ada');
      EXCEPTION WHEN unique_violation THEN
        INSERT INTO notes VALUES (1, 'a second Ada', NULL);
      END;
    END $$`);
  const { plain } = await shop.readInEveryMode({
    tables: wholeTables('public.customers', 'public.orders', 'public.notes'),
  });
  expect(plain.filter(({ op }) => op === 'begin')).toHaveLength(2);
});

it('triggers show as what they wrote', async () => {
  await using shop = await Publisher.open({
    schema: `${SCHEMA}
      CREATE TABLE audit (id serial PRIMARY KEY, what text);
      CREATE FUNCTION tidy() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.name := initcap(trim(NEW.name)); RETURN NEW; END $$;
      CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO audit (what) VALUES (TG_OP || ' ' || NEW.name); RETURN NULL; END $$;
      CREATE TRIGGER tidy BEFORE INSERT OR UPDATE ON customers
        FOR EACH ROW EXECUTE PROCEDURE tidy();
      CREATE TRIGGER log AFTER INSERT OR UPDATE ON customers
        FOR EACH ROW EXECUTE PROCEDURE log();`,
  });
  await shop.commit(
    `INSERT INTO customers VALUES (1, '  ada ')`,
    `INSERT INTO customers VALUES (1, 'GRACE') ON CONFLICT (id) DO UPDATE SET name = excluded.name`,
    `INSERT INTO customers VALUES (1, 'nobody') ON CONFLICT DO NOTHING`,
  );
  const { plain } = await shop.readInEveryMode({
    tables: wholeTables('public.customers', 'public.audit'),
  });
  expect(plain.filter(({ table }) => table === 'audit').map((line) => line.new?.what)).toEqual([
    undefined, // its relation line
    'INSERT Ada',
    'UPDATE Grace',
  ]);
});
