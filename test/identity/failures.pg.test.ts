// What makes UPDATE and DELETE fail in the application: found before it fails, and mended by what is
// printed. Each is compared with what the server does.

import { describe, expect, it } from 'vitest';
import { sharedServer, type TestDatabase, withDatabase } from '../support/server.ts';
import { applyFix, findingOf, identitiesOf, problemsOf, refusal, tableOf } from './look.ts';

const { major } = sharedServer();

const UPDATE = 'UPDATE orders SET note = note';
const DELETE = 'DELETE FROM orders';

/** The finding is there and true, and what it says to run makes both go away. */
async function expectMended(database: TestDatabase, id: string, serverWords: RegExp) {
  const report = await identitiesOf(database);
  const finding = findingOf(report, id);
  expect(finding.severity).toBe('error');
  expect(tableOf(report, 'orders').failures).not.toEqual([]);
  expect(await refusal(database, UPDATE)).toMatch(serverWords);
  await applyFix(database, finding);
  expect(problemsOf(await identitiesOf(database))).toEqual([]);
  expect(await refusal(database, UPDATE)).toBeUndefined();
  expect(await refusal(database, DELETE)).toBeUndefined();
  return finding;
}

const NO_IDENTITY = /does not have a replica identity and publishes updates/;

describe('a published table without an identity', () => {
  it('fails without a primary key, and FULL mends it for a price', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int NOT NULL, note text);
        INSERT INTO orders SELECT g, 'a note' FROM generate_series(1, 100) AS g;
        CREATE PUBLICATION shop FOR TABLE orders`);
      await database.sql('ANALYZE orders');
      const finding = await expectMended(database, 'identity-missing', NO_IDENTITY);
      expect(finding).toMatchObject({
        subject: { kind: 'table', name: 'public.orders' },
        fact: 'table public.orders has no primary key for REPLICA IDENTITY DEFAULT, and publication shop publishes updates and deletes',
        consequence: expect.stringMatching(/^UPDATE and DELETE fail in the application: /),
        fix: [
          'ALTER TABLE public.orders REPLICA IDENTITY FULL; -- about 19 B of WAL more for each UPDATE and DELETE; a primary key instead costs less',
        ],
      });
    });
  });

  it('is given the unique index that it has', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int NOT NULL, line int NOT NULL, note text);
        CREATE UNIQUE INDEX "Order Line" ON orders (id, line);
        CREATE UNIQUE INDEX maybe_null ON orders (note);
        CREATE UNIQUE INDEX only_some ON orders (id) WHERE line = 1;
        CREATE UNIQUE INDEX computed ON orders ((id + line));
        INSERT INTO orders VALUES (1, 1);
        CREATE PUBLICATION shop FOR ALL TABLES`);
      const { fix } = await expectMended(database, 'identity-missing', NO_IDENTITY);
      expect(fix).toEqual(['ALTER TABLE public.orders REPLICA IDENTITY USING INDEX "Order Line";']);
    });
  });

  it('is told which operations fail', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int NOT NULL, note text);
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders WITH (publish = 'insert, delete')`);
      const finding = findingOf(await identitiesOf(database), 'identity-missing');
      expect(finding.fact).toMatch(/, and publication shop publishes deletes$/);
      expect(finding.consequence).toMatch(/^DELETE fails in the application/);
      expect(await refusal(database, UPDATE)).toBeUndefined();
      expect(await refusal(database, DELETE)).toMatch(/publishes deletes/);
    });
  });

  it('has a deferrable primary key, which the server does not use', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY DEFERRABLE, note text);
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders`);
      const { fact } = await expectMended(database, 'identity-missing', NO_IDENTITY);
      expect(fact).toContain(
        'has a primary key that REPLICA IDENTITY cannot use (orders_pkey: deferrable)',
      );
    });
  });

  it('had an index that was dropped', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, number int NOT NULL, note text);
        CREATE UNIQUE INDEX by_number ON orders (number);
        ALTER TABLE orders REPLICA IDENTITY USING INDEX by_number;
        DROP INDEX by_number;
        INSERT INTO orders VALUES (1, 1);
        CREATE PUBLICATION shop FOR TABLE orders`);
      const { fact, fix } = await expectMended(database, 'identity-missing', NO_IDENTITY);
      expect(fact).toContain('has REPLICA IDENTITY USING INDEX, and that index was dropped');
      expect(fix).toEqual(['ALTER TABLE public.orders REPLICA IDENTITY DEFAULT;']);
    });
  });

  it('has an index that is not valid', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text);
        INSERT INTO orders VALUES (1);
        UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'orders_pkey'::regclass;
        CREATE PUBLICATION shop FOR TABLE orders`);
      const { fact } = await expectMended(database, 'identity-missing', NO_IDENTITY);
      expect(fact).toContain('(orders_pkey: not valid)');
    });
  });

  it('has NOTHING although it has a primary key', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text);
        ALTER TABLE orders REPLICA IDENTITY NOTHING;
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders`);
      const { fact, fix } = await expectMended(database, 'identity-missing', NO_IDENTITY);
      expect(fact).toContain('has REPLICA IDENTITY NOTHING');
      expect(fix).toEqual(['ALTER TABLE public.orders REPLICA IDENTITY DEFAULT;']);
    });
  });

  it('is fine as long as only its inserts are published', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int, note text);
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders WITH (publish = 'insert')`);
      const report = await identitiesOf(database);
      expect(problemsOf(report)).toEqual([]);
      expect(findingOf(report, 'identity-missing-unpublished').severity).toBe('info');
      expect(await refusal(database, UPDATE)).toBeUndefined();
    });
  });

  it('is fine if it is unlogged, which is never sent', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE UNLOGGED TABLE orders (id int, note text);
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR ALL TABLES`);
      const { findings, tables } = await identitiesOf(database);
      expect(findings).toEqual([]);
      expect(tables[0]?.visible).toEqual({ update: [], delete: [] });
      expect(await refusal(database, UPDATE)).toBeUndefined();
    });
  });

  it.runIf(major >= 15)('fails too if it is published with its schema', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int, note text);
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLES IN SCHEMA public`);
      await expectMended(database, 'identity-missing', NO_IDENTITY);
    });
  });
});

