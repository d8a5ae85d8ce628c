// Where to stop, what to select, and the ways to say it: options, variables, connection strings.

import { describe, expect, it } from 'vitest';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import { insertedIds, lastEnd, linesOf, opsOf, Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const KEEPS_MEGABYTES = /slot .+ stays, and keeps \d\d[\d.]* MB of WAL on the server: .+\n$/;

async function run(shop: Shop, ...options: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runPgtail([...shop.args, ...options]);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^(pgtail: pub.*\n)?(pgtail: slot .+ stays, .*\n)?$/),
  });
  return stdout;
}

describe.concurrent('--limit', () => {
  it('prints and acknowledges a transaction that ends with the last wanted row', async () => {
    await using shop = await Shop.open();
    await shop.order(1, 2);
    await shop.order(3);
    const stdout = await run(shop, '--limit', '2');
    expect(opsOf(stdout)).toEqual(['begin', 'relation', 'insert', 'insert', 'commit']);
    expect(await shop.confirmed()).toBe(lastEnd(stdout));
    expect(insertedIds(await run(shop, '--no-follow'))).toEqual([3]);
  });

  it('leaves a transaction that goes on unacknowledged: it comes again whole', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    await shop.order(2, 3, 4);
    const stdout = await run(shop, '--limit', '3');
    expect(insertedIds(stdout)).toEqual([1, 2, 3]);
    expect(opsOf(stdout).filter((op) => op === 'commit')).toHaveLength(1);
    expect(insertedIds(await run(shop, '--no-follow'))).toEqual([2, 3, 4]);
  });

  it('stops a live tail as soon as the row has come', async () => {
    await using shop = await Shop.open();
    await using child = startPgtail([...shop.args, '-n', '1']);
    await child.started();
    await shop.order(1);
    const { code, stdout } = await child.exited;
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1] });
  });

  it('counts row and truncate lines that are printed, nothing else', async () => {
    await using shop = await Shop.open();
    await shop.database.sql('CREATE TABLE carts (id int PRIMARY KEY)');
    await shop.database.sql(`
      INSERT INTO carts VALUES (1);
      SELECT pg_logical_emit_message(true, 'app', 'hello');
      INSERT INTO orders VALUES (1);
      TRUNCATE orders;
      INSERT INTO orders VALUES (2)`);
    const stdout = await run(shop, '--limit', '2', '--table', 'orders', '--op', 'insert,truncate');
    expect(opsOf(stdout)).toEqual(['insert', 'truncate']);
  });
});

describe.concurrent('--no-follow', () => {
  it('prints all that was committed before, and stops', async () => {
    await using shop = await Shop.open();
    for (const id of [1, 2, 3]) await shop.order(id);
    expect(insertedIds(await run(shop, '--no-follow'))).toEqual([1, 2, 3]);
    expect(await run(shop, '--no-follow')).toBe('');
  });

  it('stops right after pg_switch_wal, where the position is behind a page header', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    await shop.database.query('SELECT pg_switch_wal()');
    expect(insertedIds(await run(shop, '--no-follow'))).toEqual([1]);
    await shop.database.query('SELECT pg_switch_wal()');
    expect(await run(shop, '--no-follow')).toBe('');
  });

  it('stops after writes that no publication shows', async () => {
    await using shop = await Shop.open();
    await shop.database.sql('CREATE TABLE audit (entry text)');
    await shop.database.sql('DROP PUBLICATION shop; CREATE PUBLICATION shop FOR TABLE orders');
    const args = [...shop.database.options, '-P', 'shop', '-S', `${shop.slot}_2`, '--create-slot'];
    await runPgtail([...args, '--no-follow']);
    await shop.database.sql(
      `INSERT INTO audit SELECT repeat('x', 80) FROM generate_series(1, 9999)`,
    );
    expect(await runPgtail([...args, '--no-follow'])).toMatchObject({ code: 0, stdout: '' });
  });

  it('stops although a transaction is open, and although another one goes on committing', async () => {
    await using shop = await Shop.open();
    const clerk = await shop.database.connect();
    await clerk.query('BEGIN; INSERT INTO orders VALUES (0)');
    await shop.order(1);
    let busy = true;
    const writer = (async () => {
      for (let id = 2; busy; id++) await shop.order(id);
    })();
    const ids = insertedIds(await run(shop, '--no-follow'));
    busy = false;
    await writer;
    await clerk.end();
    expect(ids[0]).toBe(1);
    expect(ids).toEqual(ids.map((_, i) => i + 1));
  });
});

