// What limits the view, or soon will make something fail: found on a real server, and compared with
// what the tail prints.

import { describe, expect, it } from 'vitest';
import { runPgtail } from '../support/pgtail.ts';
import { sharedServer, type TestDatabase, withDatabase } from '../support/server.ts';
import { applyFix, findingOf, identitiesOf, problemsOf, refusal, tableOf } from './look.ts';

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

describe('what is proposed to see more', () => {
  /** Runs all that is proposed, as somebody would who pipes it into psql. */
  async function expectHarmless(database: TestDatabase, change: string) {
    expect(await refusal(database, change)).toBeUndefined();
    const report = await identitiesOf(database);
    for (const { id, fix } of report.findings) {
      const lines = fix.filter((line) => !line.startsWith('--'));
      await database.sql('BEGIN');
      for (const line of lines) await database.sql(line);
      expect({ id, refused: await refusal(database, change) }).toEqual({ id, refused: undefined });
      await database.sql('ROLLBACK');
    }
    return report;
  }

  it.runIf(major >= 15)('is not FULL for a partition with a column list', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE r (k int, id int, v text NOT NULL, w text, PRIMARY KEY (k, id))
          PARTITION BY RANGE (k);
        ALTER TABLE r REPLICA IDENTITY FULL;
        CREATE TABLE rl PARTITION OF r FOR VALUES FROM (0) TO (10);
        INSERT INTO r VALUES (1, 1, 'v');
        CREATE PUBLICATION pl FOR TABLE rl (k, id, v)`);
      const finding = findingOf(
        await expectHarmless(database, 'UPDATE r SET v = v'),
        'partition-identity-differs',
      );
      expect(finding).toMatchObject({
        fact: 'table public.rl has REPLICA IDENTITY DEFAULT, and its root public.r FULL, which it cannot have: publication pl has a column list',
        fix: ['ALTER TABLE public.r REPLICA IDENTITY DEFAULT;'],
      });
      await applyFix(database, finding);
      expect(problemsOf(await identitiesOf(database))).toEqual([]);
    });
  });

  it.runIf(major >= 15)('is not the key of the root for a partition with a filter', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE r (id int PRIMARY KEY, v int NOT NULL) PARTITION BY RANGE (id);
        CREATE TABLE rl PARTITION OF r FOR VALUES FROM (0) TO (10);
        CREATE UNIQUE INDEX by_v ON rl (v);
        ALTER TABLE rl REPLICA IDENTITY USING INDEX by_v;
        INSERT INTO r VALUES (1, 1);
        CREATE PUBLICATION pl FOR TABLE rl WHERE (v > 1)`);
      const { fact, fix } = findingOf(
        await expectHarmless(database, 'UPDATE r SET v = v'),
        'partition-identity-differs',
      );
      expect(fact).toMatch(/, which it cannot have: publication pl has a WHERE on v$/);
      expect(fix).toEqual(['-- nothing to do: each keeps its own, public.rl and its root']);
    });
  });

  it.runIf(major >= 15 && major < 18)('is not a key outside of the filter', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE articles (id int PRIMARY KEY, v int,
          g int GENERATED ALWAYS AS (id + 1) STORED NOT NULL UNIQUE);
        ALTER TABLE articles REPLICA IDENTITY USING INDEX articles_g_key;
        INSERT INTO articles VALUES (1, 1);
        CREATE PUBLICATION shop FOR TABLE articles WHERE (g > 1)`);
      const finding = findingOf(
        await expectHarmless(database, 'UPDATE articles SET v = v'),
        'identity-column-not-sent',
      );
      expect(finding.fix[0]).toMatch(/^ALTER TABLE public.articles REPLICA IDENTITY FULL; -- /);
      await applyFix(database, finding);
      expect(problemsOf(await identitiesOf(database))).toEqual([]);
    });
  });

  it.runIf(major >= 18)('is not FULL where a generated column is not published', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE articles (id int PRIMARY KEY, v text,
          g text GENERATED ALWAYS AS (v || 'x') STORED);
        INSERT INTO articles VALUES (1, 'v');
        CREATE PUBLICATION shop FOR TABLE articles`);
      const report = await expectHarmless(database, 'UPDATE articles SET v = v');
      expect(findingOf(report, 'old-values-not-sent').fix).toEqual([
        '-- not with REPLICA IDENTITY FULL, which makes UPDATE and DELETE fail: publication shop does not send the generated g',
      ]);
      await applyFix(database, findingOf(report, 'generated-columns-not-sent'));
      const after = await expectHarmless(database, 'UPDATE articles SET v = v');
      expect(findingOf(after, 'old-values-not-sent').fix[0]).toContain('REPLICA IDENTITY FULL;');
    });
  });
});

