// After 028_row_filter: rows outside the filter of a publication do not show; a change that crosses
// its border shows as an insert or a delete.

import { describe, expect, it } from 'vitest';
import { Publisher } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';

const { major } = sharedServer();

describe.runIf(major >= 15)('a row filter', () => {
  it('makes rows come and go as they cross its border', async () => {
    await using shop = await Publisher.open({
      schema: `CREATE TABLE orders (id int PRIMARY KEY, total int, note text);
        ALTER TABLE orders REPLICA IDENTITY FULL`,
      publications: { shop: `FOR TABLE orders WHERE (total >= 100)` },
    });
    await shop.commit(
      `INSERT INTO orders VALUES (1, 50, 'small'), (2, 100, 'border'), (3, 500, 'large'), (4, NULL, '')`,
      `UPDATE orders SET note = note || '!'`,
      `UPDATE orders SET total = 150 WHERE id = 1; UPDATE orders SET total = 99 WHERE id = 2`,
      'DELETE FROM orders WHERE id = 4; DELETE FROM orders WHERE id = 3',
    );
    const { plain } = await shop.readInEveryMode({
      tables: { 'public.orders': 'SELECT * FROM orders WHERE total >= 100' },
    });
    const changes = plain.filter(({ op }) => ['insert', 'update', 'delete'].includes(op));
    expect(
      changes.map(({ op, new: row, old }) => [op, row?.id ?? (old as { id: number }).id]),
    ).toEqual([
      ...[
        ['insert', 2],
        ['insert', 3],
        ['update', 2],
        ['update', 3],
      ],
      ...[
        ['insert', 1],
        ['delete', 2],
        ['delete', 3],
      ],
    ]);
  });

  it('of each of several publications counts: a row that any of them lets through shows', async () => {
    await using shop = await Publisher.open({
      schema: 'CREATE TABLE orders (id int PRIMARY KEY, region text)',
      publications: {
        low: 'FOR TABLE orders WHERE (id < 10)',
        high: 'FOR TABLE orders WHERE (id > 20)',
      },
    });
    await shop.commit(
      `INSERT INTO orders SELECT id, 'NO' FROM generate_series(5, 25) AS id`,
      `UPDATE orders SET id = id + 100 WHERE id IN (6, 12, 24)`,
      'TRUNCATE orders; INSERT INTO orders VALUES (1, NULL), (15, NULL)',
    );
    await shop.readInEveryMode({
      tables: { 'public.orders': 'SELECT * FROM orders WHERE id < 10 OR id > 20' },
    });
  });

  it('is that of the root for partitions published through it', async () => {
    await using shop = await Publisher.open({
      schema: `
        CREATE TABLE sales (id int, region text, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
        CREATE TABLE sales_no PARTITION OF sales FOR VALUES IN ('NO');
        CREATE TABLE sales_rest PARTITION OF sales DEFAULT`,
      publications: {
        shop: `FOR TABLE sales WHERE (id > 1) WITH (publish_via_partition_root = true)`,
      },
    });
    await shop.commit(
      `INSERT INTO sales VALUES (1, 'NO'), (2, 'NO'), (3, 'SE')`,
      `UPDATE sales SET region = 'NO' WHERE id = 3; UPDATE sales SET region = 'DK' WHERE id = 1`,
      `UPDATE sales SET id = 0 WHERE id = 2`,
    );
    await shop.readInEveryMode({
      tables: { 'public.sales': 'SELECT * FROM sales WHERE id > 1' },
    });
  });
});

describe.runIf(major >= 15)('FOR TABLES IN SCHEMA', () => {
  it('publishes what is in the schema, now and later, without a filter', async () => {
    await using shop = await Publisher.open({
      schema: `CREATE SCHEMA sales; CREATE TABLE sales.orders (id int PRIMARY KEY);
        CREATE TABLE drafts (id int PRIMARY KEY)`,
      publications: { shop: 'FOR TABLES IN SCHEMA sales' },
    });
    await shop.commit(
      'INSERT INTO sales.orders VALUES (1); INSERT INTO drafts VALUES (1)',
      'CREATE TABLE sales.carts (id int PRIMARY KEY); INSERT INTO sales.carts VALUES (2)',
      'ALTER TABLE drafts SET SCHEMA sales; INSERT INTO sales.drafts VALUES (3)',
    );
    const { plain } = await shop.readInEveryMode({ tables: {} });
    const inserted = plain.filter(({ op }) => op === 'insert');
    expect(inserted.map(({ table, new: row }) => [table, row?.id])).toEqual([
      ['orders', 1],
      ['carts', 2],
      ['drafts', 3],
    ]);
  });
});
