// After 016_stream_subxact: subtransactions of a streamed transaction, all of them kept.

import { describe, expect, it } from 'vitest';
import { MANY_ORDERS, orders } from '../support/many-orders.ts';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';

const { major } = sharedServer();
const tables = wholeTables('public.orders', 'public.lines');

describe.runIf(major >= 14)('subtransactions', () => {
  it('carry their own xid inside their transaction', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    await shop.commit(
      `BEGIN; ${orders(1, 300)}; SAVEPOINT s1; ${orders(301, 600)};
       UPDATE orders SET customer = 'nobody' WHERE id % 2 = 0; SAVEPOINT s2;
       DELETE FROM orders WHERE id % 3 = 0; ${orders(601, 900)}; RELEASE s2; SAVEPOINT s3;
       INSERT INTO lines VALUES (1, 'tea'); COMMIT`,
    );
    const runs = await shop.readInEveryMode({ tables, pressure: 'memory' });
    for (const lines of runs.of({ streaming: 'on' })) {
      const rows = lines.filter(({ streamed }) => streamed === true);
      const [xid] = new Set(rows.map((line) => line.xid));
      const subxids = [...new Set(rows.map(({ subxid }) => (subxid as number) ?? 0))];
      expect(subxids).toHaveLength(4);
      expect(subxids).toEqual(subxids.toSorted((a, b) => a - b));
      expect(lines.at(-1)).toMatchObject({ op: 'stream_commit', xid });
    }
  });

  it('many and small, as a loop with an exception handler makes them', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    await shop.commit(`
      DO $$ BEGIN
        FOR id IN 1..300 LOOP
          BEGIN
            INSERT INTO orders VALUES (id, 'Ada', repeat('n', 200));
            INSERT INTO lines VALUES (id % 250, 'tea');
          EXCEPTION WHEN unique_violation THEN
            INSERT INTO orders VALUES (-id, 'twice', NULL);
          END;
        END LOOP;
      END $$`);
    await shop.readInEveryMode({ tables, pressure: 'memory' });
  });
});
