// A partitioned table announced as FULL, with a leaf that is not: its old rows lack values, and the
// protocol does not say which.

import { describe, expect, it } from 'vitest';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import { linesOf, Shop } from '../support/tail.ts';

const MOVES = `
CREATE TABLE moves (id int NOT NULL, shelf text NOT NULL, note text) PARTITION BY LIST (shelf);
CREATE TABLE moves_north PARTITION OF moves (PRIMARY KEY (id)) FOR VALUES IN ('north');
CREATE TABLE moves_south PARTITION OF moves FOR VALUES IN ('south');
ALTER TABLE moves REPLICA IDENTITY FULL;
ALTER TABLE moves_south REPLICA IDENTITY FULL;
ALTER PUBLICATION shop SET (publish_via_partition_root = true);`;

const WORK = `
INSERT INTO moves VALUES (1, 'north', 'fragile'), (2, 'south', 'heavy');
UPDATE moves SET note = 'very fragile' WHERE id = 1;
UPDATE moves SET id = 3 WHERE id = 1;
DELETE FROM moves WHERE id = 3;
DELETE FROM moves WHERE id = 2;`;

it('no null is claimed for an old value that a leaf without FULL did not send', async () => {
  await using shop = await Shop.open();
  await shop.database.sql(MOVES);
  await shop.database.sql(WORK);
  const { code, stdout } = await runPgtail([...shop.args, '--no-follow', '--op', 'update,delete']);
  expect(code).toBe(0);
  const lines = linesOf(stdout).map(({ op, key, old, old_partial, changed }) => {
    return { op, key, old, old_partial, changed };
  });
  expect(lines).toEqual([
    { op: 'update' },
    { op: 'update', old: { id: 1 }, old_partial: true },
    { op: 'delete', old: { id: 3 }, old_partial: true },
    // of a partly known table even a whole old row is not told apart
    { op: 'delete', old: { id: 2, shelf: 'south', note: 'heavy' }, old_partial: true },
  ]);
});

it('pretty says why, and shows no NULL there either', async () => {
  await using shop = await Shop.open();
  await shop.database.sql(MOVES);
  await shop.database.sql(WORK);
  const { stdout } = await runPgtail([...shop.args, '--no-follow', '--format', 'pretty']);
  expect(stdout).toContain('a partition is not FULL');
  expect(stdout).toMatch(/- public\.moves +id 3\n/);
  expect(stdout).toMatch(/~ public\.moves +id 1 → 3 /);
  expect(stdout).not.toContain('∅');
});

/** What is said of old rows, without what is not. */
const oldParts = (ndjson: string): unknown[] =>
  linesOf(ndjson).flatMap(({ op, key, key_partial, old, old_partial, changed }) =>
    op === 'update' || op === 'delete'
      ? [JSON.parse(JSON.stringify({ op, key, key_partial, old, old_partial, changed }))]
      : [],
  );

async function oldPartsOf(shop: Shop): Promise<unknown[]> {
  const { code, stdout } = await runPgtail([...shop.args, '--no-follow']);
  expect(code).toBe(0);
  return oldParts(stdout);
}

const MONTHS = `
CREATE TABLE months (id int PRIMARY KEY, code int, v text) PARTITION BY RANGE (id);
CREATE TABLE months_1 PARTITION OF months FOR VALUES FROM (0) TO (1000);
ALTER TABLE months REPLICA IDENTITY FULL;
ALTER TABLE months_1 REPLICA IDENTITY FULL;
ALTER PUBLICATION shop SET (publish_via_partition_root = true);`;

const ALL_FULL = [
  { op: 'update', old: { id: 1, code: 10, v: 'x' }, changed: ['v'] },
  { op: 'delete', old: { id: 1, code: 10, v: 'y' } },
];

