// When nothing arrives although the server writes: why, on standard error.

import { describe, expect, it } from 'vitest';
import { type PgtailProcess, startPgtail } from '../support/pgtail.ts';
import { type SharedServer, sharedServer, startPrivateServer } from '../support/server.ts';
import { Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const TABLES = `
  CREATE TABLE drafts (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, note text);
  CREATE UNLOGGED TABLE carts (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY);`;

/** The shop's tables without a publication of all of them. */
async function openShop(publication: string, server?: SharedServer): Promise<Shop> {
  const shop = await Shop.open(server);
  await shop.database.sql(TABLES);
  await shop.database.sql('DROP PUBLICATION shop');
  await shop.database.sql(publication);
  // of a publication made after it a slot knows nothing
  await shop.database.query('SELECT pg_drop_replication_slot($1)', [shop.slot]);
  await shop.createSlot(shop.slot);
  return shop;
}

/** In a session of its own, whose end makes its statistics known. */
async function run(shop: Shop, statement: string): Promise<void> {
  const clerk = await shop.database.connect();
  await clerk.query(statement);
  await clerk.end();
}

/** Repeats the statement until the notice is there: the first look may have come after it. */
async function toldAfter(
  child: PgtailProcess,
  shop: Shop,
  statement: string,
  notice: RegExp,
): Promise<string> {
  await until(async () => {
    await run(shop, statement);
    return notice.test(child.stderr);
  });
  return notice.exec(child.stderr)![0];
}

async function tailOf(shop: Shop, ...more: string[]): Promise<PgtailProcess> {
  const child = startPgtail([...shop.args, '--explain-after', '1s', ...more]);
  await child.started();
  return child;
}

const PUBLISHED = 'CREATE PUBLICATION shop FOR TABLE orders';

describe.concurrent('a silence in which the server writes', () => {
  it('is headed by how long and how much', async () => {
    await using shop = await openShop(PUBLISHED);
    await using child = await tailOf(shop);
    const pattern = /pgtail: nothing has arrived for .*:/;
    const head = await toldAfter(child, shop, `INSERT INTO drafts (note) VALUES ('x')`, pattern);
    expect(head).toMatch(/for \d+(\.\d)? s(, while [\d.]+ k?M?B of WAL were written)?:$/);
  });

  it('names a table that is not published, and the statement that adds it', async () => {
    await using shop = await openShop(PUBLISHED);
    await using child = await tailOf(shop);
    const statement = `INSERT INTO drafts (note) VALUES ('secret')`;
    const told = await toldAfter(child, shop, statement, /public\.drafts: .*/);
    expect(told).toMatch(
      /^public\.drafts: \d+ inserts?, but it is not in publication "shop" \((.*)\)$/,
    );
    expect(child.stderr).not.toContain('secret');
    await shop.database.sql(/\((ALTER .*)\)$/.exec(told)![1]!);
    await run(shop, statement);
    await child.output(/"table":"drafts"/);
  });

  it('names an operation that is not published, and the statement that adds it', async () => {
    await using shop = await openShop(`${PUBLISHED} WITH (publish = 'insert, delete')`);
    await shop.order(1);
    await using child = await tailOf(shop);
    const statement = `UPDATE orders SET note = note || '!'`;
    const told = await toldAfter(child, shop, statement, /public\.orders: .*/);
    expect(told).toMatch(/: \d+ updates?, but publication "shop" does not publish updates \(.*\)$/);
    expect(told).toContain(`publish = 'insert, update, delete')`);
    await shop.database.sql(/\((ALTER .*\))\)$/.exec(told)![1]!);
    await run(shop, statement);
    await child.output(/"op":"update"/);
  });

  it.runIf(sharedServer().major >= 11)('names a TRUNCATE that is not published', async () => {
    await using shop = await openShop(`${PUBLISHED} WITH (publish = 'delete')`);
    await using child = await tailOf(shop);
    // each time there are rows to take away: the first look may come after any of them
    const statement = 'BEGIN; INSERT INTO orders VALUES (1); COMMIT; TRUNCATE orders';
    const told = await toldAfter(child, shop, statement, /public\.orders: perhaps .*/);
    expect(told).toMatch(
      /: perhaps a TRUNCATE, but publication "shop" does not publish truncates \(.*\)$/,
    );
    await shop.database.sql(/\((ALTER .*\))\)$/.exec(told)![1]!);
    await run(shop, 'TRUNCATE orders');
    await child.output(/"op":"truncate"/);
  });

  it('takes VACUUM FULL of an empty table for no TRUNCATE', async () => {
    await using shop = await openShop(`${PUBLISHED} WITH (publish = 'delete')`);
    await run(shop, 'INSERT INTO orders VALUES (1)');
    await run(shop, 'TRUNCATE orders');
    await using child = await tailOf(shop);
    const one = `INSERT INTO drafts (note) VALUES ('x')`;
    await toldAfter(child, shop, one, /public\.drafts: .*/);
    await run(shop, 'VACUUM FULL orders');
    const seen = child.stderr.length;
    await until(async () => {
      await run(shop, one);
      return child.stderr.slice(seen).includes('public.drafts');
    });
    expect(child.stderr).not.toContain('public.orders');
  });

  it('names an unlogged table', async () => {
    await using shop = await openShop(PUBLISHED);
    await using child = await tailOf(shop);
    const both = `INSERT INTO carts DEFAULT VALUES; INSERT INTO drafts (note) VALUES ('x')`;
    const told = await toldAfter(child, shop, both, /public\.carts: .*/);
    expect(told).toMatch(/inserts?, but it is not in the WAL: the table is UNLOGGED$/);
  });

  it.runIf(sharedServer().major >= 15)('names a row filter that nothing passed', async () => {
    await using shop = await openShop(`${PUBLISHED} WHERE (id > 1000000)`);
    await using child = await tailOf(shop);
    const statement = `INSERT INTO orders SELECT count(*) FROM orders`;
    const told = await toldAfter(child, shop, statement, /public\.orders: .*/);
    expect(told).toContain(
      'none of which passed the row filter of publication "shop": (id > 1000000)',
    );
  });

  it.runIf(sharedServer().major >= 15)('names the row filter of the root', async () => {
    await using shop = await openShop(PUBLISHED);
    await shop.database.sql(`
      CREATE TABLE days (day int) PARTITION BY RANGE (day);
      CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (0) TO (1000000);
      DROP PUBLICATION shop;
      CREATE PUBLICATION shop FOR TABLE days WHERE (day > 1000)
        WITH (publish = 'insert', publish_via_partition_root = true)`);
    await using child = await tailOf(shop);
    const told = await toldAfter(child, shop, 'INSERT INTO days VALUES (1)', /\.days_1: .*/);
    expect(told).toContain('the row filter of publication "shop": (day > 1000)');
  });

  it('names what --table leaves out', async () => {
    await using shop = await openShop('CREATE PUBLICATION shop FOR ALL TABLES');
    await using child = await tailOf(shop, '--table', 'orders');
    const statement = `INSERT INTO drafts (note) VALUES ('x')`;
    const told = await toldAfter(child, shop, statement, /public\.drafts: .*/);
    expect(told).toMatch(/inserts?, left out by --table or --op$/);
  });

  it('names an open transaction, and ends with it', async () => {
    await using shop = await openShop(PUBLISHED);
    await using child = await tailOf(shop);
    const clerk = await shop.database.connect();
    await clerk.query(`SET application_name = 'till 3'; BEGIN; INSERT INTO orders VALUES (1)`);
    const told = await toldAfter(
      child,
      shop,
      `INSERT INTO drafts (note) VALUES ('x')`,
      /PID \d+ .*/,
    );
    expect(told).toMatch(/^PID \d+ \(till 3\) has written in a transaction that is open for .*/);
    await clerk.query('COMMIT');
    await clerk.end();
    await child.output(/"table":"orders".*"id":1/);
  });

  it('names another database that is written to', async () => {
    await using shop = await openShop(PUBLISHED);
    await using other = await openShop(PUBLISHED);
    await using child = await tailOf(shop);
    const statement = `INSERT INTO drafts (note) SELECT 'x' FROM generate_series(1, 10000)`;
    const pattern = /other databases were written to: .*/;
    const told = await toldAfter(child, other, statement, pattern);
    expect(told).toMatch(/[\d,]+ rows? in ".*, but a slot sends its own database only$/);
  });

  it('names rows that were rolled back', async () => {
    await using shop = await openShop(PUBLISHED);
    await using child = await tailOf(shop);
    const statement = 'BEGIN; INSERT INTO orders VALUES (1); ROLLBACK';
    const told = await toldAfter(child, shop, statement, /public\.orders: .*/);
    expect(told).toMatch(/inserts?, most likely rolled back$/);
  });
});

