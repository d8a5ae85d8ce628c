// After 011_generated: generated columns are not sent, unless PostgreSQL 18 is asked to. Identity
// columns are plain columns.

import { expect, it } from 'vitest';
import { Publisher } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';

const { major } = sharedServer();

const COLUMNS = `(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, net numeric(10,2), vat numeric,
  gross numeric(10,2) GENERATED ALWAYS AS (net * (1 + vat)) STORED, note text)`;
const CHANGES = [
  `INSERT INTO orders (net, vat, note) VALUES (10, 0.19, 'tea'), (20, 0.07, 'mug'), (NULL, 0, '')`,
  `UPDATE orders SET net = net * 2 WHERE id = 1; DELETE FROM orders WHERE id = 2`,
];

it.runIf(major >= 12)('a stored generated column is left out', async () => {
  await using shop = await Publisher.open({ schema: `CREATE TABLE orders ${COLUMNS}` });
  await shop.commit(...CHANGES);
  const { plain } = await shop.readInEveryMode({
    tables: { 'public.orders': 'SELECT id, net, vat, note FROM orders' },
  });
  const inserted = plain.find(({ op }) => op === 'insert');
  expect(Object.keys(inserted!.new!)).toEqual(['id', 'net', 'vat', 'note']);
});

it.runIf(major >= 18)('a publication may show it, and a virtual one never', async () => {
  await using shop = await Publisher.open({
    schema: `CREATE TABLE orders ${COLUMNS};
      ALTER TABLE orders ADD COLUMN shout text GENERATED ALWAYS AS (upper(note)) VIRTUAL;
      ALTER TABLE orders REPLICA IDENTITY FULL`,
    publications: { shop: 'FOR TABLE orders WITH (publish_generated_columns = stored)' },
  });
  await shop.commit(CHANGES[0]!);
  const { plain } = await shop.readInEveryMode({
    tables: { 'public.orders': 'SELECT id, net, vat, gross, note FROM orders' },
  });
  expect(plain.find(({ op }) => op === 'insert')?.new?.gross).toBe(11.9);
});

it.runIf(major >= 18)('and so may a column list', async () => {
  await using shop = await Publisher.open({
    schema: `CREATE TABLE orders ${COLUMNS}`,
    publications: { shop: 'FOR TABLE orders (gross, id)' },
  });
  await shop.commit(...CHANGES);
  await shop.readInEveryMode({ tables: { 'public.orders': 'SELECT id, gross FROM orders' } });
});