describe.runIf(major >= 13)('a partition', () => {
  const PARTITIONS = `CREATE TABLE orders (id int NOT NULL, note text) PARTITION BY RANGE (id);
    CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM (0) TO (10);
    CREATE TABLE orders_2 PARTITION OF orders FOR VALUES FROM (10) TO (20);
    INSERT INTO orders VALUES (1), (11)`;

  it.each(['false', 'true'])(
    'fails with its own identity, whatever the root has (via root: %s), and all are told at once',
    async (viaRoot) => {
      await withDatabase(async (database) => {
        await database.sql(`${PARTITIONS};
          ALTER TABLE orders REPLICA IDENTITY FULL;
          CREATE PUBLICATION shop FOR TABLE orders
            WITH (publish_via_partition_root = ${viaRoot})`);
        const report = await identitiesOf(database, { tables: ['orders'] });
        const finding = findingOf(report, 'identity-missing');
        expect(finding.subject.name).toBe('public.orders');
        expect(finding.fact).toMatch(
          /^each of 2 partitions \(public.orders_1, public.orders_2\) has no primary key/,
        );
        expect(await refusal(database, UPDATE)).toMatch(NO_IDENTITY);
        await applyFix(database, finding);
        expect(problemsOf(await identitiesOf(database))).toEqual([]);
        expect(await refusal(database, UPDATE)).toBeUndefined();
      });
    },
  );
});