describe('a partitioned table announced as FULL', () => {
  const work = `INSERT INTO months VALUES (1, 10, 'x'); UPDATE months SET v = 'y'; DELETE FROM months`;

  it('of which all leaves are has whole old rows', async () => {
    await using shop = await Shop.open();
    await shop.database.sql(MONTHS);
    await shop.database.sql(work);
    expect(await oldPartsOf(shop)).toEqual(ALL_FULL);
  });

  it('may get a leaf that is not while it is read: a new one has a DEFAULT identity', async () => {
    await using shop = await Shop.open();
    await shop.database.sql(MONTHS);
    await using child = startPgtail(shop.args);
    await child.started();
    await shop.database.sql(work);
    await shop.database.sql(
      `CREATE TABLE months_2 PARTITION OF months FOR VALUES FROM (1000) TO (2000)`,
    );
    await shop.database.sql(`INSERT INTO months VALUES (1001, 10, 'x'), (1002, 20, 'y');
      DELETE FROM months WHERE id = 1002; UPDATE months SET id = 1003 WHERE id = 1001`);
    await child.output(/"id":1003/);
    const { stdout } = await child.stop();
    expect(oldParts(stdout)).toEqual([
      ...ALL_FULL,
      { op: 'delete', old: { id: 1002 }, old_partial: true },
      { op: 'update', old: { id: 1001 }, old_partial: true },
    ]);
  });

  it.each([
    ['the leaf became FULL', 'ALTER TABLE months_1 REPLICA IDENTITY FULL'],
    ['the leaf was dropped', 'DROP TABLE months_1'],
    ['the root is FULL no more', 'ALTER TABLE months REPLICA IDENTITY DEFAULT'],
  ])('is read as it was when the row was written, although %s', async (_, later) => {
    await using shop = await Shop.open();
    await shop.database.sql(MONTHS);
    await shop.database.sql('ALTER TABLE months_1 REPLICA IDENTITY DEFAULT');
    await shop.database.sql(work);
    await shop.database.sql(later);
    expect(await oldPartsOf(shop)).toEqual([
      { op: 'update' },
      { op: 'delete', old: { id: 1 }, old_partial: true },
    ]);
  });
});

describe('a partitioned table whose leaf is identified by other columns', () => {
  const leafByCode = (root: string): string => `
    CREATE TABLE parts (id int NOT NULL, code int NOT NULL, v text, PRIMARY KEY (id))
      PARTITION BY RANGE (id);
    CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
    CREATE UNIQUE INDEX parts_code ON parts_1 (code);
    ALTER TABLE parts_1 REPLICA IDENTITY USING INDEX parts_code;
    ${root};
    ALTER PUBLICATION shop SET (publish_via_partition_root = true);`;

  it('claims no key that it cannot know, and shows what the leaf sent', async () => {
    await using shop = await Shop.open();
    await shop.database.sql(leafByCode(''));
    await shop.database.sql(`INSERT INTO parts VALUES (1, 10, 'x');
      UPDATE parts SET id = 3 WHERE id = 1; UPDATE parts SET code = 11; DELETE FROM parts`);
    expect(await oldPartsOf(shop)).toEqual([
      { op: 'update', key_partial: true },
      { op: 'update', key: { code: 10 }, key_partial: true },
      { op: 'delete', key: { code: 11 }, key_partial: true },
    ]);
  });

  it('says so where a part of the key is known', async () => {
    await using shop = await Shop.open();
    await shop.database.sql(`
      CREATE TABLE parts (id int NOT NULL, code int NOT NULL, v text) PARTITION BY RANGE (id);
      CREATE UNIQUE INDEX parts_both ON parts (id, code);
      ALTER TABLE parts REPLICA IDENTITY USING INDEX parts_both;
      CREATE TABLE parts_1 PARTITION OF parts (PRIMARY KEY (id)) FOR VALUES FROM (0) TO (1000);
      ALTER TABLE parts_1 REPLICA IDENTITY DEFAULT;
      ALTER PUBLICATION shop SET (publish_via_partition_root = true)`);
    await shop.database.sql(`INSERT INTO parts VALUES (1, 10, 'x');
      UPDATE parts SET code = 11; UPDATE parts SET id = 4; DELETE FROM parts`);
    expect(await oldPartsOf(shop)).toEqual([
      { op: 'update', key: { id: 1 }, key_partial: true },
      { op: 'update', key: { id: 1 }, key_partial: true },
      { op: 'delete', key: { id: 4 }, key_partial: true },
    ]);
  });

  it('claims the whole key where the leaf keeps more than that', async () => {
    await using shop = await Shop.open();
    await shop.database.sql(leafByCode('ALTER TABLE parts_1 REPLICA IDENTITY FULL'));
    await shop.database.sql(`INSERT INTO parts VALUES (1, 10, 'x');
      UPDATE parts SET id = 3 WHERE id = 1; DELETE FROM parts`);
    expect(await oldPartsOf(shop)).toEqual([
      { op: 'update', key: { id: 1 } },
      { op: 'delete', key: { id: 3 } },
    ]);
  });
});
