// What is wrong with publications, each in a database of its own.

import { describe, expect, it } from 'vitest';
import { sharedServer, withDatabase } from '../support/server.ts';
import { Patient } from './patient.ts';

const { major } = sharedServer();

/** `orders` has a key; to a publication, `log` would make its UPDATEs fail. */
const SCHEMA = 'CREATE TABLE orders (id int PRIMARY KEY, total int); CREATE TABLE log (line text)';

const NOT_LOG =
  '-- not 1 table without a replica identity, which would refuse UPDATE and DELETE: pgtail identity';

async function withShop(
  schema: string,
  test: (patient: Patient, database: string) => Promise<void>,
): Promise<void> {
  await withDatabase(async (database) => {
    await database.sql(schema);
    const { host, port, user, name } = database;
    await test(new Patient({ host, port, user, database: name }), name);
  });
}

it('a database without a publication gets one of the tables that can be published', async () => {
  await withShop(SCHEMA, async (patient, database) => {
    const finding = await patient.finding('no-publication');
    expect(finding).toMatchObject({
      severity: 'error',
      fact: `database "${database}" has no publication`,
      consequence: 'without one nothing is sent',
      fix: [`CREATE PUBLICATION "pgtail" FOR TABLE public.orders; ${NOT_LOG}`],
    });
    await patient.mend(finding);
    await patient.sql(`INSERT INTO log VALUES ('a')`);
    await patient.sql(`UPDATE log SET line = 'b'`);
  });
});

it('a database in which every table can be published, and there are many, gets one for all', async () => {
  const tables = Array.from({ length: 21 }, (_, i) => `CREATE TABLE t${i} (id int PRIMARY KEY)`);
  await withShop(tables.join('; '), async (patient) => {
    const finding = await patient.finding('no-publication');
    expect(finding.fix).toEqual([
      'CREATE PUBLICATION "pgtail" FOR ALL TABLES; -- as a superuser; a table made later without a primary key refuses UPDATE and DELETE',
    ]);
    await patient.mend(finding);
  });
});

it('a database with many tables and one of an extension without a key gets none for all', async () => {
  const tables = Array.from({ length: 21 }, (_, i) => `CREATE TABLE t${i} (id int PRIMARY KEY)`);
  const settings =
    'CREATE TABLE settings (line text); ALTER EXTENSION plpgsql ADD TABLE settings; INSERT INTO settings VALUES (1)';
  await withShop(`${tables.join('; ')}; ${settings}`, async (patient) => {
    const finding = await patient.finding('no-publication');
    expect(finding.fix).toEqual([
      expect.stringMatching(/^CREATE PUBLICATION "pgtail" FOR TABLE public.t0, .*; -- 1 more$/),
    ]);
    await patient.mend(finding);
    await patient.sql(`UPDATE settings SET line = 'b'`);
    await patient.mend(await patient.finding('tables-not-published'));
    await patient.sql(`UPDATE settings SET line = 'c'`);
    await patient.sql('ALTER EXTENSION plpgsql DROP TABLE settings');
  });
});

it('a database with many tables, some without a key, gets a publication of the others', async () => {
  const tables = Array.from({ length: 21 }, (_, i) => `CREATE TABLE t${i} (id int PRIMARY KEY)`);
  const log = `CREATE TABLE log (line text); INSERT INTO log VALUES ('a')`;
  await withShop(`${tables.join('; ')}; ${log}`, async (patient) => {
    const finding = await patient.finding('no-publication');
    expect(finding.fix[0]).toMatch(/^CREATE PUBLICATION "pgtail" FOR TABLE .*; -- 1 more; not 1 /);
    await patient.mend(finding);
    await patient.sql(`UPDATE log SET line = 'b'`);
  });
});

