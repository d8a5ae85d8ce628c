// After 023_twophase_stream: large transactions that are streamed, prepared and decided.

import { describe, expect, it } from 'vitest';
import { MANY_ORDERS, orders } from '../support/many-orders.ts';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { Replica } from '../support/replica.ts';
import { sharedServer } from '../support/server.ts';
import { linesOf, opsOf } from '../support/tail.ts';

const { major } = sharedServer();
const tables = wholeTables('public.orders', 'public.lines');

describe.runIf(major >= 15)('a streamed transaction that is prepared', () => {
  it('counts once it is committed, without what it rolled back', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    const gid = (name: string): string => `${shop.database.name} ${name}`;
    await shop.commit(
      `BEGIN; ${orders(1, 400)}; SAVEPOINT s; ${orders(401, 800)}; ROLLBACK TO s;
       ${orders(801, 1200)}; PREPARE TRANSACTION '${gid('kept')}'`,
      `BEGIN; ${orders(2001, 2600)}; PREPARE TRANSACTION '${gid('dropped')}'`,
      `INSERT INTO lines VALUES (1, 'tea')`,
      `BEGIN; ${orders(3001, 3600)}; PREPARE TRANSACTION '${gid('open')}'`,
    );
    const undecided = ['kept', 'dropped', 'open'].map(gid);
    const runs = await shop.readInEveryMode({ tables, pressure: 'memory', undecided });
    for (const lines of runs.of({ twoPhase: true, streaming: 'on' })) {
      const ends = lines.filter(({ op }) => op === 'stream_prepare');
      expect(ends.map(({ gid, changes }) => [gid, changes])).toEqual([
        [gid('kept'), expect.any(Number)], // rolled back ones too, if they were shown
        [gid('dropped'), 600],
        [gid('open'), 600],
      ]);
    }
    // of what was rolled back when it is read a server may send fewer rows in one mode than in another
    await shop.commit(
      `COMMIT PREPARED '${gid('kept')}'`,
      `ROLLBACK PREPARED '${gid('dropped')}'`,
      `INSERT INTO lines VALUES (2, 'mug')`,
    );
    const expected = await shop.expectedRows(tables);
    for (const streaming of ['on', 'buffer', 'off']) {
      const options = ['--two-phase', '--yes', '--streaming', streaming];
      const { code, stdout } = await shop.run(await shop.copyOfSlot(), options, 'memory');
      const replica = Replica.of(stdout);
      const rows = [...expected.keys()].map((table) => replica.rows(table));
      expect({ code, rows }).toEqual({ code: 0, rows: [...expected.values()] });
      expect(replica.undecided).toEqual([gid('open')]);
    }
  });

  it('is followed live, and decided after a restart', async () => {
    await using shop = await Publisher.open({ schema: MANY_ORDERS });
    const gid = `${shop.database.name} live`;
    const options = ['--streaming', 'on', '--two-phase', '--yes'];
    const clerk = await shop.database.connect();
    let printed = '';
    {
      await using child = await shop.follow(shop.slot, options);
      await clerk.query(`BEGIN; ${orders(1, 400)}`);
      await child.output(/"stream_stop"/);
      await clerk.query(`${orders(401, 600)}; PREPARE TRANSACTION '${gid}'`);
      await child.output(/"stream_prepare"/);
      await shop.commit(`INSERT INTO lines VALUES (1, 'tea')`);
      await child.output(/"op":"commit"/);
      const stopped = await child.stop();
      expect(stopped.code).toBe(0);
      printed = stopped.stdout;
    }
    await clerk.query(`COMMIT PREPARED '${gid}'`);
    await clerk.end();
    const rest = await shop.run(shop.slot, options, 'memory');
    expect(opsOf(rest.stdout)).toEqual(['commit_prepared']);
    expect(linesOf(rest.stdout)[0]).toMatchObject({ gid });
    const replica = Replica.of(printed + rest.stdout);
    for (const [table, rows] of await shop.expectedRows(tables)) {
      expect(replica.rows(table)).toEqual(rows);
    }
  });
});
