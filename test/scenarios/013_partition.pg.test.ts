// After 013_partition: partitions under their own names, or under the name of their root.

import { describe, expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';
import type { Line } from '../support/tail.ts';

const { major } = sharedServer();

const SCHEMA = `
  CREATE TABLE sales (id int NOT NULL, region text NOT NULL, total numeric(10,2), note text)
    PARTITION BY LIST (region);
  CREATE TABLE sales_north PARTITION OF sales (PRIMARY KEY (id, region))
    FOR VALUES IN ('NO', 'SE');
  CREATE TABLE sales_south (note text, gone int, total numeric(10,2), region text NOT NULL,
    id int NOT NULL, PRIMARY KEY (region, id));
  ALTER TABLE sales_south DROP COLUMN gone;
  ALTER TABLE sales ATTACH PARTITION sales_south FOR VALUES IN ('IT', 'ES');`;

const ops = (lines: readonly Line[]): string[] =>
  lines.flatMap(({ op, table }) => (op === 'relation' || !table ? [] : [`${op} ${table}`]));

/** A root's own publication from 13 on; before, only its partitions can be named. */
const asPartitions = major >= 13 ? 'FOR TABLE sales' : 'FOR TABLE sales_north, sales_south';

describe.runIf(major >= 11)('partitions', () => {
  it('are the tables of their rows', async () => {
    await using shop = await Publisher.open({
      schema: SCHEMA,
      publications: { shop: asPartitions },
    });
    await shop.commit(
      `INSERT INTO sales VALUES (1, 'NO', 10, 'tea'), (2, 'IT', 20, NULL), (3, 'SE', 5, 'mug')`,
      `UPDATE sales SET total = total + 1`,
      // it moves
      `UPDATE sales SET region = 'ES' WHERE id = 1`,
      `DELETE FROM sales WHERE id = 3; INSERT INTO sales_south VALUES ('direct', 7, 'IT', 4)`,
      'TRUNCATE sales_south',
      `INSERT INTO sales VALUES (5, 'IT', 1, NULL)`,
    );
    const { plain } = await shop.readInEveryMode({
      tables: wholeTables('public.sales_north', 'public.sales_south'),
    });
    expect(ops(plain).filter((line) => !line.startsWith('insert'))).toEqual([
      'update sales_south',
      'update sales_north',
      'update sales_north',
      'delete sales_north',
      'delete sales_north',
    ]);
  });

  it('come and go', async () => {
    await using shop = await Publisher.open({
      schema: SCHEMA,
      publications: { shop: asPartitions },
    });
    await shop.commit(
      `INSERT INTO sales VALUES (1, 'NO', 10, 'tea')`,
      `ALTER TABLE sales DETACH PARTITION sales_south;
       CREATE TABLE sales_rest PARTITION OF sales (PRIMARY KEY (id)) DEFAULT`,
      `INSERT INTO sales VALUES (2, 'FR', 20, NULL)`,
      `INSERT INTO sales_south VALUES ('own', 1, 'IT', 9)`,
    );
    const { plain } = await shop.readInEveryMode({ tables: {} });
    const seen = major >= 13 ? ['north', 'rest'] : ['north', 'south'];
    expect(ops(plain)).toEqual(seen.map((name) => `insert sales_${name}`));
  });
});

describe.runIf(major >= 13)('publish_via_partition_root', () => {
  const publications = { shop: 'FOR TABLE sales WITH (publish_via_partition_root = true)' };

  it('shows all rows under the root, in its columns', async () => {
    await using shop = await Publisher.open({
      schema: `${SCHEMA} ALTER TABLE sales ADD PRIMARY KEY (id, region)`.replaceAll(
        /, PRIMARY KEY \(region, id\)|\(PRIMARY KEY \(id, region\)\)/g,
        '',
      ),
      publications,
    });
    await shop.commit(
      `INSERT INTO sales VALUES (1, 'NO', 10, 'tea'), (2, 'IT', 20, NULL), (3, 'SE', 5, 'mug')`,
      `UPDATE sales SET total = total + 1`,
      `UPDATE sales SET region = 'ES' WHERE id = 1`,
      `DELETE FROM sales WHERE id = 3; INSERT INTO sales_south VALUES ('direct', 7, 'IT', 4)`,
      'UPDATE sales SET id = 40 WHERE id = 4',
      // of one partition: nothing is sent
      'CREATE TABLE sales_rest PARTITION OF sales DEFAULT; TRUNCATE sales_rest',
    );
    const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.sales') });
    expect(new Set(ops(plain).map((line) => line.split(' ')[1]))).toEqual(new Set(['sales']));
    await shop.commit('TRUNCATE sales', `INSERT INTO sales VALUES (9, 'FR', 1, 'new')`);
    const again = await shop.readInEveryMode({ tables: wholeTables('public.sales') });
    expect(again.plain.filter(({ op }) => op === 'truncate')).toHaveLength(1);
  });

  it('goes through several levels', async () => {
    await using shop = await Publisher.open({
      schema: `
        CREATE TABLE visits (day date, page text, hits int, PRIMARY KEY (day, page))
          PARTITION BY RANGE (day);
        CREATE TABLE visits_2026 PARTITION OF visits
          FOR VALUES FROM ('2026-01-01') TO ('2027-01-01') PARTITION BY LIST (page);
        CREATE TABLE visits_2026_home PARTITION OF visits_2026 FOR VALUES IN ('/');
        CREATE TABLE visits_2026_rest PARTITION OF visits_2026 DEFAULT;
        CREATE TABLE visits_rest PARTITION OF visits DEFAULT`,
      publications: {
        shop: 'FOR TABLE visits WITH (publish_via_partition_root = true)',
      },
    });
    await shop.commit(
      `INSERT INTO visits VALUES ('2026-05-01', '/', 1), ('2026-05-01', '/cart', 1),
         ('2025-12-31', '/', 8)`,
      `UPDATE visits SET day = '2026-05-02' WHERE hits = 8`,
      `UPDATE visits SET page = '/help' WHERE page = '/' AND hits = 1; DELETE FROM visits_rest`,
    );
    await shop.readInEveryMode({ tables: wholeTables('public.visits') });
  });

  it('says that old rows are partial where a leaf has another identity than the root', async () => {
    await using shop = await Publisher.open({
      schema: `
        CREATE TABLE sales (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);
        CREATE TABLE sales_old PARTITION OF sales FOR VALUES FROM (0) TO (100);
        CREATE TABLE sales_new PARTITION OF sales FOR VALUES FROM (100) TO (200);
        ALTER TABLE sales REPLICA IDENTITY FULL; ALTER TABLE sales_new REPLICA IDENTITY FULL`,
      publications,
    });
    await shop.commit(
      `INSERT INTO sales VALUES (1, 'tea'), (101, 'mug')`,
      'UPDATE sales SET id = id + 1',
      'DELETE FROM sales WHERE id = 2',
    );
    const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.sales') });
    const old = plain.filter((line) => line.old !== undefined);
    expect(old.map((line) => [line.op, line.old, line.old_partial])).toEqual([
      ['update', { id: 1 }, true],
      ['update', { id: 101, note: 'mug' }, true],
      ['delete', { id: 2 }, true],
    ]);
  });
});