it('a database without tables is told what a publication for all does to those to come', async () => {
  await withShop('SELECT', async (patient) => {
    const finding = await patient.finding('no-publication');
    expect(finding.fix).toEqual([
      'CREATE PUBLICATION "pgtail" FOR ALL TABLES; -- as a superuser; there is no table yet, and each that is made later without a primary key refuses UPDATE and DELETE',
    ]);
    await patient.mend(finding);
    await patient.sql('CREATE TABLE log (line text)');
    await patient.sql(`INSERT INTO log VALUES ('a')`);
    await expect(patient.sql(`UPDATE log SET line = 'b'`)).rejects.toThrow(/replica identity/);
  });
});

it('a publication of inserts alone is filled with tables without a replica identity', async () => {
  const schema = `${SCHEMA}; INSERT INTO log VALUES ('a');
    CREATE PUBLICATION shop WITH (publish = 'insert')`;
  await withShop(schema, async (patient) => {
    const finding = await patient.finding('publication-empty');
    expect(finding.fix).toEqual(['ALTER PUBLICATION "shop" ADD TABLE public.log, public.orders;']);
    await patient.mend(finding);
    await patient.sql(`UPDATE log SET line = 'b'`);
  });
});

/** `old_orders` has no key of its own, and is named with `orders` where ONLY is left out. */
const INHERITED = `CREATE TABLE orders (id int PRIMARY KEY, total int);
  CREATE TABLE old_orders () INHERITS (orders); INSERT INTO old_orders VALUES (1, 2)`;

it('a table is published without those that inherit from it', async () => {
  await withShop(INHERITED, async (patient) => {
    const finding = await patient.finding('no-publication');
    expect(finding.fix).toEqual([
      `CREATE PUBLICATION "pgtail" FOR TABLE ONLY public.orders; ${NOT_LOG}`,
    ]);
    await patient.mend(finding);
    await patient.sql('UPDATE orders SET total = 3');
  });
});

it('a table is added without those that inherit from it', async () => {
  const schema = `${INHERITED}; CREATE TABLE carts (id int PRIMARY KEY);
    CREATE TABLE new_orders (PRIMARY KEY (id)) INHERITS (orders); INSERT INTO new_orders VALUES (2);
    CREATE PUBLICATION shop FOR TABLE carts`;
  await withShop(schema, async (patient) => {
    const finding = await patient.finding('tables-not-published');
    expect(finding).toMatchObject({
      fact: '3 tables not in publication "shop": public.new_orders, public.old_orders, public.orders',
      fix: [`ALTER PUBLICATION "shop" ADD TABLE public.new_orders, ONLY public.orders; ${NOT_LOG}`],
    });
    for (const fix of finding.fix) await patient.sql(fix);
    await patient.sql('UPDATE orders SET total = 3');
    expect(await patient.finding('tables-not-published')).toMatchObject({
      fact: '1 table not in publication "shop": public.old_orders',
    });
    await patient.sql('ALTER TABLE old_orders ADD PRIMARY KEY (id)');
    await patient.mend(await patient.finding('tables-not-published'));
    await patient.sql('UPDATE orders SET total = 4');
  });
});

it('a publication that does not exist is told with those that do', async () => {
  await withShop(`${SCHEMA}; CREATE PUBLICATION shop`, async (patient, database) => {
    const question = { publications: ['The "shop"'] };
    const finding = await patient.finding('publication-missing', question);
    expect(finding).toMatchObject({
      severity: 'error',
      subject: { kind: 'publication', name: 'The "shop"' },
      fact: `publication "The \\"shop\\"" does not exist in database "${database}": it has "shop"`,
      consequence: 'nothing is sent, and changes from before it is made are never sent through it',
      fix: [`CREATE PUBLICATION "The ""shop""" FOR TABLE public.orders; ${NOT_LOG}`],
    });
    await patient.mend(finding, question);
  });
});

it('of several publications one must be named', async () => {
  const schema = `${SCHEMA}; CREATE PUBLICATION first; CREATE PUBLICATION second`;
  await withShop(schema, async (patient, database) => {
    const finding = await patient.finding('several-publications');
    expect(finding).toMatchObject({
      severity: 'error',
      fact: `database "${database}" has several publications: "first", "second"`,
      consequence: 'which of them is to be read must be said',
      fix: ['export PGTAIL_PUBLICATION=first # or name one or more with -P'],
    });
    await patient.mend(finding);
  });
});

