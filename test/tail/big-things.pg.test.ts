// Things of a size at which programs give up: thousands of tables in one go, and a value that takes
// the server a while to send.

import { openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { expectWithin } from '../support/in-time.ts';
import { type PgtailResult, startPgtail } from '../support/pgtail.ts';
import { temporaryFolder } from '../support/pty.ts';
import { type Line, linesOf, Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const TABLES = 5000;
/** A transaction has only so many locks. */
const TABLES_AT_ONCE = 500;

/** In MiB, the most that it has had. */
function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s*(\d+) kB/m.exec(status)?.[1]) / 1024;
}

/** A statement for each of the tables, all in one transaction. */
const forTables = (statement: string, from = 1, to = TABLES): string => `DO $$ BEGIN
  FOR i IN ${from}..${to} LOOP EXECUTE format('${statement}', i); END LOOP; END $$`;

async function openWarehouse(): Promise<Shop> {
  const shop = await Shop.open();
  for (let from = 1; from <= TABLES; from += TABLES_AT_ONCE) {
    const create = 'CREATE TABLE stock_%1$s (id int, place text)';
    await shop.database.sql(forTables(create, from, from + TABLES_AT_ONCE - 1));
  }
  return shop;
}

const count = (text: string, what: string): number => text.split(what).length - 1;

it('5,000 tables in one transaction are announced once each, and take little memory', async () => {
  await using shop = await openWarehouse();
  using folder = temporaryFolder();
  const path = join(folder.path, 'out.ndjson');
  await using child = startPgtail(shop.args, { stdout: openSync(path, 'w') });
  await child.started();
  const insert = `INSERT INTO stock_%1$s VALUES (%1$s, ''shelf'')`;
  for (const _ of ['announced', 'known']) await shop.database.sql(forTables(insert));
  await until(() => count(readFileSync(path, 'utf8'), '"op":"commit"') === 2);
  const peak = peakMemory(child.pid);
  expect((await child.stop()).code).toBe(0);
  const lines = linesOf(readFileSync(path, 'utf8'));
  expect(lines.map(shortened)).toEqual([
    'begin',
    ...Array.from({ length: TABLES }, (_, i) => [
      `relation stock_${i + 1}`,
      `insert stock_${i + 1} ${i + 1}`,
    ]).flat(),
    'commit',
    'begin',
    ...Array.from({ length: TABLES }, (_, i) => `insert stock_${i + 1} ${i + 1}`),
    'commit',
  ]);
  expect(peak).toBeLessThan(120);
});

const shortened = ({ op, table, new: row }: Line): string =>
  [op, table, row?.id].filter((part) => part !== undefined).join(' ');

const LARGE = 120_000_000;

it('a value of 120 MB arrives whole in 20 seconds', async () => {
  await using shop = await Shop.open();
  using folder = temporaryFolder();
  const path = join(folder.path, 'out.ndjson');
  let id = 0;
  await expectWithin(20_000, async () => {
    await shop.database.sql(`INSERT INTO orders VALUES (${++id}, repeat('n', ${LARGE}))`);
    const { code } = await readOne(shop, path);
    expect(code).toBe(0);
  });
  expect(statSync(path).size).toBeGreaterThan(LARGE);
  const [row] = linesOf(readFileSync(path, 'utf8')).filter(({ op }) => op === 'insert');
  expect(row?.new?.note).toHaveLength(LARGE);
});

async function readOne(shop: Shop, path: string): Promise<PgtailResult> {
  await using child = startPgtail([...shop.args, '--limit', '1'], { stdout: openSync(path, 'w') });
  return await child.exited;
}
