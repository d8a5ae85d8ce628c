// What a server says of a row before its change, under every replica identity, and of large values
// that a change left alone: what was not sent is neither shown nor claimed to be NULL.
// A partitioned table with leaves of another identity than FULL: partial-old-rows.pg.test.ts.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runPgtail } from '../support/pgtail.ts';
import { linesOf, Shop } from '../support/tail.ts';

/** Too long to stay in a row that does not compress it, and short enough for an index. */
const LENGTH = 2_300;
const A = 'a'.repeat(LENGTH);
const B = 'b'.repeat(LENGTH);
/** SQL for them. */
const [a, b] = [`repeat('a', ${LENGTH})`, `repeat('b', ${LENGTH})`];

interface OldRowCase {
  readonly title: string;
  /** Makes `TABLE`, with its rows. */
  readonly setup: string;
  /** Its changes are those shown. */
  readonly work: string;
  /** What each line says beyond its table and its place. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

const ARTICLES = (identity: string): string => `
  CREATE TABLE "TABLE" (id int PRIMARY KEY, title text, body text);
  ALTER TABLE "TABLE" ALTER body SET STORAGE EXTERNAL;
  ALTER TABLE "TABLE" REPLICA IDENTITY ${identity};
  INSERT INTO "TABLE" VALUES (1, 'Tea', ${a})`;

const UNDER_DEFAULT: readonly OldRowCase[] = [
  {
    title: 'a large value that was left alone is unchanged, and the key is that of the new row',
    setup: ARTICLES('DEFAULT'),
    work: `UPDATE "TABLE" SET title = 'Green tea'`,
    lines: [
      {
        op: 'update',
        identity: 'default',
        key: { id: 1 },
        new: { id: 1, title: 'Green tea' },
        unchanged: ['body'],
      },
    ],
  },
  {
    title: 'so is one that was set to itself',
    setup: ARTICLES('DEFAULT'),
    work: `UPDATE "TABLE" SET body = body, title = NULL`,
    lines: [
      {
        op: 'update',
        identity: 'default',
        key: { id: 1 },
        new: { id: 1, title: null },
        unchanged: ['body'],
      },
    ],
  },
  {
    title: 'one that is set anew or becomes NULL is not, nor is a NULL that was left alone',
    setup: ARTICLES('DEFAULT'),
    work: `UPDATE "TABLE" SET body = ${b}; UPDATE "TABLE" SET body = NULL; UPDATE "TABLE" SET title = ''`,
    lines: [
      { op: 'update', identity: 'default', key: { id: 1 }, new: { id: 1, title: 'Tea', body: B } },
      {
        op: 'update',
        identity: 'default',
        key: { id: 1 },
        new: { id: 1, title: 'Tea', body: null },
      },
      { op: 'update', identity: 'default', key: { id: 1 }, new: { id: 1, title: '', body: null } },
    ],
  },
  {
    title: 'the key is the old one where it changed, and all that a deleted row is known by',
    setup: ARTICLES('DEFAULT'),
    work: 'UPDATE "TABLE" SET id = 2; DELETE FROM "TABLE"',
    lines: [
      {
        op: 'update',
        identity: 'default',
        key: { id: 1 },
        new: { id: 2, title: 'Tea' },
        unchanged: ['body'],
      },
      { op: 'delete', identity: 'default', key: { id: 2 } },
    ],
  },
  {
    title: 'large values of any type are unchanged, in the order of the columns',
    setup: `
      CREATE TABLE "TABLE" (raw bytea, gone text, id int PRIMARY KEY, doc jsonb, tags text[], n int);
      ALTER TABLE "TABLE" DROP gone, ALTER raw SET STORAGE EXTERNAL,
        ALTER doc SET STORAGE EXTERNAL, ALTER tags SET STORAGE EXTERNAL;
      INSERT INTO "TABLE" VALUES (${a}::bytea, 1, to_jsonb(${a}), ARRAY[${a}, ${b}], 1)`,
    work: 'UPDATE "TABLE" SET n = 2',
    lines: [
      {
        op: 'update',
        identity: 'default',
        key: { id: 1 },
        new: { id: 1, n: 2 },
        unchanged: ['raw', 'doc', 'tags'],
      },
    ],
  },
  {
    title: 'a long value that stays in the row compressed is sent again',
    setup: `CREATE TABLE "TABLE" (id int PRIMARY KEY, title text, body text);
      INSERT INTO "TABLE" VALUES (1, 'Tea', ${a})`,
    work: `UPDATE "TABLE" SET title = ''`,
    lines: [
      { op: 'update', identity: 'default', key: { id: 1 }, new: { id: 1, title: '', body: A } },
    ],
  },
];

const LARGE_KEYS: readonly OldRowCase[] = [
  {
    title: 'a large key that did not change is sent as a key, and so is known',
    setup: `CREATE TABLE "TABLE" (url text PRIMARY KEY, visits int);
      ALTER TABLE "TABLE" ALTER url SET STORAGE EXTERNAL;
      INSERT INTO "TABLE" VALUES (${a}, 1)`,
    work: 'UPDATE "TABLE" SET visits = 2; DELETE FROM "TABLE"',
    lines: [
      { op: 'update', identity: 'default', key: { url: A }, new: { url: A, visits: 2 } },
      { op: 'delete', identity: 'default', key: { url: A } },
    ],
  },
  {
    title: 'a large column of a key is known too where another column of it changed',
    setup: `CREATE TABLE "TABLE" (body text, url text, page int, PRIMARY KEY (page, url));
      ALTER TABLE "TABLE" ALTER url SET STORAGE EXTERNAL, ALTER body SET STORAGE EXTERNAL;
      INSERT INTO "TABLE" VALUES (${b}, ${a}, 1)`,
    work: `UPDATE "TABLE" SET page = 2; UPDATE "TABLE" SET url = 'short'`,
    lines: [
      {
        op: 'update',
        identity: 'default',
        key: { url: A, page: 1 },
        new: { url: A, page: 2 },
        unchanged: ['body'],
      },
      {
        op: 'update',
        identity: 'default',
        key: { url: A, page: 2 },
        new: { url: 'short', page: 2 },
        unchanged: ['body'],
      },
    ],
  },
  {
    title: 'a large column of an identity index is known, another is not',
    setup: `CREATE TABLE "TABLE" (id int PRIMARY KEY, url text NOT NULL UNIQUE, body text);
      ALTER TABLE "TABLE" ALTER url SET STORAGE EXTERNAL, ALTER body SET STORAGE EXTERNAL;
      ALTER TABLE "TABLE" REPLICA IDENTITY USING INDEX "TABLE_url_key";
      INSERT INTO "TABLE" VALUES (1, ${a}, ${b})`,
    work: 'UPDATE "TABLE" SET id = 2',
    lines: [
      {
        op: 'update',
        identity: 'index',
        key: { url: A },
        new: { id: 2, url: A },
        unchanged: ['body'],
      },
    ],
  },
];

const UNDER_INDEX: readonly OldRowCase[] = [
  {
    title: 'the key is that of the index, whatever the primary key',
    setup: `CREATE TABLE "TABLE" (id int PRIMARY KEY, shelf int NOT NULL, code text NOT NULL, body text,
        UNIQUE (code, shelf));
      ALTER TABLE "TABLE" ALTER body SET STORAGE EXTERNAL;
      ALTER TABLE "TABLE" REPLICA IDENTITY USING INDEX "TABLE_code_shelf_key";
      INSERT INTO "TABLE" VALUES (1, 7, 'tea', ${a})`,
    work: `UPDATE "TABLE" SET id = 2; UPDATE "TABLE" SET code = 'pot'; DELETE FROM "TABLE"`,
    lines: [
      {
        op: 'update',
        identity: 'index',
        key: { shelf: 7, code: 'tea' },
        new: { id: 2, shelf: 7, code: 'tea' },
        unchanged: ['body'],
      },
      {
        op: 'update',
        identity: 'index',
        key: { shelf: 7, code: 'tea' },
        new: { id: 2, shelf: 7, code: 'pot' },
        unchanged: ['body'],
      },
      { op: 'delete', identity: 'index', key: { shelf: 7, code: 'pot' } },
    ],
  },
];

const UNDER_FULL: readonly OldRowCase[] = [
  {
    title: 'a large value that was left alone is that of the old row, and did not change',
    setup: ARTICLES('FULL'),
    work: `UPDATE "TABLE" SET title = 'Green tea'; UPDATE "TABLE" SET id = 2, title = title`,
    lines: [
      {
        op: 'update',
        identity: 'full',
        old: { id: 1, title: 'Tea', body: A },
        new: { id: 1, title: 'Green tea', body: A },
        changed: ['title'],
      },
      {
        op: 'update',
        identity: 'full',
        old: { id: 1, title: 'Green tea', body: A },
        new: { id: 2, title: 'Green tea', body: A },
        changed: ['id'],
      },
    ],
  },
  {
    title: 'nothing changed where a row was set to itself, or to equal values',
    setup: ARTICLES('FULL'),
    work: `UPDATE "TABLE" SET id = id; UPDATE "TABLE" SET body = ${a}, title = 'Tea'`,
    lines: Array(2).fill({
      op: 'update',
      identity: 'full',
      old: { id: 1, title: 'Tea', body: A },
      new: { id: 1, title: 'Tea', body: A },
      changed: [],
    }),
  },
  {
    title: 'large values and NULLs become each other; a NULL of the old row is one',
    setup: ARTICLES('FULL'),
    work: `UPDATE "TABLE" SET body = ${b}; UPDATE "TABLE" SET body = NULL, title = NULL;
      UPDATE "TABLE" SET body = ''; UPDATE "TABLE" SET body = ${a}; DELETE FROM "TABLE"`,
    lines: [
      {
        op: 'update',
        identity: 'full',
        old: { id: 1, title: 'Tea', body: A },
        new: { id: 1, title: 'Tea', body: B },
        changed: ['body'],
      },
      {
        op: 'update',
        identity: 'full',
        old: { id: 1, title: 'Tea', body: B },
        new: { id: 1, title: null, body: null },
        changed: ['title', 'body'],
      },
      {
        op: 'update',
        identity: 'full',
        old: { id: 1, title: null, body: null },
        new: { id: 1, title: null, body: '' },
        changed: ['body'],
      },
      {
        op: 'update',
        identity: 'full',
        old: { id: 1, title: null, body: '' },
        new: { id: 1, title: null, body: A },
        changed: ['body'],
      },
      { op: 'delete', identity: 'full', old: { id: 1, title: null, body: A } },
    ],
  },
  {
    title: 'a table needs no key',
    setup: `CREATE TABLE "TABLE" (body text, n int); ALTER TABLE "TABLE" REPLICA IDENTITY FULL;
      ALTER TABLE "TABLE" ALTER body SET STORAGE EXTERNAL; INSERT INTO "TABLE" VALUES (${a}, NULL)`,
    work: 'UPDATE "TABLE" SET n = 1; DELETE FROM "TABLE"',
    lines: [
      {
        op: 'update',
        identity: 'full',
        old: { body: A, n: null },
        new: { body: A, n: 1 },
        changed: ['n'],
      },
      { op: 'delete', identity: 'full', old: { body: A, n: 1 } },
    ],
  },
];

/** A partitioned table of one leaf, each with its identity; rows are those of the root. */
const partitioned = (...identities: readonly string[]): string => `
  CREATE TABLE "TABLE" (id int, title text, body text) PARTITION BY LIST (id);
  CREATE TABLE "TABLE leaf" (body text, title text, id int NOT NULL);
  ALTER TABLE "TABLE leaf" ALTER body SET STORAGE EXTERNAL;
  ALTER TABLE "TABLE" ATTACH PARTITION "TABLE leaf" DEFAULT;
  ${identities.join(';')};
  INSERT INTO "TABLE" VALUES (1, 'Tea', ${a})`;

/** The leaf gets it too. */
const ROOT_KEY = 'ALTER TABLE "TABLE" ADD PRIMARY KEY (id)';
const ROOT_FULL = 'ALTER TABLE "TABLE" REPLICA IDENTITY FULL';
const ROOT_NOTHING = 'ALTER TABLE "TABLE" REPLICA IDENTITY NOTHING';
const LEAF_KEY = 'ALTER TABLE "TABLE leaf" ADD PRIMARY KEY (id)';
const LEAF_FULL = 'ALTER TABLE "TABLE leaf" REPLICA IDENTITY FULL';
const PARTITION_WORK = `UPDATE "TABLE" SET title = 'x'; UPDATE "TABLE" SET id = 2; DELETE FROM "TABLE"`;

const PARTITIONED: readonly OldRowCase[] = [
  {
    title: 'the key is that of the root where only the leaf is FULL',
    setup: partitioned(ROOT_KEY, LEAF_FULL),
    work: PARTITION_WORK,
    lines: [
      {
        op: 'update',
        identity: 'default',
        key: { id: 1 },
        new: { id: 1, title: 'x', body: A },
      },
      {
        op: 'update',
        identity: 'default',
        key: { id: 1 },
        new: { id: 2, title: 'x', body: A },
      },
      { op: 'delete', identity: 'default', key: { id: 2 } },
    ],
  },
  {
    title: 'there is no key where the root has none',
    setup: partitioned(LEAF_KEY),
    work: PARTITION_WORK,
    lines: [
      { op: 'update', identity: 'default', new: { id: 1, title: 'x' }, unchanged: ['body'] },
      { op: 'update', identity: 'default', new: { id: 2, title: 'x' }, unchanged: ['body'] },
      { op: 'delete', identity: 'default' },
    ],
  },
  {
    title: 'there is no key where the root has the identity NOTHING',
    setup: partitioned(ROOT_KEY, ROOT_NOTHING),
    work: PARTITION_WORK,
    lines: [
      { op: 'update', identity: 'nothing', new: { id: 1, title: 'x' }, unchanged: ['body'] },
      { op: 'update', identity: 'nothing', new: { id: 2, title: 'x' }, unchanged: ['body'] },
      { op: 'delete', identity: 'nothing' },
    ],
  },
  {
    title: 'old rows are whole where the root and its leaves are FULL',
    setup: partitioned(ROOT_FULL, LEAF_FULL),
    work: PARTITION_WORK,
    lines: [
      {
        op: 'update',
        identity: 'full',
        old: { id: 1, title: 'Tea', body: A },
        new: { id: 1, title: 'x', body: A },
        changed: ['title'],
      },
      {
        op: 'update',
        identity: 'full',
        old: { id: 1, title: 'x', body: A },
        new: { id: 2, title: 'x', body: A },
        changed: ['id'],
      },
      { op: 'delete', identity: 'full', old: { id: 2, title: 'x', body: A } },
    ],
  },
  {
    title: 'a large value is unchanged where the root alone is FULL: nobody sent it',
    setup: partitioned(ROOT_FULL, LEAF_KEY),
    work: PARTITION_WORK,
    lines: [
      { op: 'update', identity: 'full', new: { id: 1, title: 'x' }, unchanged: ['body'] },
      {
        op: 'update',
        identity: 'full',
        old: { id: 1 },
        old_partial: true,
        new: { id: 2, title: 'x' },
        unchanged: ['body'],
      },
      { op: 'delete', identity: 'full', old: { id: 2 }, old_partial: true },
    ],
  },
];

const GROUPS: Readonly<Record<string, readonly OldRowCase[]>> = {
  'under REPLICA IDENTITY DEFAULT': UNDER_DEFAULT,
  'of a large key': LARGE_KEYS,
  'under REPLICA IDENTITY USING INDEX': UNDER_INDEX,
  'under REPLICA IDENTITY FULL': UNDER_FULL,
  'of a partitioned table': PARTITIONED,
};

/** What stands in every line. */
const PLACE: ReadonlySet<string> = new Set([
  ...['schema', 'table', 'xid', 'seq', 'lsn', 'commit_lsn', 'commit_time'],
]);

describe('an old row', () => {
  let shop: Shop;
  const said = new Map<string, Record<string, unknown>[]>();

  beforeAll(async () => {
    shop = await Shop.open();
    await shop.database.sql('ALTER PUBLICATION shop SET (publish_via_partition_root = true)');
    for (const { title, setup, work } of Object.values(GROUPS).flat()) {
      for (const statements of [setup, work])
        await shop.database.sql(statements.replaceAll('"TABLE', `"${tableOf(title)}`));
    }
    const { code, stdout } = await runPgtail([...shop.args, '--no-follow']);
    expect(code).toBe(0);
    for (const line of linesOf(stdout).filter(({ op }) => op === 'update' || op === 'delete')) {
      const about = Object.entries(line).filter(([name]) => !PLACE.has(name));
      const table = line.table as string;
      said.set(table, [...(said.get(table) ?? []), Object.fromEntries(about)]);
    }
  });

  afterAll(() => shop.database.drop());

  describe.each(Object.entries(GROUPS))('%s', (_group, cases) => {
    it.each(cases)('$title', ({ title, lines }) => {
      expect(said.get(tableOf(title))).toEqual(lines);
    });
  });

  it('is none of a table with the identity NOTHING or without a key: changes are refused', async () => {
    const { database } = shop;
    await database.sql(`CREATE TABLE clicks (page text); INSERT INTO clicks VALUES ('/tea');
      CREATE TABLE visits (id int PRIMARY KEY); INSERT INTO visits VALUES (1);
      ALTER TABLE visits REPLICA IDENTITY NOTHING`);
    for (const change of [
      `UPDATE clicks SET page = ''`,
      'DELETE FROM clicks',
      'DELETE FROM visits',
    ])
      await expect(database.sql(change)).rejects.toThrow(/replica identity/);
  });
});

/** A name of its own for each case: its title as far as a name goes. */
function tableOf(title: string): string {
  return title.slice(0, 40);
}