it('a publication without tables sends nothing', async () => {
  await withShop(`${SCHEMA}; CREATE PUBLICATION shop`, async (patient) => {
    const finding = await patient.finding('publication-empty');
    expect(finding).toMatchObject({
      severity: 'warning',
      fact: 'publication "shop" has no tables',
      consequence: 'nothing is sent through it',
      fix: [`ALTER PUBLICATION "shop" ADD TABLE public.orders; ${NOT_LOG}`],
    });
    await patient.mend(finding);
  });
});

const ALL = major >= 11 ? 'insert, update, delete, truncate' : 'insert, update, delete';

it('operations that are not published are named', async () => {
  const schema = `${SCHEMA}; CREATE PUBLICATION shop FOR TABLE orders WITH (publish = 'insert')`;
  await withShop(schema, async (patient) => {
    const finding = await patient.finding('publication-operations');
    expect(finding).toMatchObject({
      severity: 'info',
      fact: `publication "shop" does not publish ${ALL.replace('insert, ', '')}`,
      consequence: 'these changes are not sent: a copy kept from the rest is not the table',
      fix: [
        `ALTER PUBLICATION "shop" SET (publish = '${ALL}'); -- tables without a replica identity, or with one that a WHERE, a column list or a generated column does not fit, then refuse UPDATE and DELETE`,
      ],
    });
    await patient.mend(finding);
  });
});

it('a publication of no operation at all needs attention', async () => {
  const schema = `${SCHEMA}; CREATE PUBLICATION shop FOR TABLE orders WITH (publish = '')`;
  await withShop(schema, async (patient) => {
    const finding = await patient.finding('publication-operations');
    expect(finding).toMatchObject({
      severity: 'warning',
      fact: `publication "shop" does not publish ${ALL}`,
    });
    await patient.mend(finding);
  });
});

it('tables that are left out are named, and the fix adds those that can be', async () => {
  const schema = `${SCHEMA}; CREATE PUBLICATION shop FOR TABLE orders;
    CREATE TABLE "Odd.one" (id int PRIMARY KEY); CREATE UNLOGGED TABLE carts (id int PRIMARY KEY)`;
  await withShop(schema, async (patient) => {
    const finding = await patient.finding('tables-not-published');
    expect(finding).toMatchObject({
      severity: 'info',
      fact: '2 tables not in publication "shop": public."Odd.one", public.log',
      consequence: 'their changes are not sent',
      fix: [`ALTER PUBLICATION "shop" ADD TABLE public."Odd.one"; ${NOT_LOG}`],
    });
    await patient.sql('ALTER TABLE log REPLICA IDENTITY FULL');
    await patient.mend(await patient.finding('tables-not-published'));
  });
});

it('a publication of inserts alone takes tables without a replica identity', async () => {
  const schema = `${SCHEMA}; INSERT INTO log VALUES ('a');
    CREATE PUBLICATION shop FOR TABLE orders WITH (publish = 'insert')`;
  await withShop(schema, async (patient) => {
    const finding = await patient.finding('tables-not-published');
    expect(finding.fix).toEqual(['ALTER PUBLICATION "shop" ADD TABLE public.log;']);
    await patient.mend(finding);
    await patient.sql(`UPDATE log SET line = 'b'`);
  });
});

it('the tables of an extension are nobody’s to publish', async () => {
  const schema = `${SCHEMA}; CREATE PUBLICATION shop FOR TABLE orders, log;
    CREATE TABLE settings (id int PRIMARY KEY); ALTER EXTENSION plpgsql ADD TABLE settings`;
  await withShop(schema, async (patient) => {
    expect(await patient.ids()).not.toContain('tables-not-published');
    await patient.sql('ALTER EXTENSION plpgsql DROP TABLE settings');
    await patient.mend(await patient.finding('tables-not-published'));
  });
});