describe.runIf(major >= 15)('a row filter', () => {
  it('on columns outside of the identity makes both fail', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text, total int);
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders WHERE (total > 10 AND id > 0)`);
      const words = /Column used in the publication WHERE expression is not part/;
      const { fact } = await expectMended(database, 'row-filter-outside-identity', words);
      expect(fact).toBe(
        'table public.orders is published by publication shop with a WHERE on total, outside of its REPLICA IDENTITY DEFAULT',
      );
    });
  });

  it('of the root counts for partitions that number their columns otherwise', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);
        CREATE TABLE orders_1 (gone int, note text, id int PRIMARY KEY);
        ALTER TABLE orders_1 DROP COLUMN gone;
        ALTER TABLE orders ATTACH PARTITION orders_1 FOR VALUES FROM (0) TO (10);
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders WHERE (id > 0)
          WITH (publish_via_partition_root = true)`);
      expect(problemsOf(await identitiesOf(database))).toEqual([]);
      expect(await refusal(database, UPDATE)).toBeUndefined();
    });
  });

  it('is told how to be mended where no identity suits it', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text, total int);
        CREATE PUBLICATION shop FOR TABLE orders (id, note) WHERE (total > 10)`);
      const { fix } = findingOf(await identitiesOf(database), 'row-filter-outside-identity');
      expect(fix).toEqual([
        '-- take total out of the WHERE of publication shop; or publish public.orders without a column list in publication shop and set REPLICA IDENTITY FULL',
      ]);
    });
  });
});

describe.runIf(major >= 15)('column lists of two publications', () => {
  it('are told in one clause', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text, total int);
        CREATE PUBLICATION shop FOR TABLE orders (id, note) WHERE (total > 10);
        CREATE PUBLICATION billing FOR TABLE orders (id, total)`);
      const { fix } = findingOf(await identitiesOf(database), 'row-filter-outside-identity');
      expect(fix).toEqual([
        '-- take total out of the WHERE of publication shop; or publish public.orders without a column list in publications billing and shop and set REPLICA IDENTITY FULL',
      ]);
    });
  });
});

describe.runIf(major >= 15)('a column list', () => {
  const words = /Column list used by the publication does not cover the replica identity/;

  it('without a column of the identity makes both fail, and is extended', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text, total int);
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders (note, total) WHERE (id > 0)`);
      const { fix } = await expectMended(database, 'column-list-lacks-identity', words);
      expect(fix).toEqual([
        'ALTER PUBLICATION shop DROP TABLE public.orders;',
        'ALTER PUBLICATION shop ADD TABLE public.orders (note, total, id) WHERE ((id > 0));',
      ]);
    });
  });

  it('cannot stand beside FULL, so the table gets its key', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text);
        ALTER TABLE orders REPLICA IDENTITY FULL;
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders (id, note)`);
      const { fix } = await expectMended(database, 'column-list-lacks-identity', words);
      expect(fix).toEqual(['ALTER TABLE public.orders REPLICA IDENTITY DEFAULT;']);
    });
  });

  it('beside FULL on a table without a key leaves only advice', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int, note text);
        ALTER TABLE orders REPLICA IDENTITY FULL;
        CREATE PUBLICATION shop FOR TABLE orders (id, note)`);
      const { fix } = findingOf(await identitiesOf(database), 'column-list-lacks-identity');
      expect(fix).toEqual([
        '-- give public.orders a primary key of columns in the column list of shop; or publish public.orders without a column list in publication shop',
      ]);
    });
  });
});

describe.runIf(major >= 18)('a generated column that is not published', () => {
  const words = /Replica identity must not contain unpublished generated columns/;
  const STORED = 'doubled int GENERATED ALWAYS AS (id * 2) STORED NOT NULL';

  it('makes both fail under FULL until it is', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text, ${STORED});
        ALTER TABLE orders REPLICA IDENTITY FULL;
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders`);
      const id = 'identity-has-unpublished-generated-column';
      const { fix } = await expectMended(database, id, words);
      expect(fix).toEqual(['ALTER PUBLICATION shop SET (publish_generated_columns = stored);']);
    });
  });

  it('makes both fail in an identity index', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text, ${STORED});
        CREATE UNIQUE INDEX by_double ON orders (doubled);
        ALTER TABLE orders REPLICA IDENTITY USING INDEX by_double;
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders`);
      await expectMended(database, 'identity-has-unpublished-generated-column', words);
    });
  });

  it('cannot be published if it is virtual, so the table gets its key', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text,
          doubled int GENERATED ALWAYS AS (id * 2) VIRTUAL);
        ALTER TABLE orders REPLICA IDENTITY FULL;
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders WITH (publish_generated_columns = stored)`);
      const id = 'identity-has-unpublished-generated-column';
      const { fix } = await expectMended(database, id, words);
      expect(fix).toEqual(['ALTER TABLE public.orders REPLICA IDENTITY DEFAULT;']);
    });
  });

  it('may be named in a column list, and then is sent', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text, ${STORED});
        INSERT INTO orders VALUES (1);
        CREATE PUBLICATION shop FOR TABLE orders (id, doubled)`);
      const report = await identitiesOf(database);
      expect(problemsOf(report)).toEqual([]);
      expect(report.findings.map(({ id }) => id)).not.toContain('generated-columns-not-sent');
    });
  });
});

describe.runIf(major >= 15)(
  'two publications of one table that ask for what no identity gives',
  () => {
    const TABLE = `CREATE TABLE orders (id int PRIMARY KEY, note text, total int);
    ALTER TABLE orders REPLICA IDENTITY FULL;
    INSERT INTO orders VALUES (1);`;

    it('are told both: the key, and what must leave the WHERE for it', async () => {
      await withDatabase(async (database) => {
        await database.sql(`${TABLE}
        CREATE PUBLICATION dear FOR TABLE orders WHERE (total > 10);
        CREATE PUBLICATION short FOR TABLE orders (id, note)`);
        const { fix } = findingOf(await identitiesOf(database), 'column-list-lacks-identity');
        expect(fix).toEqual([
          '-- take total out of the WHERE of publication dear and set REPLICA IDENTITY DEFAULT; or publish public.orders without a column list in publication short',
        ]);
        await database.sql(`ALTER PUBLICATION dear SET TABLE orders;
        ALTER TABLE orders REPLICA IDENTITY DEFAULT`);
        expect(await refusal(database, UPDATE)).toBeUndefined();
        expect(problemsOf(await identitiesOf(database))).toEqual([]);
      });
    });

    it('do not say the same sentence twice, and speak of no list where there is none', async () => {
      await withDatabase(async (database) => {
        await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, note text, total int NOT NULL);
        CREATE UNIQUE INDEX by_total ON orders (total);
        ALTER TABLE orders REPLICA IDENTITY USING INDEX by_total;
        CREATE PUBLICATION dear FOR TABLE orders WHERE (note > '');
        CREATE PUBLICATION short FOR TABLE orders (id, note)`);
        const { findings } = await identitiesOf(database);
        const errors = findings.filter(({ severity }) => severity === 'error');
        expect(errors.map(({ id }) => id).toSorted()).toEqual([
          'column-list-lacks-identity',
          'row-filter-outside-identity',
        ]);
        const fixes = errors.flatMap(({ fix }) => fix);
        expect(new Set(fixes).size).toBe(fixes.length);
        expect(fixes.join()).not.toContain('list of publication dear');
        expect(fixes.join()).not.toContain('list in publication dear');
      });
    });
  },
);

