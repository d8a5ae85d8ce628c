// After 029_on_error, its publisher: what a subscriber would stumble over is sent all the same, and
// statements that fail on the publisher send nothing. disable_on_error and ALTER SUBSCRIPTION … SKIP
// belong to the subscriber: there is nothing of them to test here.

import { expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';

it('rows that a stricter table would refuse arrive, good and bad, in their order', async () => {
  await using shop = await Publisher.open({
    schema: `CREATE TABLE orders (id int, note text); ALTER TABLE orders REPLICA IDENTITY FULL`,
  });
  await shop.commit(
    `INSERT INTO orders VALUES (1, 'tea'), (1, 'tea'), (NULL, NULL)`,
    `INSERT INTO orders VALUES (2, repeat('long', 5000))`,
    `UPDATE orders SET note = 'both' WHERE id = 1; DELETE FROM orders WHERE id IS NULL`,
  );
  await shop.readInEveryMode({ tables: wholeTables('public.orders') });
});

it('a table without a replica identity refuses the change at its source', async () => {
  await using shop = await Publisher.open({
    schema: `CREATE TABLE visits (page text);
      CREATE TABLE orders (id int PRIMARY KEY)`,
  });
  await shop.commit(`INSERT INTO visits VALUES ('/'); INSERT INTO orders VALUES (1)`);
  for (const change of [`UPDATE visits SET page = '/cart'`, 'DELETE FROM visits']) {
    await expect(shop.commit(`INSERT INTO orders VALUES (2); ${change}`)).rejects.toThrow(
      /does not have a replica identity/,
    );
  }
  const { plain } = await shop.readInEveryMode({
    tables: wholeTables('public.visits', 'public.orders'),
  });
  expect(plain.filter(({ op }) => op === 'begin')).toHaveLength(1);
});
