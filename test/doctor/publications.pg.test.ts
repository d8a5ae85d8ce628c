// What is wrong with publications, each in a database of its own.

import { expect, it } from 'vitest';
import { sharedServer, withDatabase } from '../support/server.ts';
import { Patient } from './patient.ts';

const { major } = sharedServer();

/** `orders` has a key; to a publication, `log` would make its UPDATEs fail. */
const SCHEMA = 'CREATE TABLE orders (id int PRIMARY KEY, total int); CREATE TABLE log (line text)';

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
      fix: ['CREATE PUBLICATION "pgtail" FOR TABLE public.orders;'],
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

it('a publication that does not exist is told with those that do', async () => {
  await withShop(`${SCHEMA}; CREATE PUBLICATION shop`, async (patient, database) => {
    const question = { publications: ['The "shop"'] };
    const finding = await patient.finding('publication-missing', question);
    expect(finding).toMatchObject({
      severity: 'error',
      subject: { kind: 'publication', name: 'The "shop"' },
      fact: `publication "The \\"shop\\"" does not exist in database "${database}": it has "shop"`,
      consequence: 'nothing is sent, and changes from before it is made are never sent through it',
      fix: ['CREATE PUBLICATION "The ""shop""" FOR TABLE public.orders;'],
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
      fix: ['ALTER PUBLICATION "shop" ADD TABLE public.orders;'],
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
        `ALTER PUBLICATION "shop" SET (publish = '${ALL}'); -- tables without a replica identity then refuse UPDATE and DELETE`,
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
      fix: [
        'ALTER PUBLICATION "shop" ADD TABLE public."Odd.one"; -- not 1 table without a replica identity, which would refuse UPDATE and DELETE: pgtail identity',
      ],
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