it('every line of a fix is a statement or an SQL comment', async () => {
  await withDatabase(async (database) => {
    await database.sql(`CREATE TABLE orders (id int, note text);
      CREATE TABLE lines (id int PRIMARY KEY, note text);
      CREATE PUBLICATION shop FOR ALL TABLES`);
    if (major >= 15) {
      await database.sql(`CREATE TABLE listed (id int, note text);
        CREATE PUBLICATION short FOR TABLE listed (note), lines (id) WHERE (note > '')`);
    }
    const { findings } = await identitiesOf(database);
    expect(findings.length).toBeGreaterThan(2);
    for (const line of findings.flatMap(({ fix }) => fix)) {
      expect(line).toMatch(/^-- |;$|; -- /);
    }
  });
});

it.runIf(major >= 15)('a row filter is read whatever a role says of strings', async () => {
  await withDatabase(async (database) => {
    const role = `${database.name}_old`;
    await database.sql(`CREATE TABLE orders (id int PRIMARY KEY, total int);
      CREATE PUBLICATION shop FOR TABLE orders WHERE (total > 10);
      CREATE ROLE ${role} LOGIN;
      ALTER ROLE ${role} SET standard_conforming_strings = off`);
    try {
      const connection = { ...database.connection, user: role };
      const { fact } = findingOf(await identitiesOf({ connection }), 'row-filter-outside-identity');
      expect(fact).toContain('with a WHERE on total');
    } finally {
      await database.sql(`DROP ROLE ${role}`);
    }
  });
});
