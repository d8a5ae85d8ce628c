// --what-if measures on a real server, and leaves it as it was.

import { describe, expect, it } from 'vitest';
import { withCatalog } from '../../src/catalog/catalog-connection.ts';
import { readServerSummary } from '../../src/catalog/server-summary.ts';
import { readIdentities } from '../../src/identity/report.ts';
import { measureFullPrices } from '../../src/identity/what-if.ts';
import { sharedServer, type TestDatabase, withDatabase } from '../support/server.ts';

const { major } = sharedServer();

/** By the name of the table. */
function measuredIn(database: Pick<TestDatabase, 'connection'>) {
  return withCatalog(database.connection, async (query) => {
    const server = await readServerSummary(query);
    const { tables } = await readIdentities(query, server, undefined, (found) =>
      measureFullPrices(query, server, found, 'pgtail_copy'),
    );
    return new Map(tables.map(({ table, price }) => [table.name, price]));
  });
}

/** Whatever a table may hold of traces. */
async function stateOf(database: TestDatabase): Promise<unknown> {
  return await database.query(`
    SELECT c.relname, c.relreplident, pg_relation_size(c.oid),
           (SELECT count(*) FROM pg_class) AS relations,
           (SELECT array_agg(o.ctid::text || o.xmin || o.xmax) FROM orders AS o) AS versions
    FROM pg_class AS c WHERE c.relname = 'orders'`);
}

const ORDERS = `CREATE TABLE orders (id int PRIMARY KEY, note text, extra text);
  ALTER TABLE orders ALTER COLUMN extra SET STORAGE EXTERNAL;
  INSERT INTO orders SELECT g, repeat('x', 200), NULL FROM generate_series(1, 300) AS g;`;

describe('--what-if', () => {
  it('measures about what the statistics make one expect', async () => {
    await withDatabase(async (database) => {
      await database.sql(ORDERS);
      await database.sql('ANALYZE orders');
      const price = (await measuredIn(database)).get('orders');
      expect(price?.bytes).toBeGreaterThan(200);
      expect(price?.measured?.rows).toBe(100);
      const { update, delete: remove } = price!.measured!;
      for (const measured of [update, remove]) {
        expect(measured).toBeGreaterThan(0.9 * price!.bytes! - 20);
        expect(measured).toBeLessThan(1.1 * price!.bytes! + 20);
      }
    });
  });

  it('counts values out of line', async () => {
    await withDatabase(async (database) => {
      await database.sql(ORDERS);
      await database.sql(`UPDATE orders SET extra = repeat('y', 5000)`);
      const price = (await measuredIn(database)).get('orders');
      expect(price!.measured!.update).toBeGreaterThan(5000);
      expect(price!.measured!.delete).toBeGreaterThan(5000);
    });
  });

  it('runs no trigger and leaves no trace', async () => {
    await withDatabase(async (database) => {
      await database.sql(`${ORDERS}
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'touched'; END $$;
        CREATE TRIGGER refusing BEFORE UPDATE OR DELETE ON orders
          FOR EACH ROW EXECUTE PROCEDURE refuse();
        CREATE TABLE lines (order_id int REFERENCES orders ON DELETE CASCADE)`);
      const before = await stateOf(database);
      expect((await measuredIn(database)).get('orders')?.measured).toBeDefined();
      expect(await stateOf(database)).toEqual(before);
    });
  });

  it('measures tables that cannot be updated now', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int, "Total" numeric);
        INSERT INTO orders SELECT 1, 12.50 FROM generate_series(1, 10);
        CREATE PUBLICATION shop FOR ALL TABLES`);
      const { update } = (await measuredIn(database)).get('orders')!.measured!;
      expect(update).toBeGreaterThan(10);
      expect(update).toBeLessThan(60);
    });
  });

  it.runIf(major >= 18)('leaves out columns that are computed when they are read', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          total int, twice int GENERATED ALWAYS AS (total * 2) VIRTUAL,
          thrice int GENERATED ALWAYS AS (total * 3) STORED);
        INSERT INTO orders (total) VALUES (1), (2)`);
      expect((await measuredIn(database)).get('orders')?.measured?.rows).toBe(2);
    });
  });

  it('says which tables have nothing to measure, and why', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY);
        CREATE UNLOGGED TABLE carts (id int PRIMARY KEY);
        CREATE TABLE visits (id int) PARTITION BY RANGE (id)`);
      const prices = await measuredIn(database);
      expect([...prices].map(([name, { notMeasured }]) => [name, notMeasured])).toEqual([
        ['carts', 'unlogged'],
        ['orders', 'empty'],
        ['visits', 'partitioned'],
      ]);
    });
  });

  it('numbers rows without a key beside a column of the name it would choose', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (pgtail_row_number int, note text);
        INSERT INTO orders VALUES (1, 'a note')`);
      expect((await measuredIn(database)).get('orders')?.measured?.rows).toBe(1);
    });
  });

  it('measures also where transactions are read-only by default', async () => {
    await withDatabase(async (database) => {
      await database.sql(ORDERS);
      await database.sql(`ALTER DATABASE ${database.name} SET default_transaction_read_only = on`);
      expect((await measuredIn(database)).get('orders')?.measured?.rows).toBe(100);
    });
  });

  it('does not wait for long behind a lock', async () => {
    await withDatabase(async (database) => {
      await database.sql(ORDERS);
      const other = await database.connect();
      await other.query('BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE');
      await expect(measuredIn(database)).rejects.toMatchObject({
        message: '--what-if got no lock on public.orders within 1 s (lock timeout)',
        hint: expect.stringContaining('try again'),
      });
      await other.end();
    });
  });
});