describe('columns that may be unchanged', () => {
  const unchangedIn = async (database: TestDatabase) => {
    const { tables, findings } = await identitiesOf(database);
    const [found] = tables;
    const finding = findings.find(({ id }) => id === 'toasted-values-not-sent');
    return { visible: found!.visible, fact: finding?.fact };
  };

  it.runIf(major >= 12)('are not generated ones that are not sent', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE articles (id int PRIMARY KEY, v int,
          g text GENERATED ALWAYS AS (repeat('x', v)) STORED);
        CREATE PUBLICATION shop FOR TABLE articles`);
      expect((await unchangedIn(database)).fact).toBeUndefined();
      if (major < 18) return;
      await database.sql('ALTER PUBLICATION shop SET (publish_generated_columns = stored)');
      expect((await unchangedIn(database)).fact).toContain('large values of g ');
    });
  });

  it.runIf(major >= 15)('are not those outside of every column list', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE articles (id int PRIMARY KEY, body text, draft text);
        CREATE PUBLICATION shop FOR TABLE articles (id, body)`);
      expect((await unchangedIn(database)).fact).toContain('large values of body out');
    });
  });

  it('and what lines show are only of operations that are published', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE articles (id int PRIMARY KEY, body text);
        CREATE PUBLICATION shop FOR TABLE articles WITH (publish = 'insert, delete')`);
      expect(await unchangedIn(database)).toEqual({
        visible: { update: [], delete: ['key'] },
        fact: undefined,
      });
      await database.sql(`ALTER PUBLICATION shop SET (publish = 'update')`);
      expect((await unchangedIn(database)).visible).toEqual({
        update: ['key', 'new', 'unchanged'],
        delete: [],
      });
    });
  });
});

describe.runIf(major >= 15)('publications that are read together', () => {
  /** What the server says to somebody who reads both; undefined: it sends the row. */
  async function serverWords(database: TestDatabase): Promise<string | undefined> {
    const slot = database.name;
    await database.query(`SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput')`);
    await database.sql('INSERT INTO articles VALUES (1, 1)');
    const words = await refusal(
      database,
      `SELECT * FROM pg_logical_slot_peek_binary_changes('${slot}', NULL, NULL,
         'proto_version', '1', 'publication_names', 'one,two')`,
    );
    await database.query(`SELECT pg_drop_replication_slot('${slot}')`);
    return words;
  }

  const STORED =
    'CREATE TABLE articles (id int PRIMARY KEY, note int, g int GENERATED ALWAYS AS (1) STORED)';

  const PAIRS: readonly (readonly [one: string, two: string, id: string | undefined])[] = [
    ['TABLE articles (id)', 'TABLE articles (id, note)', 'column-lists-differ'],
    ['TABLE articles (id)', 'TABLE articles', 'column-lists-differ'],
    ['TABLE articles (id)', 'ALL TABLES', 'column-lists-differ'],
    ['TABLE articles (id)', 'TABLES IN SCHEMA public', 'column-lists-differ'],
    // 15 counts the generated column that no list may have
    [
      'TABLE articles (id, note)',
      'TABLE articles',
      major === 15 ? 'column-lists-differ' : undefined,
    ],
    ['TABLE articles (id, note)', 'TABLE articles (note, id)', undefined],
  ];
  const GENERATED_PAIRS: typeof PAIRS = [
    ['TABLE articles (id, note, g)', 'TABLE articles', 'column-lists-differ'],
    [
      'TABLE articles',
      'TABLE articles WITH (publish_generated_columns = stored)',
      'generated-columns-differ',
    ],
  ];

  it.each([...PAIRS, ...(major >= 18 ? GENERATED_PAIRS : [])])(
    'fail as the server does, with %s and %s',
    async (one, two, id) => {
      await withDatabase(async (database) => {
        await database.sql(`${STORED};
        CREATE PUBLICATION one FOR ${one}; CREATE PUBLICATION two FOR ${two}`);
        const report = await identitiesOf(database, { publications: ['one', 'two'] });
        expect(problemsOf(report)).toEqual(id === undefined ? [] : [id]);
        const words = await serverWords(database);
        expect(words === undefined).toBe(id === undefined);
        // apart they are fine
        expect(problemsOf(await identitiesOf(database))).toEqual([]);
        expect(problemsOf(await identitiesOf(database, { publications: ['one'] }))).toEqual([]);
        if (id !== 'column-lists-differ') return;
        expect(words).toContain('cannot use different column lists for table');
        expect(findingOf(report, id)).toMatchObject({
          severity: 'error',
          fact: 'table public.articles is published by publications one, two with different column lists',
          fix: [
            '-- send the same columns of it with each, or read the publications apart: a slot and a pgtail -P for each',
          ],
        });
      });
    },
  );

  it('count only as far as they send the rows as the same table', async () => {
    await withDatabase(async (database) => {
      await database.sql(`CREATE TABLE articles (id int PRIMARY KEY, note int) PARTITION BY RANGE (id);
        CREATE TABLE articles_1 PARTITION OF articles FOR VALUES FROM (0) TO (10);
        CREATE PUBLICATION one FOR TABLE articles WITH (publish_via_partition_root = true);
        CREATE PUBLICATION two FOR TABLE articles_1 (id)`);
      expect(await serverWords(database)).toBeUndefined();
      const report = await identitiesOf(database, { publications: ['one', 'two'] });
      expect(problemsOf(report)).toEqual([]);
    });
  });
});
