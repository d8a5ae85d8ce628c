// What limits the view, or soon will make something fail: found on a real server, and compared with
// what the tail prints.

import { describe, expect, it } from 'vitest';
import { runPgtail } from '../support/pgtail.ts';
import { sharedServer, type TestDatabase, withDatabase } from '../support/server.ts';
import { applyFix, findingOf, identitiesOf, problemsOf, tableOf } from './look.ts';

const { major } = sharedServer();

type Line = Readonly<Record<string, unknown>>;

/** The update and delete lines of what `change` does. */
async function linesOf(database: TestDatabase, change: string): Promise<readonly Line[]> {
  const slot = database.name;
  await database.query(`SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput')`);
  await database.sql(change);
  const args = [...database.options, '-S', slot, '-P', 'shop', '--no-follow'];
  const { stdout } = await runPgtail([...args, '--op', 'update,delete']);
  await database.query(`SELECT pg_drop_replication_slot('${slot}')`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

const ROW_PARTS = ['key', 'old', 'new', 'unchanged', 'changed'];

const partsOf = (line: Line | undefined): readonly string[] =>
  Object.keys(line ?? {}).filter((key) => ROW_PARTS.includes(key));

const ARTICLES = `CREATE TABLE articles (id int PRIMARY KEY, number int NOT NULL, body text);
  ALTER TABLE articles ALTER COLUMN body SET STORAGE EXTERNAL;
  CREATE UNIQUE INDEX by_number ON articles (number);
  INSERT INTO articles VALUES (1, 1, repeat('x', 10000));
  CREATE PUBLICATION shop FOR TABLE articles;`;

const CHANGES = 'BEGIN; UPDATE articles SET id = id + 1; DELETE FROM articles; COMMIT';

describe('what a table is said to show', () => {
  it.each(['DEFAULT', 'USING INDEX by_number', 'FULL'])(
    'is what the tail prints: %s',
    async (identity) => {
      await withDatabase(async (database) => {
        await database.sql(`${ARTICLES} ALTER TABLE articles REPLICA IDENTITY ${identity}`);
        const { visible } = tableOf(await identitiesOf(database), 'articles');
        const [update, remove] = await linesOf(database, CHANGES);
        expect(partsOf(update).toSorted()).toEqual(visible.update.toSorted());
        expect(partsOf(remove)).toEqual(visible.delete);
      });
    },
  );
});

it('old values are not sent under DEFAULT, for the price of FULL', async () => {
  await withDatabase(async (database) => {
    await database.sql(ARTICLES);
    const finding = findingOf(await identitiesOf(database), 'old-values-not-sent');
    expect(finding).toMatchObject({
      severity: 'info',
      fact: 'table public.articles has REPLICA IDENTITY DEFAULT (id)',
      fix: [
        'ALTER TABLE public.articles REPLICA IDENTITY FULL; -- only if old values are needed: writes the old row to the WAL too; there are no statistics on its size: run ANALYZE',
      ],
    });
    await applyFix(database, finding);
    expect((await identitiesOf(database)).findings).toEqual([]);
  });
});

it('a large value that an update leaves alone is not sent, unless FULL', async () => {
  await withDatabase(async (database) => {
    await database.sql(ARTICLES);
    const finding = findingOf(await identitiesOf(database), 'toasted-values-not-sent');
    expect(finding.fact).toBe(
      'table public.articles keeps large values of body out of line (TOAST)',
    );
    const [before] = await linesOf(database, 'UPDATE articles SET number = 2');
    expect(before?.unchanged).toEqual(['body']);
    await applyFix(database, finding);
    expect((await identitiesOf(database)).findings).toEqual([]);
    const [after] = await linesOf(database, 'UPDATE articles SET number = 3');
    expect(after).not.toHaveProperty('unchanged');
  });
});

it('plain storage, small values and columns of the key are never missing', async () => {
  await withDatabase(async (database) => {
    await database.sql(`CREATE TABLE articles (sku text PRIMARY KEY, price numeric(10,2), note text,
        seller inet);
      ALTER TABLE articles ALTER COLUMN note SET STORAGE PLAIN;
      CREATE PUBLICATION shop FOR TABLE articles`);
    const { findings } = await identitiesOf(database);
    expect(findings.map(({ id }) => id)).toEqual(['old-values-not-sent']);
  });
});

describe.runIf(major >= 12)('a generated column', () => {
  const GENERATED = `CREATE TABLE articles (id int PRIMARY KEY, note text,
    doubled int GENERATED ALWAYS AS (id * 2) STORED NOT NULL);
    CREATE UNIQUE INDEX by_double ON articles (doubled);
    INSERT INTO articles VALUES (1);
    CREATE PUBLICATION shop FOR TABLE articles;`;

  it('is not sent, and from 18 on can be', async () => {
    await withDatabase(async (database) => {
      await database.sql(GENERATED);
      const finding = findingOf(await identitiesOf(database), 'generated-columns-not-sent');
      expect(finding.fact).toBe(
        'table public.articles has generated columns that publication shop does not send: doubled',
      );
      const [line] = await linesOf(database, 'UPDATE articles SET note = 1');
      expect(line?.new).not.toHaveProperty('doubled');
      if (major < 18) return;
      await applyFix(database, finding);
      const ids = (await identitiesOf(database)).findings.map(({ id }) => id);
      expect(ids).not.toContain('generated-columns-not-sent');
    });
  });

  it.runIf(major < 18)('in the identity leaves the key without it', async () => {
    await withDatabase(async (database) => {
      await database.sql(`${GENERATED}
        ALTER TABLE articles REPLICA IDENTITY USING INDEX by_double`);
      const finding = findingOf(await identitiesOf(database), 'identity-column-not-sent');
      expect(finding.severity).toBe('warning');
      const [line] = await linesOf(database, 'UPDATE articles SET note = 1');
      expect(line?.key ?? {}).toEqual({});
      await applyFix(database, finding);
      expect(problemsOf(await identitiesOf(database))).toEqual([]);
    });
  });
});

describe('an unpublished table', () => {
  it('without an identity is fine, and told what publishing it would do', async () => {
    await withDatabase(async (database) => {
      await database.sql('CREATE TABLE articles (id int)');
      const report = await identitiesOf(database);
      const finding = findingOf(report, 'identity-missing-unpublished');
      expect(finding).toMatchObject({
        severity: 'info',
        fact: 'table public.articles has no primary key for REPLICA IDENTITY DEFAULT; no publication sends its updates and deletes',
        consequence: 'one that does makes UPDATE and DELETE fail in the application',
      });
      await applyFix(database, finding);
      expect((await identitiesOf(database)).findings).toEqual([]);
    });
  });

  it('whose identity was broken is a warning', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE articles (id int PRIMARY KEY, number int NOT NULL);
        CREATE UNIQUE INDEX by_number ON articles (number);
        ALTER TABLE articles REPLICA IDENTITY USING INDEX by_number;
        DROP INDEX by_number`);
      const finding = findingOf(await identitiesOf(database), 'identity-missing-unpublished');
      expect(finding).toMatchObject({
        severity: 'warning',
        fix: ['ALTER TABLE public.articles REPLICA IDENTITY DEFAULT;'],
      });
      await applyFix(database, finding);
      expect((await identitiesOf(database)).findings).toEqual([]);
    });
  });
});

describe.runIf(major >= 13)('partitions whose identity is not that of their root', () => {
  const PARTITIONS = `CREATE TABLE articles (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);
    CREATE TABLE articles_1 PARTITION OF articles FOR VALUES FROM (0) TO (10);
    CREATE TABLE articles_2 PARTITION OF articles FOR VALUES FROM (10) TO (20);
    INSERT INTO articles VALUES (1, 'a'), (11, 'b');`;
  const VIA_ROOT = `CREATE PUBLICATION shop FOR TABLE articles
    WITH (publish_via_partition_root = true)`;

  it('are sent in part as rows of a FULL root', async () => {
    await withDatabase(async (database) => {
      await database.sql(`${PARTITIONS} ${VIA_ROOT};
        ALTER TABLE articles REPLICA IDENTITY FULL;
        ALTER TABLE articles_2 REPLICA IDENTITY FULL`);
      const finding = findingOf(await identitiesOf(database), 'partition-identity-differs');
      expect(finding).toMatchObject({
        severity: 'warning',
        subject: { kind: 'table', name: 'public.articles_1' },
        fact: 'table public.articles_1 has REPLICA IDENTITY DEFAULT, and its root public.articles FULL',
        fix: ['ALTER TABLE public.articles_1 REPLICA IDENTITY FULL;'],
      });
      const [line] = await linesOf(database, 'DELETE FROM articles WHERE id = 1');
      expect(line).toMatchObject({ identity: 'full', old: { id: 1 }, old_partial: true });
      await applyFix(database, finding);
      expect(problemsOf(await identitiesOf(database))).toEqual([]);
    });
  });

  it('pay for what is not shown if they are FULL and their root is not', async () => {
    await withDatabase(async (database) => {
      await database.sql(`${PARTITIONS} ${VIA_ROOT};
        ALTER TABLE articles_1 REPLICA IDENTITY FULL`);
      const finding = findingOf(await identitiesOf(database), 'partition-identity-differs');
      expect(finding).toMatchObject({
        severity: 'warning',
        fix: ['ALTER TABLE public.articles_1 REPLICA IDENTITY DEFAULT;'],
      });
      await applyFix(database, finding);
      expect(problemsOf(await identitiesOf(database))).toEqual([]);
    });
  });

  it('count by themselves where rows come under their own names', async () => {
    await withDatabase(async (database) => {
      await database.sql(`${PARTITIONS} CREATE PUBLICATION shop FOR TABLE articles;
        ALTER TABLE articles REPLICA IDENTITY FULL`);
      const finding = findingOf(await identitiesOf(database), 'partition-identity-differs');
      expect(finding).toMatchObject({
        severity: 'warning',
        subject: { kind: 'table', name: 'public.articles' },
        consequence:
          'its rows come under its own name and identity: that of the root counts for none of them',
        fix: [
          'ALTER TABLE public.articles_1 REPLICA IDENTITY FULL;',
          'ALTER TABLE public.articles_2 REPLICA IDENTITY FULL;',
        ],
      });
      const [line] = await linesOf(database, 'DELETE FROM articles WHERE id = 1');
      expect(line).toMatchObject({ table: 'articles_1', identity: 'default', key: { id: 1 } });
      await applyFix(database, finding);
      expect((await identitiesOf(database)).findings).toEqual([]);
    });
  });
});

describe('the tables that are looked at', () => {
  const TABLES = `CREATE TABLE orders (id int PRIMARY KEY); CREATE TABLE articles (id int PRIMARY KEY);
    CREATE SCHEMA audit; CREATE TABLE audit."Odd.Name" (id int PRIMARY KEY);
    CREATE PUBLICATION shop FOR TABLE orders, articles;
    CREATE TEMPORARY TABLE passing (id int)`;
  const namesIn = async (database: TestDatabase, look: Parameters<typeof identitiesOf>[1]) =>
    (await identitiesOf(database, look)).tables.map(({ table }) => table.name);

  it('are all, or those of a pattern or a publication', async () => {
    await withDatabase(async (database) => {
      await database.sql(TABLES);
      expect(await namesIn(database, {})).toEqual(['Odd.Name', 'articles', 'orders']);
      expect(await namesIn(database, { publications: ['shop'] })).toEqual(['articles', 'orders']);
      expect(await namesIn(database, { tables: ['audit."Odd.Name"'] })).toEqual(['Odd.Name']);
      expect(await namesIn(database, { publications: ['shop'], tables: ['!ord*'] })).toEqual([
        'articles',
      ]);
    });
  });

  it('must exist', async () => {
    await withDatabase(async (database) => {
      await database.sql(TABLES);
      await expect(identitiesOf(database, { tables: ['nope'] })).rejects.toThrow(
        'no table is "nope"',
      );
      await expect(identitiesOf(database, { publications: ['nope'] })).rejects.toMatchObject({
        message: 'publication "nope" does not exist',
        hint: 'this database has "shop"',
      });
    });
  });
});
