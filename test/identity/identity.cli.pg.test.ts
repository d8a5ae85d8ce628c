// `pgtail identity` as people and scripts run it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { identitySchema } from '../../src/identity/schema.ts';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import {
  createDatabase,
  sharedServer,
  type TestDatabase,
  withDatabase,
} from '../support/server.ts';
import { until } from '../support/until.ts';

const { major } = sharedServer();

const SHOP = `CREATE SCHEMA shop;
  CREATE TABLE shop.orders (id int PRIMARY KEY, note text, total numeric);
  CREATE TABLE shop.views (path text NOT NULL);
  CREATE TABLE shop."user" (id int PRIMARY KEY, "order" int);
  ALTER TABLE shop."user" REPLICA IDENTITY FULL;
  INSERT INTO shop.orders SELECT g, 'a note', 12.50 FROM generate_series(1, 50) AS g;
  INSERT INTO shop.views VALUES ('/'), ('/cart');
  CREATE PUBLICATION shop FOR TABLE shop.orders, shop.views, shop."user";
  CREATE PUBLICATION orders FOR TABLE shop.orders;`;

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql(SHOP);
  await database.sql('ANALYZE shop.orders; ANALYZE shop.views; ANALYZE shop."user"');
});

afterAll(async () => {
  await database.drop();
});

const identity = (...args: readonly string[]) =>
  runPgtail(['identity', ...database.options, ...args]);

async function documentOf(...args: readonly string[]): Promise<z.output<typeof identitySchema>> {
  const { stdout } = await identity('--format', 'json', ...args);
  return identitySchema.parse(JSON.parse(stdout));
}

describe('pgtail identity', () => {
  it('prints a table, and what fails below it, and ends with 4', async () => {
    const { code, stdout, stderr } = await identity('--format', 'pretty');
    expect({ code, stderr }).toEqual({ code: 4, stderr: '' });
    expect(stdout.replace(/PostgreSQL \S+ database \S+/, 'PostgreSQL 18.4, database x:')).toBe(
      `PostgreSQL 18.4, database x: 3 tables

   table        identity       update    delete  may be unchanged  published by
   shop.orders  DEFAULT (id)   key, new  key     note, total       orders, shop
   shop."user"  FULL           old, new  old                       shop
✗  shop.views   DEFAULT: none  fails     fails   path              shop

✗ table shop.views has no primary key for REPLICA IDENTITY DEFAULT, and publication shop publishes updates and deletes
    UPDATE and DELETE fail in the application: "… because it does not have a replica identity and publishes …"
    fix: ALTER TABLE shop.views REPLICA IDENTITY FULL; -- about 12 B of WAL more for each UPDATE and DELETE; a primary key instead costs less

2 notes more: -v, or name tables
`,
    );
  });

  it('tells all of the tables that are named, and ends with 0 if they are fine', async () => {
    const { code, stdout } = await identity('--format', 'pretty', 'shop.ord*', '"user"');
    expect(code).toBe(0);
    expect(stdout).toContain(`
shop.orders
  identity          DEFAULT: primary key orders_pkey (id)
  update            key, new, unchanged
  delete            key
  may be unchanged  note, total
`);
    const operations = major >= 11 ? 'insert, update, delete, truncate' : 'insert, update, delete';
    expect(stdout).toContain(`published by      orders (${operations})`);
    expect(stdout).toMatch(
      / {2}to see more +ALTER TABLE shop\.orders REPLICA IDENTITY FULL; -- only if old values are needed: about \d+ B/,
    );
    expect(stdout).toContain('identity      FULL: the whole old row');
    expect(stdout).not.toContain('views');
  });

  it('prints a document that keeps its schema', async () => {
    const { tables, findings, server, unreadable } = await documentOf();
    expect(server.major).toBe(major);
    expect(unreadable).toBeUndefined();
    expect(
      tables.map(({ table, identity, key, fails }) => ({ table, identity, key, fails })),
    ).toEqual([
      { table: 'orders', identity: 'default', key: ['id'], fails: [] },
      { table: 'user', identity: 'full', key: undefined, fails: [] },
      { table: 'views', identity: 'default', key: undefined, fails: ['update', 'delete'] },
    ]);
    expect(findings[0]).toMatchObject({ id: 'identity-missing', severity: 'error' });
  });

  it('looks only at tables of a publication', async () => {
    const { tables, findings } = await documentOf('-P', 'orders');
    expect(tables.map(({ table }) => table)).toEqual(['orders']);
    expect(findings.every(({ severity }) => severity === 'info')).toBe(true);
  });

  it.each([
    [['nope'], 4, /no table is "nope"/],
    [['-P', 'nope'], 4, /publication "nope" does not exist/],
    [['a.b.c'], 2, /invalid value for TABLE/],
    [['--what-if'], 2, /--what-if needs tables/],
  ])('%j ends with %i', async (args, code, message) => {
    const result = await identity(...args);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toMatch(message);
  });

  it('prints the tables that are there, says which are not, and ends with 4', async () => {
    const { code, stdout, stderr } = await identity('-q', 'shop.orders', 'shop.Views', 'carts');
    const { tables } = identitySchema.parse(JSON.parse(stdout));
    expect({ code, tables: tables.map(({ table }) => table) }).toEqual({
      code: 4,
      tables: ['orders', 'views'],
    });
    expect(stderr).toBe('pgtail: no table is "carts"\n');
  });

  it('says how quotes count where that may be the mistake', async () => {
    const { code, stdout, stderr } = await identity('shop.orders', 'Odd*');
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringMatching(
        /^pgtail: no table is "Odd\*": letters without quotes are folded/,
      ),
    });
    expect(identitySchema.parse(JSON.parse(stdout)).tables).toHaveLength(1);
    for (const pattern of ['Odd*', '"Odd*"']) {
      const none = await identity(pattern);
      expect(none).toMatchObject({ code: 4, stdout: '' });
      expect(none.stderr).toMatch(/HINT: {2}letters without quotes are folded/);
    }
  });

  it('names what it does not know as all commands do', async () => {
    const { code, stderr } = await runPgtail(['identty']);
    expect(code).toBe(2);
    expect(stderr).toContain('did you mean "pgtail identity"?');
  });
});