describe.concurrent('--table and --op', () => {
  it('print the tables wanted, and acknowledge the rest silently', async () => {
    await using shop = await Shop.open();
    await shop.database.sql(`
      CREATE SCHEMA "Odd.Schema";
      CREATE TABLE "Odd.Schema"."Lines" (id int PRIMARY KEY);
      CREATE TABLE order_lines (id int PRIMARY KEY)`);
    await shop.order(1);
    await shop.database.sql('INSERT INTO order_lines VALUES (2)');
    await shop.database.sql('INSERT INTO "Odd.Schema"."Lines" VALUES (3)');
    const patterns = ['--table', 'order*', '-t', '!public.orders', '-t', '"Odd.Schema".*'];
    const stdout = await run(shop, '--no-follow', ...patterns);
    expect(insertedIds(stdout)).toEqual([2, 3]);
    expect(opsOf(stdout).filter((op) => op === 'begin')).toHaveLength(2);
    expect(await run(shop, '--no-follow')).toBe('');
  });

  it('with only filtered rows acknowledge as they go', async () => {
    await using shop = await Shop.open();
    const args = [...shop.args, '--table', 'carts', '--status-interval', '0.1'];
    await using child = startPgtail(args);
    await child.started();
    await shop.order(1);
    const position = await shop.position();
    await until(async () => (await shop.confirmed()) >= position);
    expect(await child.stop()).toMatchObject({ code: 0, stdout: '' });
  });

  it('print exactly the lines named by --op', async () => {
    await using shop = await Shop.open();
    await shop.database.sql(`
      INSERT INTO orders VALUES (1, 'new');
      UPDATE orders SET note = 'paid';
      DELETE FROM orders`);
    const stdout = await run(shop, '--no-follow', '--op', 'update,delete');
    expect(opsOf(stdout)).toEqual(['update', 'delete']);
    expect(linesOf(stdout).map((line) => line.seq)).toEqual([2, 3]);
  });
});

describe.concurrent('messages', () => {
  const emit = (shop: Shop): Promise<void> =>
    shop.database.sql(`
      SELECT pg_logical_emit_message(false, 'app', 'standing alone');
      SELECT pg_logical_emit_message(true, 'app', convert_to('grüße', 'UTF8'));
      SELECT pg_logical_emit_message(true, 'app', '\\xff00'::bytea)`);

  it('are printed, and acknowledged', async () => {
    await using shop = await Shop.open();
    await emit(shop);
    const stdout = await run(shop, '--no-follow');
    const contents = linesOf(stdout).flatMap((line) =>
      line.op === 'message' ? [line.content ?? line.content_base64] : [],
    );
    expect(contents).toEqual(['standing alone', 'grüße', '/wA=']);
    expect(await run(shop, '--no-follow')).toBe('');
  });

  it('are left out with --no-messages', async () => {
    await using shop = await Shop.open();
    await emit(shop);
    expect(await run(shop, '--no-follow', '--no-messages')).toBe('');
  });
});

describe.concurrent('the ways to say it', () => {
  it('PGTAIL_* variables stand for options, which win over them', async () => {
    await using shop = await Shop.open();
    for (const id of [1, 2, 3]) await shop.order(id);
    const env = {
      PGTAIL_SLOT: shop.slot,
      PGTAIL_PUBLICATION: 'shop',
      PGTAIL_LIMIT: '1',
      PGTAIL_OP: 'insert',
    };
    const { stdout } = await runPgtail(shop.database.options, { env });
    expect(opsOf(stdout)).toEqual(['insert']);
    const more = await runPgtail([...shop.database.options, '--limit', '2'], { env });
    expect(insertedIds(more.stdout)).toEqual([2, 3]);
  });

  it('a URI, name=value pairs, options and PG* variables all lead to the same place', async () => {
    await using shop = await Shop.open();
    const { host, port, user, name } = shop.database;
    const { socketDirectory } = shop.database.server;
    const args = ['-P', 'shop', '--no-follow'];
    const ways: readonly (readonly [readonly string[], Record<string, string>])[] = [
      [[`postgresql://${user}@${host}:${port}/${name}`], {}],
      [['-d', `postgres://${host}/${name}?port=${port}&user=${user}`], {}],
      [[`host=${host} port=${port} user='${user}' dbname = ${name}`], {}],
      [[name, '-h', host, '-p', String(port), '-U', user], {}],
      [['-h', socketDirectory, '-p', String(port), '-U', user, '-d', name], {}],
      [[], { PGHOST: host, PGPORT: String(port), PGUSER: user, PGDATABASE: name }],
      [
        [`host=${host} dbname=${name}`],
        { PGHOST: '/nonexistent', PGPORT: String(port), PGUSER: user },
      ],
    ];
    const results = await Promise.all(
      ways.map(([way, env]) => runPgtail([...way, ...args], { env })),
    );
    for (const { code, stderr } of results) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`"${name}"`) });
    }
  });

  it('PGAPPNAME and application_name name the session', async () => {
    await using shop = await Shop.open();
    const nameOf = async (env: Record<string, string>): Promise<unknown> => {
      await using child = startPgtail(shop.args, { env });
      await child.started();
      const [row] = await shop.database.query(
        `SELECT r.application_name AS name FROM pg_stat_replication r
           JOIN pg_replication_slots s ON s.active_pid = r.pid WHERE s.slot_name = $1`,
        [shop.slot],
      );
      await child.stop();
      return row?.name;
    };
    expect(await nameOf({})).toBe('pgtail');
    expect(await nameOf({ PGAPPNAME: 'shop audit' })).toBe('shop audit');
  });

  it('the end says how much WAL the slot keeps, if it stays', async () => {
    await using shop = await Shop.open();
    await shop.orderMany(1, 10_000, 1000);
    const temporary = [...shop.database.options, '-P', 'shop', '--no-follow'];
    expect((await runPgtail(temporary)).stderr).not.toContain('stays');
    // it leaves a transaction of more than 10 MB for the next reader
    const { code, stderr } = await runPgtail([...shop.args, '--limit', '1']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(KEEPS_MEGABYTES) });
    expect(stderr).toContain(`slot ${JSON.stringify(shop.slot)} stays`);
  });

  it('--quiet says nothing', async () => {
    await using shop = await Shop.open();
    const { stderr } = await runPgtail([...shop.args, '--no-follow', '--quiet']);
    expect(stderr).toBe('');
  });
});
