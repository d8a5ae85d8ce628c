// The reasons for a silence that the README shows are those of a real one, whatever their figures.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startPgtail } from '../support/pgtail.ts';
import { sharedServer } from '../support/server.ts';
import { Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const README = fileURLToPath(new URL('../../README.md', import.meta.url));
const REASONS = /```text\n(pgtail: nothing has arrived [\s\S]*?)```/;

const withoutFigures = (text: string): string =>
  text
    .replaceAll(/PID \d+/g, 'PID')
    .replaceAll(/\d[\d.]* (B|kB|MB|GB|ms|s|min)\b/g, 'FIGURE')
    .replaceAll(/[\d,]+ (insert|update)s?\b/g, 'N $1s');

it.runIf(sharedServer().major === 18)('a silence is explained as the README shows it', async () => {
  await using shop = await Shop.open();
  await shop.database.sql(`
    CREATE TABLE audit (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, note text);
    DROP PUBLICATION shop;
    CREATE PUBLICATION shop FOR TABLE orders WITH (publish = 'insert, delete')`);
  await shop.database.query('SELECT pg_drop_replication_slot($1)', [shop.slot]);
  await shop.createSlot(shop.slot);
  await shop.database.sql(`INSERT INTO orders VALUES (1, 'tea'), (2, 'lamp')`);
  await using child = startPgtail([...shop.args, '--explain-after', '1s']);
  await child.started();
  const till = await shop.database.connect();
  await till.query(`SET application_name = 'till-3'`);
  await till.query(`BEGIN; INSERT INTO orders VALUES (3, 'notebook')`);
  const [, shown = ''] = REASONS.exec(readFileSync(README, 'utf8')) ?? [];
  const expected = withoutFigures(shown);
  await until(async () => {
    // in a session of its own, whose end makes its statistics known
    const clerk = await shop.database.connect();
    await clerk.query(`INSERT INTO audit (note) SELECT 'seen' FROM generate_series(1, 120);
      UPDATE orders SET note = note || '!'`);
    await clerk.end();
    return withoutFigures(child.stderr).includes(expected);
  }).catch(() => {}); // what differs says more
  expect(withoutFigures(child.stderr)).toContain(expected);
  // of a transaction that has begun after the look at them
  expect(child.stderr).not.toContain('open for -');
  await till.query('ROLLBACK');
  await till.end();
  expect((await child.stop()).code).toBe(0);
});