it('a database with many tables is asked no more than one with few', async () => {
  const schema = `${SCHEMA}; CREATE PUBLICATION shop FOR TABLE orders`;
  await withShop(schema, async (patient) => {
    await patient.examine();
    const ofFew = patient.queries;
    await patient.sql(`DO $$ BEGIN FOR i IN 1..100 LOOP
      EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY)', i); END LOOP; END $$`);
    await patient.examine();
    expect(patient.queries).toBe(ofFew);
  });
});

it('tables that cannot be published are not added', async () => {
  await withShop(`${SCHEMA}; CREATE PUBLICATION shop FOR TABLE orders`, async (patient) => {
    const finding = await patient.finding('tables-not-published');
    expect(finding.fix).toEqual([expect.stringMatching(/^give them a primary key first/)]);
    await patient.sql('ALTER TABLE log ADD id int PRIMARY KEY');
    await patient.mend(await patient.finding('tables-not-published'));
  });
});

const PARTITIONED = `
CREATE TABLE days (day int PRIMARY KEY) PARTITION BY RANGE (day);
CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (0) TO (10);
CREATE TABLE days_2 PARTITION OF days FOR VALUES FROM (10) TO (20);
CREATE PUBLICATION shop FOR TABLE days;`;

it.runIf(major >= 13)('partitions that are published alone can be through their root', async () => {
  await withShop(PARTITIONED, async (patient) => {
    expect(await patient.ids()).not.toContain('tables-not-published');
    const finding = await patient.finding('partitions-under-own-names');
    expect(finding).toMatchObject({
      severity: 'info',
      fact: 'publication "shop" publishes 2 partitions under their own names',
      consequence:
        'a row that moves to another partition is a delete and an insert, and the name of the partitioned table is never seen',
      fix: [
        'ALTER PUBLICATION "shop" SET (publish_via_partition_root = true); -- TRUNCATE of a single partition is not sent then',
      ],
    });
    await patient.mend(finding);
    expect(await patient.ids()).not.toContain('tables-not-published');
  });
});

const WEEKS = `
CREATE TABLE weeks (week int PRIMARY KEY) PARTITION BY RANGE (week);
CREATE TABLE weeks_1 PARTITION OF weeks FOR VALUES FROM (0) TO (10);
CREATE TABLE weeks_2 PARTITION OF weeks FOR VALUES FROM (10) TO (20);`;

