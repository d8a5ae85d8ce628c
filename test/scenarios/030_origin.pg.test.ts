// After 030_origin: changes that came from another server say so, and can be left out (16+).

import { describe, expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';
import { insertedIds, linesOf } from '../support/tail.ts';

const { major } = sharedServer();

/** Runs transactions as a subscriber would that applies those of another server. */
async function replay(
  shop: Publisher,
  node: string,
  transactions: readonly { sql: string; lsn: string; time: string }[],
): Promise<void> {
  const session = await shop.database.connect();
  await session.query(`SELECT pg_replication_origin_session_setup('${node}')`);
  for (const { sql, lsn, time } of transactions) {
    await session.query('BEGIN');
    await session.query(`SELECT pg_replication_origin_xact_setup('${lsn}', '${time}')`);
    await session.query(`${sql}; COMMIT`);
  }
  await session.end();
}

describe('an origin', () => {
  it('is told once in its transaction, with the position and the time there', async () => {
    await using shop = await Publisher.open({
      schema: 'CREATE TABLE orders (id int PRIMARY KEY, note text)',
    });
    const node = `${shop.database.name}_node`;
    await shop.commit(`SELECT pg_replication_origin_create('${node}')`);
    try {
      await shop.commit(`INSERT INTO orders VALUES (1, 'here')`);
      await replay(shop, node, [
        {
          sql: `INSERT INTO orders VALUES (2, 'there'); UPDATE orders SET note = 'both' WHERE id = 1`,
          lsn: 'AB/CD00',
          time: '2001-02-03 04:05:06+00',
        },
        { sql: 'DELETE FROM orders WHERE id = 1', lsn: 'AB/CE00', time: '2001-02-03 05:00:00+00' },
      ]);
      await shop.commit(`INSERT INTO orders VALUES (3, 'here again')`);
      const { plain } = await shop.readInEveryMode({ tables: wholeTables('public.orders') });
      const origins = plain.filter(({ op }) => op === 'origin');
      expect(origins.map(({ origin, origin_lsn }) => [origin, origin_lsn])).toEqual([
        [node, 'AB/CD00'],
        [node, 'AB/CE00'],
      ]);
      expect(plain.find((line) => line.new?.id === 2)).toMatchObject({
        commit_time: '2001-02-03T04:05:06+00:00',
      });
    } finally {
      await shop.commit(`SELECT pg_replication_origin_drop('${node}')`);
    }
  });

  it.runIf(major >= 16)('can be asked to be none', async () => {
    await using shop = await Publisher.open({
      schema: 'CREATE TABLE orders (id int PRIMARY KEY, note text)',
    });
    const node = `${shop.database.name}_node`;
    await shop.commit(`SELECT pg_replication_origin_create('${node}')`);
    try {
      await shop.commit(`INSERT INTO orders VALUES (1, 'here')`);
      const there = `INSERT INTO orders SELECT id, repeat('n', 200) FROM generate_series(10, 500) id`;
      await replay(shop, node, [{ sql: there, lsn: '0/10', time: '2001-02-03 04:05:06+00' }]);
      await shop.commit(`INSERT INTO orders VALUES (2, 'here')`);
      for (const streaming of ['off', 'on', 'buffer']) {
        const options = ['--origin', 'none', '--streaming', streaming];
        const { code, stdout } = await shop.run(await shop.copyOfSlot(), options, 'memory');
        expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1, 2] });
        expect(linesOf(stdout).some(({ op }) => op === 'origin')).toBe(false);
      }
    } finally {
      await shop.commit(`SELECT pg_replication_origin_drop('${node}')`);
    }
  });
});
