// After 006_rewrite: statements that write a table anew are not taken for changes of its rows.

import { expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { opsOf } from '../support/tail.ts';

const SCHEMA = 'CREATE TABLE orders (id int PRIMARY KEY, note text, total int)';
/** Shows all columns of the rows that came before a column did. */
const TOUCH_ALL = `UPDATE orders SET note = note || '!'`;

it('a new column with a computed default shows with the next change of each row', async () => {
  await using shop = await Publisher.open({ schema: SCHEMA });
  await shop.commit(
    `INSERT INTO orders VALUES (1, 'tea', 3), (2, 'mug', 8)`,
    `ALTER TABLE orders ADD COLUMN token float8 DEFAULT random()`,
    `INSERT INTO orders VALUES (3, 'pot', 20)`,
    TOUCH_ALL,
  );
  const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.orders') });
  expect(plain.map(({ op }) => op)).toEqual([
    ...['begin', 'relation', 'insert', 'insert', 'commit'],
    ...['begin', 'relation', 'insert', 'commit'],
    ...['begin', 'update', 'update', 'update', 'commit'],
  ]);
});

it('a rewrite in mid-transaction changes the shape of what follows, and no row', async () => {
  await using shop = await Publisher.open({ schema: SCHEMA });
  await shop.commit(
    `INSERT INTO orders VALUES (1, 'tea', 3);
     ALTER TABLE orders ALTER COLUMN total TYPE numeric(10,2) USING total + 0.50;
     INSERT INTO orders VALUES (2, 'mug', 8.25);
     ALTER TABLE orders ALTER COLUMN id TYPE bigint, ADD COLUMN at timestamptz DEFAULT now();
     INSERT INTO orders VALUES (3000000000, 'pot', 20)`,
    TOUCH_ALL,
  );
  const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.orders') });
  const columns = plain.flatMap(({ op, columns }) =>
    op === 'relation' ? [(columns as { type: string }[]).map(({ type }) => type)] : [],
  );
  expect(columns).toEqual([
    ['integer', 'text', 'integer'],
    ['integer', 'text', 'numeric(10,2)'],
    ['bigint', 'text', 'numeric(10,2)', 'timestamp with time zone'],
  ]);
});

it('VACUUM FULL, CLUSTER and a refreshed view send nothing', async () => {
  await using shop = await Publisher.open({
    schema: `${SCHEMA}; CREATE MATERIALIZED VIEW totals AS SELECT sum(total) FROM orders`,
  });
  await shop.commit(
    `INSERT INTO orders SELECT id, 'tea', id FROM generate_series(1, 50) AS id`,
    'VACUUM FULL orders',
    'CLUSTER orders USING orders_pkey',
    'REFRESH MATERIALIZED VIEW totals',
    'ALTER TABLE orders SET UNLOGGED',
    'ALTER TABLE orders SET LOGGED',
    'DELETE FROM orders WHERE id > 3',
  );
  const runs = await shop.readInEveryMode({ tables: wholeTables('public.orders') });
  expect(runs.plain.filter(({ op }) => op === 'insert')).toHaveLength(50);
  expect(opsOf(runs.runs[0]!.stdout).filter((op) => op === 'delete')).toHaveLength(47);
});