describe.runIf(major >= 13)('partitions that are published without their root', () => {
  const setting =
    'ALTER PUBLICATION "shop" SET (publish_via_partition_root = true); -- TRUNCATE of a single partition is not sent then';
  const addWeeks =
    'ALTER PUBLICATION "shop" ADD TABLE public.weeks; -- which sends all of their partitions';

  /** What pgoutput calls the tables. */
  async function sentNames(patient: Patient): Promise<readonly string[]> {
    const rows = await patient.rows<{ tablename: string }>(
      'SELECT tablename::text FROM pg_publication_tables ORDER BY 1',
    );
    return rows.map(({ tablename }) => tablename);
  }

  it('have their root added', async () => {
    const schema = `${WEEKS} CREATE PUBLICATION shop FOR TABLE weeks_1`;
    await withShop(schema, async (patient) => {
      const finding = await patient.finding('partitions-under-own-names');
      expect(finding.fix).toEqual([addWeeks, setting]);
      await patient.mend(finding);
      expect(await sentNames(patient)).toEqual(['weeks']);
      await patient.sql('INSERT INTO weeks VALUES (1), (11); UPDATE weeks SET week = week + 1');
    });
  });

  it.runIf(major >= 15)(
    'are told that their row filters do not count under their root',
    async () => {
      const schema = `${WEEKS} CREATE PUBLICATION shop FOR TABLE weeks_1 WHERE (week > 3)`;
      await withShop(schema, async (patient) => {
        const finding = await patient.finding('partitions-under-own-names');
        const lost = 'row filters and column lists of single partitions do not count then';
        expect(finding.fix).toEqual([`${addWeeks}; ${lost}`, `${setting}; ${lost}`]);
        await patient.mend(finding);
        const sent = await patient.rows(
          'SELECT tablename::text, rowfilter FROM pg_publication_tables',
        );
        expect(sent).toEqual([{ tablename: 'weeks', rowfilter: null }]);
      });
    },
  );

  it('keep their names under the setting alone', async () => {
    const schema = `${WEEKS} CREATE PUBLICATION shop FOR TABLE weeks_1
      WITH (publish_via_partition_root = true)`;
    await withShop(schema, async (patient) => {
      const finding = await patient.finding('partitions-under-own-names');
      expect(finding.fix).toEqual([addWeeks]);
      expect(await sentNames(patient)).toEqual(['weeks_1']);
      await patient.mend(finding);
      expect(await sentNames(patient)).toEqual(['weeks']);
    });
  });

  it('come beside others whose root is published', async () => {
    const schema = `${PARTITIONED} ${WEEKS} ALTER PUBLICATION shop ADD TABLE weeks_2`;
    await withShop(schema, async (patient) => {
      const finding = await patient.finding('partitions-under-own-names');
      expect(finding).toMatchObject({
        fact: 'publication "shop" publishes 3 partitions under their own names',
        fix: [addWeeks, setting],
      });
      await patient.mend(finding);
      expect(await sentNames(patient)).toEqual(['days', 'weeks']);
    });
  });

  it('are left alone where another partition would refuse UPDATE then', async () => {
    const schema = `${WEEKS} ALTER TABLE weeks_2 REPLICA IDENTITY NOTHING;
      INSERT INTO weeks VALUES (11); CREATE PUBLICATION shop FOR TABLE weeks_1`;
    await withShop(schema, async (patient) => {
      const finding = await patient.finding('partitions-under-own-names');
      expect(finding.fix).toEqual([
        '-- public.weeks: not before all of their partitions have a replica identity, without which they would refuse UPDATE and DELETE: pgtail identity',
      ]);
      for (const fix of finding.fix) await patient.sql(fix);
      await patient.sql('UPDATE weeks SET week = 12');
      await patient.sql('ALTER TABLE weeks_2 REPLICA IDENTITY DEFAULT');
      await patient.mend(await patient.finding('partitions-under-own-names'));
    });
  });
});

it.runIf(major >= 13)(
  'a partitioned table without rows to send counts only if it is published',
  async () => {
    const schema = `${SCHEMA}; DROP TABLE log; CREATE PUBLICATION shop FOR TABLE orders;
    CREATE TABLE days (day int PRIMARY KEY) PARTITION BY RANGE (day);
    CREATE TABLE weeks (week int PRIMARY KEY) PARTITION BY RANGE (week);
    CREATE UNLOGGED TABLE weeks_1 PARTITION OF weeks FOR VALUES FROM (0) TO (10);
    CREATE TABLE years (year int) PARTITION BY RANGE (year)`;
    await withShop(schema, async (patient) => {
      const { checks } = await patient.examine();
      expect(checks.find(({ name }) => name === 'published-tables')).toMatchObject({
        fact: '1 of 4 tables published',
      });
      const finding = await patient.finding('tables-not-published');
      expect(finding.fix).toEqual([
        `ALTER PUBLICATION "shop" ADD TABLE public.days, public.weeks; ${NOT_LOG}`,
      ]);
      await patient.sql('ALTER TABLE years ADD PRIMARY KEY (year)');
      await patient.mend(await patient.finding('tables-not-published'));
      await patient.sql('CREATE TABLE years_1 PARTITION OF years FOR VALUES FROM (0) TO (10)');
      await patient.sql('INSERT INTO years VALUES (1); UPDATE years SET year = 2');
    });
  },
);

