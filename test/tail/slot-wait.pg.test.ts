// Making a slot waits for every open transaction: it is said which one, and a stop leaves no slot.

import { expect, it } from 'vitest';
import { expectNoHang } from '../support/in-time.ts';
import { startPgtail } from '../support/pgtail.ts';
import { Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const slotsOf = async (shop: Shop): Promise<number> => {
  const sql = 'SELECT FROM pg_replication_slots WHERE database = current_database()';
  return (await shop.database.query(sql)).length;
};

it('the transaction that a new slot waits for is told', async () => {
  await using shop = await Shop.open();
  const clerk = await shop.database.connect();
  await clerk.query(`BEGIN; INSERT INTO orders VALUES (1, 'a secret note')`);
  const name = `${shop.slot}_new`;
  const args = [...shop.database.options, '-P', 'shop', '-S', name, '--create-slot'];
  await using child = startPgtail(args);
  const notice = await child.notice(/the slot can be made once this transaction is over: PID .*/);
  expect(notice).toMatch(/PID \d+, for \d+ s: BEGIN; INSERT INTO orders VALUES \(…, …\)$/);
  await clerk.query('COMMIT');
  await clerk.end();
  await child.started();
  expect((await child.stop()).code).toBe(0);
});

it('a stop while it waits ends at once and leaves no slot behind', async () => {
  await using shop = await Shop.open();
  const clerk = await shop.database.connect();
  await clerk.query('BEGIN; INSERT INTO orders VALUES (1)');
  const name = `${shop.slot}_new`;
  const args = [...shop.database.options, '-P', 'shop', '-S', name, '--create-slot'];
  await using child = startPgtail(args);
  await child.notice(/the slot can be made once/);
  const begun = performance.now();
  expect((await child.stop()).code).toBe(0);
  expectNoHang(performance.now() - begun, 1000);
  await clerk.query('COMMIT');
  await clerk.end();
  await until(async () => (await slotsOf(shop)) === 1);
});
