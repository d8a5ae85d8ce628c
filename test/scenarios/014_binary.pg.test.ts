// After 014_binary: values may come in binary, and look no different; where only the server can turn
// a type into text, it does, also when such a type turns up in mid-run.

import { describe, expect, it } from 'vitest';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { Replica } from '../support/replica.ts';
import { sharedServer } from '../support/server.ts';
import { pressed } from '../support/stream-modes.ts';
import { insertedIds, linesOf } from '../support/tail.ts';

const { major } = sharedServer();

const TEXT_AFTER_ALL = /going on without --binary/;

const SCHEMA = 'CREATE TABLE orders (id int PRIMARY KEY, note text, paid numeric(10,2))';

/** Large enough to be streamed. */
const many = (from: number, to: number, table = 'orders'): string =>
  `INSERT INTO ${table} SELECT id, repeat('n', 100), 1 FROM generate_series(${from}, ${to}) AS id`;

async function matchesTables(shop: Publisher, ndjson: string, ...tables: readonly string[]) {
  const expected = await shop.expectedRows(wholeTables(...tables));
  const replica = Replica.of(ndjson);
  for (const [table, rows] of expected) expect(replica.rows(table)).toEqual(rows);
}

describe.runIf(major >= 14)('--binary', () => {
  it('shows large rows, NULLs, unchanged values and old rows as text mode does', async () => {
    await using shop = await Publisher.open({
      schema: `
        CREATE TABLE articles (id bigint PRIMARY KEY, body text, raw bytea, tags text[], price float8);
        ALTER TABLE articles ALTER body SET STORAGE EXTERNAL, ALTER raw SET STORAGE EXTERNAL;
        CREATE TABLE history (LIKE articles); ALTER TABLE history REPLICA IDENTITY FULL`,
    });
    await shop.commit(
      `INSERT INTO articles
         SELECT id, repeat(md5(id::text), 300), decode(repeat(md5(id::text), 300), 'hex'),
                ARRAY['a', NULL, md5(id::text)], sqrt(id)
         FROM generate_series(1, 5) AS id;
       INSERT INTO history SELECT * FROM articles`,
      'UPDATE articles SET price = NULL WHERE id < 3; UPDATE history SET price = 0 WHERE id < 3',
      'DELETE FROM history WHERE id = 1; UPDATE articles SET id = -id WHERE id = 4',
    );
    const { plain } = await shop.readInEveryMode({
      tables: wholeTables('public.articles', 'public.history'),
    });
    const unchanged = plain.filter((line) => line.unchanged !== undefined);
    expect(unchanged.map((line) => line.unchanged)).toEqual(Array(3).fill(['body', 'raw']));
  });

  it('shows values that become JSON straight from their bytes as text mode does', async () => {
    await using shop = await Publisher.open({
      schema: `
        CREATE TABLE plain (
          id bigint PRIMARY KEY, small int2, whole int, price numeric, weight float8, height float4,
          ok bool, note text, code varchar(9), fixed char(5), label name, owner oid, token uuid,
          born date, at time, seen timestamp, sent timestamptz, raw json, details jsonb);
        ALTER TABLE plain REPLICA IDENTITY FULL;
        ALTER TABLE plain ALTER note SET STORAGE EXTERNAL`,
    });
    await shop.commit(
      `INSERT INTO plain VALUES
         (1, -2, 3, 1.50, 0.1, 1e-7, true, E'a "note" \\\\ \\n', 'é', 'x', 'y', 4000000000,
          '53a0ed3a-87d4-216e-bb08-55a2ef3c89d6', '0044-03-15 BC', '24:00', '-infinity',
          '12026-01-01 00:00:00.5+00', E'{"a":\\n1}', '{"b": 1}'),
         (2, 0, 0, 'NaN', 'NaN', '-infinity', false, '', '', '', '', 0, NULL, 'infinity', '00:00',
          'infinity', '0001-01-01 BC', '1', 'null')`,
      `INSERT INTO plain (id) VALUES (3);
       INSERT INTO plain (id, note, price) VALUES (4, repeat('long ', 2000), 1e-16000)`,
      // one NaN after another that is other bytes: what it was is what it is
      `UPDATE plain SET weight = 'infinity'::float8 - 'infinity'::float8, small = 1 WHERE id = 2`,
      'UPDATE plain SET small = 5 WHERE id = 4; DELETE FROM plain WHERE id < 3',
    );
    const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.plain') });
    const updates = plain.filter(({ op }) => op === 'update');
    expect(updates.map((line) => line.changed)).toEqual([['small'], ['small']]);
  });

  it('stays with text where a published column has a type of the server’s own', async () => {
    await using shop = await Publisher.open({
      schema: `${SCHEMA}; CREATE TABLE invoices (id int PRIMARY KEY, amount money)`,
    });
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'tea', 3); INSERT INTO invoices VALUES (1, 5)`,
    );
    const { code, stdout, stderr } = await shop.run(shop.slot, ['--binary']);
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 1] });
    expect(stderr).toMatch(
      /^pgtail: --binary is left off: only the server can turn money into text \(column amount of public\.invoices\)$/m,
    );
  });

  it('stays with text, and says so, with a temporary slot', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    const args = [...shop.database.options, '-P', 'shop', '--binary', '--limit', '1'];
    await using child = startPgtail(args);
    await child.started();
    await child.notice(/^pgtail: --binary is left off: it needs a slot that outlives its/m);
    await shop.commit(`INSERT INTO orders VALUES (1, 'tea', 3)`);
    expect(await child.exited).toMatchObject({ code: 0 });
  });

  it('goes on in text when a column of such a type is added in mid-run', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    await using child = await shop.follow(shop.slot, ['--binary']);
    await shop.commit(`INSERT INTO orders VALUES (1, 'tea', 3)`);
    await child.output(/"commit"/);
    await shop.commit(
      'ALTER TABLE orders ADD COLUMN tip money',
      `INSERT INTO orders VALUES (2, 'mug', 8)`,
      `INSERT INTO orders VALUES (3, 'pot', 20, 1.5), (4, 'cup', 2, 0.1)`,
      'UPDATE orders SET tip = 0 WHERE id < 3',
    );
    await child.output(/"update"[\s\S]*"update"[\s\S]*"commit"/);
    const { code, stdout, stderr } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 2, 3, 4] });
    expect(stderr.match(new RegExp(TEXT_AFTER_ALL, 'g'))).toHaveLength(1);
    expect(linesOf(stdout).filter(({ op }) => op === 'restart')).toEqual([]);
    await matchesTables(shop, stdout, 'public.orders');
    expect((await shop.run(shop.slot)).stdout).toBe('');
  });

  it('voids the lines of the transaction in which it turns up, and prints it anew', async () => {
    await using shop = await Publisher.open({
      schema: SCHEMA,
      publications: { shop: 'FOR TABLE orders' },
    });
    await shop.commit(`INSERT INTO orders VALUES (1, 'tea', 3)`);
    await using child = await shop.follow(shop.slot, ['--binary']);
    await child.output(/"commit"/);
    await shop.commit(
      'CREATE TABLE invoices (id int PRIMARY KEY, amount money)',
      'ALTER PUBLICATION shop ADD TABLE invoices',
      `INSERT INTO orders VALUES (2, 'mug', 8); INSERT INTO invoices VALUES (3, 12.5)`,
      `INSERT INTO orders VALUES (4, 'cup', 2)`,
    );
    await child.output(/"id":4[\s\S]*"commit"/);
    const { code, stdout } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 2, 2, 3, 4] });
    const lines = linesOf(stdout);
    const restart = lines.find(({ op }) => op === 'restart');
    const voided = lines.filter((line) => line.new?.id === 2).map(({ xid }) => xid);
    const first = lines.find(({ op }) => op === 'commit');
    expect(restart).toEqual({
      op: 'restart',
      // 14 sends empty transactions too: the last of them ended here
      after_lsn: major === 14 ? expect.any(String) : first?.end_lsn,
      void_xids: [voided[0]],
    });
    expect(voided).toEqual([voided[0], voided[0]]);
    await matchesTables(shop, stdout, 'public.orders', 'public.invoices');
  });

  it('does the same in the first transaction of all, where nothing was acknowledged', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'tea', 3);
       ALTER TABLE orders ADD COLUMN tip money; INSERT INTO orders VALUES (2, 'mug', 8, 1);
       ALTER TABLE orders DROP COLUMN tip; INSERT INTO orders VALUES (3, 'pot', 20)`,
      `INSERT INTO orders VALUES (4, 'cup', 2); UPDATE orders SET paid = paid + 1`,
    );
    const { code, stdout, stderr } = await shop.run(shop.slot, ['--binary']);
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 1, 2, 3, 4] });
    expect(linesOf(stdout).find(({ op }) => op === 'restart')).toMatchObject({
      op: 'restart',
      void_xids: [linesOf(stdout)[0]!.xid],
    });
    expect(stderr).toMatch(TEXT_AFTER_ALL);
    await matchesTables(shop, stdout, 'public.orders');
  });

  it.each(['on', 'buffer'])('does the same while a transaction is streamed: %s', async (mode) => {
    await using shop = await Publisher.open({
      schema: `${SCHEMA}; CREATE TABLE carts (LIKE orders INCLUDING ALL)`,
    });
    await shop.commit(`INSERT INTO orders VALUES (0, 'first', 1)`);
    const other = await shop.database.connect();
    await other.query(`BEGIN; ${many(1, 500, 'carts')}`);
    await shop.commit(
      `BEGIN; ${many(1, 500)}; ALTER TABLE orders ADD COLUMN tip money;
       INSERT INTO orders VALUES (9001, 'tipped', 1, 2.5); ${many(501, 1000)}; COMMIT`,
      `ALTER TABLE orders DROP COLUMN tip; UPDATE orders SET note = 'short'`,
    );
    await other.query(`UPDATE carts SET note = 'short'; COMMIT`);
    await other.end();
    const options = ['--binary', '--streaming', mode];
    const { code, stdout, stderr } = await shop.run(shop.slot, options, 'memory');
    expect(code).toBe(0);
    expect(stderr).toMatch(TEXT_AFTER_ALL);
    await matchesTables(shop, stdout, 'public.orders', 'public.carts');
    const restarts = linesOf(stdout).filter(({ op }) => op === 'restart');
    expect(restarts).toHaveLength(1);
    if (mode === 'on') expect(restarts[0]!.void_xids).toHaveLength(2);
    expect((await shop.run(shop.slot)).stdout).toBe('');
  });

  it('counts --limit over both', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'tea', 3), (2, 'mug', 8)`,
      `INSERT INTO orders VALUES (3, 'pot', 20);
       ALTER TABLE orders ADD COLUMN tip money; INSERT INTO orders VALUES (4, 'cup', 2, 1)`,
      `ALTER TABLE orders DROP COLUMN tip; INSERT INTO orders VALUES (5, 'jug', 2)`,
    );
    const args = [...shop.args(), '--binary', '--limit', '4'];
    const { code, stdout } = await runPgtail(args, { env: pressed(major, 'memory') });
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 2, 3, 3, 4] });
    expect(insertedIds((await shop.run(shop.slot)).stdout)).toEqual([5]);
  });
});