it.runIf(major >= 13)('a partitioned table stands for its partitions', async () => {
  const schema = `${PARTITIONED} DROP PUBLICATION shop; CREATE PUBLICATION shop FOR TABLE days_1;
    CREATE TABLE weeks (week int PRIMARY KEY) PARTITION BY RANGE (week);
    CREATE TABLE weeks_1 PARTITION OF weeks FOR VALUES FROM (0) TO (10);
    ALTER TABLE weeks_1 REPLICA IDENTITY NOTHING`;
  await withShop(schema, async (patient) => {
    const finding = await patient.finding('tables-not-published');
    expect(finding).toMatchObject({
      fact: '2 tables not in publication "shop": public.days, public.weeks',
      fix: [
        expect.stringMatching(/^ALTER PUBLICATION "shop" ADD TABLE public.days; -- not 1 table/),
      ],
    });
    await patient.sql('ALTER TABLE weeks_1 REPLICA IDENTITY DEFAULT');
    await patient.mend(await patient.finding('tables-not-published'));
  });
});

it('a publication of all tables waits for one', async () => {
  await withShop('CREATE PUBLICATION shop FOR ALL TABLES', async (patient) => {
    const finding = await patient.finding('publication-empty');
    expect(finding.fix).toEqual(['make a table with a primary key']);
    await patient.sql('CREATE TABLE orders (id int PRIMARY KEY)');
    expect(await patient.ids()).not.toContain('publication-empty');
  });
});

const GENERATED = `
CREATE TABLE orders (id int PRIMARY KEY, total int GENERATED ALWAYS AS (id * 2) STORED);
CREATE PUBLICATION shop FOR TABLE orders;`;

it.runIf(major >= 12)('generated columns are named that are not sent', async () => {
  await withShop(GENERATED, async (patient) => {
    const finding = await patient.finding('generated-columns-not-published');
    expect(finding).toMatchObject({
      severity: 'info',
      fact: 'publication "shop" does not send generated columns: public.orders.total',
      consequence: 'they are missing from every row',
    });
    if (major >= 18) {
      await patient.mend(finding);
    } else {
      expect(finding.fix).toEqual([expect.stringMatching(/from PostgreSQL 18 on$/)]);
      await patient.sql('ALTER TABLE orders DROP total');
      expect(await patient.ids()).not.toContain('generated-columns-not-published');
    }
  });
});

describe.runIf(major >= 18)('a column list that lacks a generated column', () => {
  const schema = `CREATE TABLE orders
      (id int PRIMARY KEY, total int, gross int GENERATED ALWAYS AS (total * 2) STORED);
    CREATE TABLE old_orders (PRIMARY KEY (id)) INHERITS (orders)`;
  const list =
    'BEGIN; ALTER PUBLICATION shop DROP TABLE ONLY public.orders; ALTER PUBLICATION shop ADD TABLE ONLY public.orders (id, total, gross) WHERE ((id > 0)); COMMIT;';

  it('is extended where the setting is there already', async () => {
    const publication = `CREATE PUBLICATION shop FOR TABLE ONLY orders (id, total) WHERE (id > 0)
      WITH (publish_generated_columns = stored)`;
    await withShop(`${schema}; ${publication}`, async (patient) => {
      const finding = await patient.finding('generated-columns-not-published');
      expect(finding.fix).toEqual([list]);
      await patient.mend(finding);
      const sent = await patient.rows(
        `SELECT attnames::text, rowfilter FROM pg_publication_tables`,
      );
      expect(sent).toEqual([{ attnames: '{id,total,gross}', rowfilter: '(id > 0)' }]);
    });
  });

  it('gets its identity first: no fix undoes another one', async () => {
    const publication = `CREATE PUBLICATION shop FOR TABLE ONLY orders (total) WHERE (id > 0)`;
    await withShop(`${schema}; ${publication}`, async (patient) => {
      const generated = await patient.finding('generated-columns-not-published');
      expect(generated.fix).toEqual([
        '-- once the column lists have the columns of the replica identity: see that finding',
      ]);
      await patient.mend(await patient.finding('column-list-lacks-identity'));
      const [fix] = (await patient.finding('generated-columns-not-published')).fix;
      expect(fix).toContain('(id, total, gross) WHERE ((id > 0))');
      await patient.sql(`${fix}; UPDATE ONLY orders SET total = total`);
    });
  });

  it('is extended beside the setting for tables without a list', async () => {
    const publication = `CREATE TABLE carts (id int PRIMARY KEY, g int GENERATED ALWAYS AS (id) STORED);
      CREATE PUBLICATION shop FOR TABLE carts, ONLY orders (id, total) WHERE (id > 0)`;
    await withShop(`${schema}; ${publication}`, async (patient) => {
      const finding = await patient.finding('generated-columns-not-published');
      expect(finding).toMatchObject({
        fact: 'publication "shop" does not send generated columns: public.carts.g, public.orders.gross',
        fix: ['ALTER PUBLICATION "shop" SET (publish_generated_columns = stored);', list],
      });
      await patient.mend(finding);
    });
  });
});