it('a decoder that is behind is named with its position, and then goes on', async () => {
  await using own = await startPrivateServer();
  await using shop = await openShop(PUBLISHED, own);
  await using child = await tailOf(shop);
  const walsender = await walsenderOf(shop);
  // it waits for WAL and holds nothing that others need
  process.kill(walsender, 'SIGSTOP');
  try {
    await shop.database.sql(`INSERT INTO orders SELECT generate_series(1, 10000)`);
    const told = await toldAfter(child, shop, 'CHECKPOINT', /the server still reads its WAL .*/);
    const [row] = await shop.database.query<{ sent: string }>(
      'SELECT sent_lsn::text AS sent FROM pg_stat_replication WHERE pid = $1',
      [walsender],
    );
    expect(told).toMatch(/^the server still reads its WAL at .*, with [\d.]+ (kB|MB) to go$/);
    expect(told).toContain(` at ${row!.sent}, `);
    expect(child.stderr).not.toMatch(/public\.orders/);
  } finally {
    process.kill(walsender, 'SIGCONT');
  }
  await child.output(/"id":10000\b/);
});

async function walsenderOf({ database, slot }: Shop): Promise<number> {
  return await until(async () => {
    const [row] = await database.query<{ pid: number | null }>(
      'SELECT active_pid AS pid FROM pg_replication_slots WHERE slot_name = $1',
      [slot],
    );
    return row?.pid;
  });
}

it('nothing is said with --quiet', async () => {
  await using shop = await openShop(PUBLISHED);
  await using loud = await tailOf(shop);
  const quiet = `${shop.slot}_quiet`;
  await shop.createSlot(quiet);
  const args = [...shop.database.options, '-S', quiet, '-P', 'shop'];
  await using child = startPgtail([...args, '--explain-after', '1s', '-q']);
  const statement = `INSERT INTO drafts (note) VALUES ('x')`;
  await toldAfter(loud, shop, statement, /public\.drafts: .*/);
  await run(shop, 'INSERT INTO orders VALUES (1)');
  await child.output(/"op":"commit"/);
  expect(child.stderr).toBe('');
});