describe('pgtail identity --what-if', () => {
  it('tells what FULL costs as measured', async () => {
    const { tables } = await documentOf('--what-if', 'orders', 'views');
    expect(tables.map(({ full_price }) => full_price?.measured?.rows)).toEqual([50, 2]);
    const { stdout } = await identity('--format', 'pretty', '--what-if', 'orders');
    expect(stdout).toMatch(
      /\d+ B of WAL more for each UPDATE and \d+ B for each DELETE, as measured/,
    );
  });

  it('tells it also of a table that cannot be updated now', async () => {
    await withDatabase(async (own) => {
      await own.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text);
        ALTER TABLE orders REPLICA IDENTITY NOTHING;
        INSERT INTO orders VALUES (1, 'a note');
        CREATE PUBLICATION shop FOR TABLE orders`);
      const args = ['identity', ...own.options, '--what-if', 'orders', '--format', 'pretty'];
      const { code, stdout } = await runPgtail(args);
      expect(code).toBe(4);
      expect(stdout).toContain('fix: ALTER TABLE public.orders REPLICA IDENTITY DEFAULT;\n');
      expect(stdout).toMatch(
        /FULL costs +\d+ B of WAL more for each UPDATE and \d+ B for each DELETE, as measured/,
      );
    });
  });

  it('says what it could not measure', async () => {
    await withDatabase(async (own) => {
      await own.sql('CREATE TABLE orders (id int PRIMARY KEY)');
      const args = ['identity', ...own.options, '--what-if', 'orders'];
      const pretty = await runPgtail([...args, '--format', 'pretty']);
      expect(pretty.stdout).toContain('not measured: public.orders (empty)');
      const { stdout } = await runPgtail([...args, '--format', 'json']);
      const [table] = identitySchema.parse(JSON.parse(stdout)).tables;
      expect(table?.not_measured).toBe('empty');
    });
  });

  it('leaves nothing behind when it is stopped in the middle', async () => {
    await withDatabase(async (own) => {
      await own.sql(`CREATE TABLE orders (id int PRIMARY KEY); INSERT INTO orders VALUES (1)`);
      const other = await own.connect();
      await other.query('BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE');
      await using child = startPgtail(['identity', ...own.options, '--what-if', 'orders']);
      const inTransaction = () =>
        own.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
             AND wait_event_type = 'Lock' AND query LIKE '%LIKE %orders%' AND pid <> pg_backend_pid()`,
        );
      await until(async () => (await inTransaction()).length === 1, {
        what: 'the copy to be made',
      });
      const { code, stdout } = await child.stop('SIGINT');
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
      await other.end();
      await until(async () => (await inTransaction()).length === 0, { what: 'its session to end' });
      const tables = await own.query(
        `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
      );
      expect(tables).toEqual([{ relname: 'orders' }]);
    });
  });
});

describe('a role with nothing but CONNECT', () => {
  const role = () => `${database.name}_reader`;

  beforeAll(async () => {
    await database.sql(`CREATE ROLE ${role()} LOGIN`);
  });

  afterAll(async () => {
    await database.sql(`DROP ROLE ${role()}`);
  });

  const asRole = (...args: readonly string[]) => identity('-U', role(), ...args);

  it('sees the same but for statistics, and is told so', async () => {
    const { code, stdout } = await asRole('--format', 'json');
    const document = identitySchema.parse(JSON.parse(stdout));
    expect(code).toBe(4);
    expect(document.unreadable).toEqual(['full_price.bytes']);
    const whole = await documentOf();
    const withoutPrices = (tables: typeof whole.tables) =>
      tables.map(({ full_price, ...others }) => others);
    expect(withoutPrices(document.tables)).toEqual(withoutPrices(whole.tables));
    const pretty = await asRole('--format', 'pretty');
    expect(pretty.stdout).toContain('its size is in statistics that this role may not read');
    expect(pretty.stdout).toContain(`role "${role()}" may not read the statistics of some columns`);
  });

  it('is told to run ANALYZE where nobody did, whatever it may read', async () => {
    await withDatabase(async (own) => {
      await own.sql(`CREATE TABLE orders (note text NOT NULL);
        INSERT INTO orders VALUES ('a note');
        CREATE INDEX by_note ON orders (note)`);
      const { stdout } = await runPgtail([
        ...['identity', ...own.options, '-U', role(), '--format', 'json'],
      ]);
      const { findings, unreadable } = identitySchema.parse(JSON.parse(stdout));
      expect(unreadable).toBeUndefined();
      expect(findings[0]!.fix[0]).toContain('there are no statistics on its size: run ANALYZE');
    });
  });

  it('cannot measure, and is told what it needs', async () => {
    const { code, stderr } = await asRole('--what-if', 'orders');
    expect(code).toBe(4);
    expect(stderr).toContain(`GRANT SELECT ON shop.orders TO ${role()};`);
    expect(stderr).toContain(`GRANT CREATE ON SCHEMA shop TO ${role()};`);
  });
});