it.runIf(major >= 18)('virtual columns are named, which are never sent', async () => {
  const schema = `CREATE TABLE orders (id int PRIMARY KEY, total int GENERATED ALWAYS AS (id * 2));
    CREATE PUBLICATION shop FOR TABLE orders WITH (publish_generated_columns = stored)`;
  await withShop(schema, async (patient) => {
    const finding = await patient.finding('virtual-columns-not-sent');
    expect(finding).toMatchObject({
      severity: 'info',
      fact: 'virtual generated columns are never sent: public.orders.total',
      fix: ['compute them where the changes are read, or make them STORED columns'],
    });
    await patient.sql(
      `ALTER TABLE orders DROP total, ADD total int GENERATED ALWAYS AS (id * 2) STORED`,
    );
    const ids = await patient.ids();
    expect(ids).not.toContain('virtual-columns-not-sent');
    expect(ids).not.toContain('generated-columns-not-published');
  });
});

it.runIf(major >= 18)(
  'adds a whole row with generated columns where they are published',
  async () => {
    const schema = `${SCHEMA}; CREATE TABLE whole (id int, g text GENERATED ALWAYS AS ('x') STORED);
    ALTER TABLE whole REPLICA IDENTITY FULL; INSERT INTO whole VALUES (1); DROP TABLE log;
    CREATE PUBLICATION shop FOR TABLE orders WITH (publish_generated_columns = stored)`;
    await withShop(schema, async (patient) => {
      const finding = await patient.finding('tables-not-published');
      expect(finding.fix).toEqual(['ALTER PUBLICATION "shop" ADD TABLE public.whole;']);
      await patient.mend(finding);
      await patient.sql('UPDATE whole SET id = 2');
    });
  },
);

it.runIf(major >= 18)('never adds a table whose identity has generated columns', async () => {
  const generated = `
    CREATE TABLE whole (id int PRIMARY KEY, g text GENERATED ALWAYS AS ('x') STORED);
    ALTER TABLE whole REPLICA IDENTITY FULL;
    CREATE TABLE keyed (id int, g int GENERATED ALWAYS AS (id) STORED NOT NULL UNIQUE);
    ALTER TABLE keyed REPLICA IDENTITY USING INDEX keyed_g_key;
    CREATE TABLE plain (id int PRIMARY KEY, g text GENERATED ALWAYS AS ('x') STORED);
    CREATE PUBLICATION shop FOR TABLE orders`;
  await withShop(`${SCHEMA}; ${generated}`, async (patient) => {
    const finding = await patient.finding('tables-not-published');
    expect(finding.fix[0]).toMatch(
      /^ALTER PUBLICATION "shop" ADD TABLE public\.plain; -- not 3 tables/,
    );
    // those that cannot be added are still told
    for (const fix of finding.fix) await patient.sql(fix);
    await patient.sql('UPDATE plain SET id = 1; UPDATE whole SET id = 1; UPDATE keyed SET id = 1');
  });
});
