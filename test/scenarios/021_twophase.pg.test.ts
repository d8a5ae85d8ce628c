// After 021_twophase: prepared transactions are shown when they are prepared, and decided later.

import { describe, expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { Replica } from '../support/replica.ts';
import { sharedServer } from '../support/server.ts';
import { linesOf, opsOf } from '../support/tail.ts';

const { major } = sharedServer();
const SCHEMA = 'CREATE TABLE orders (id int PRIMARY KEY, note text)';
const tables = wholeTables('public.orders');

const prepare = (gid: string, changes: string): string =>
  `BEGIN; ${changes}; PREPARE TRANSACTION '${gid}'`;

/** gids are unique in the server, not in the database. */
const gidOf = (shop: Publisher, name: string): string => `${shop.database.name} ${name}`;

describe.runIf(major >= 15)('--two-phase', () => {
  it('shows what is prepared, then how it was decided, by its gid', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    const [kept, dropped, open] = ["it's kept", 'dropped', 'open "still"'].map((name) =>
      gidOf(shop, name),
    ) as [string, string, string];
    const sql = (gid: string): string => gid.replaceAll("'", "''");
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'plain')`,
      prepare(
        sql(kept),
        `INSERT INTO orders VALUES (2, 'kept'); UPDATE orders SET note = '' WHERE id = 1`,
      ),
      prepare(sql(dropped), `INSERT INTO orders VALUES (3, 'dropped')`),
      `INSERT INTO orders VALUES (4, 'between')`,
      `COMMIT PREPARED '${sql(kept)}'`,
      `ROLLBACK PREPARED '${sql(dropped)}'`,
      prepare(sql(open), `INSERT INTO orders VALUES (5, 'open')`),
    );
    const runs = await shop.readInEveryMode({ tables, undecided: [open] });
    for (const lines of runs.of({ twoPhase: true, streaming: 'off' })) {
      const frame = lines.filter(({ gid, op }) => gid !== undefined && op !== 'insert');
      expect(frame.map(({ op, gid }) => [op, gid])).toEqual([
        ['begin_prepare', kept],
        ['update', kept],
        ['prepare', kept],
        ['begin_prepare', dropped],
        ['prepare', dropped],
        ['commit_prepared', kept],
        ['rollback_prepared', dropped],
        ['begin_prepare', open],
        ['prepare', open],
      ]);
      const row = lines.find((line) => line.new?.id === 2)!;
      expect(row).toMatchObject({ gid: kept, prepare_lsn: expect.any(String), seq: 1 });
      expect(row).not.toHaveProperty('commit_lsn');
    }
    for (const lines of runs.of({ twoPhase: false, streaming: 'off' })) {
      expect(lines.filter(({ gid }) => gid !== undefined)).toEqual([]);
      const ids = lines.filter(({ op }) => op === 'insert').map((line) => line.new?.id);
      expect(ids).toEqual([1, 4, 2]);
    }
    await shop.commit(`ROLLBACK PREPARED '${sql(open)}'`);
  });

  it('changes the slot for good, and therefore asks for --yes', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    await shop.commit(`INSERT INTO orders VALUES (1, 'tea')`);
    const refused = await shop.run(shop.slot, ['--two-phase']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /^pgtail: --two-phase changes slot "\w+" for good: .* \(add --yes .*\)\n$/,
    );
    expect(await isTwoPhase(shop)).toBe(false);
    const agreed = await shop.run(shop.slot, ['--two-phase', '--yes']);
    expect(agreed.code).toBe(0);
    expect(opsOf(agreed.stdout)).toEqual(['begin', 'relation', 'insert', 'commit']);
    expect(await isTwoPhase(shop)).toBe(true);
    const again = await shop.run(shop.slot, ['--two-phase']);
    expect(again).toMatchObject({ code: 0, stdout: '' });
  });

  it('needs no --yes with a slot that pgtail makes', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    const slot = `${shop.slot}_new`;
    const made = await shop.run(slot, ['--two-phase', '--create-slot']);
    expect(made.code).toBe(0);
    expect(await isTwoPhase(shop, slot)).toBe(true);
  });

  it('switched on between PREPARE and COMMIT PREPARED still shows the rows', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    const gid = gidOf(shop, 'early');
    await shop.commit(prepare(gid, `INSERT INTO orders VALUES (1, 'early')`));
    expect((await shop.run(shop.slot)).stdout).toBe('');
    const nothingYet = await shop.run(shop.slot, ['--two-phase', '--yes']);
    await shop.commit(`COMMIT PREPARED '${gid}'`, `INSERT INTO orders VALUES (2, 'late')`);
    const { code, stdout } = await shop.run(shop.slot, ['--two-phase']);
    expect(code).toBe(0);
    const replica = Replica.of(nothingYet.stdout + stdout);
    const expected = await shop.expectedRows(tables);
    expect(replica.rows('public.orders')).toEqual(expected.get('public.orders'));
    expect((await shop.run(shop.slot)).stdout).toBe('');
  });

  it('goes on over a restart between the two phases', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    const gid = gidOf(shop, 'long');
    await shop.run(shop.slot, ['--two-phase', '--yes']);
    await shop.commit(prepare(gid, `INSERT INTO orders VALUES (1, 'long')`));
    const first = await shop.run(shop.slot, ['--two-phase']);
    await shop.commit(`INSERT INTO orders VALUES (2, 'between')`, `COMMIT PREPARED '${gid}'`);
    const second = await shop.run(shop.slot, ['--two-phase']);
    expect(opsOf(first.stdout)).toEqual(['begin_prepare', 'relation', 'insert', 'prepare']);
    expect(opsOf(second.stdout)).toEqual([
      ...['begin', 'relation', 'insert', 'commit', 'commit_prepared'],
    ]);
    expect(linesOf(second.stdout).at(-1)).toMatchObject({ gid, commit_lsn: expect.any(String) });
  });
});

describe.runIf(major >= 15)('a slot that was made two-phase', () => {
  it('is shown as it is by a reader that did not ask: prepared, never committed', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    const slot = `${shop.slot}_two_phase`;
    await shop.createSlot(slot, true);
    const [kept, open] = [gidOf(shop, 'kept'), gidOf(shop, 'open')];
    await shop.commit(
      prepare(kept, `INSERT INTO orders VALUES (1, 'kept')`),
      prepare(open, `INSERT INTO orders VALUES (2, 'open')`),
      `COMMIT PREPARED '${kept}'`,
    );
    const { code, stdout } = await shop.run(slot);
    expect(code).toBe(0);
    expect(opsOf(stdout)).toEqual([
      ...['begin_prepare', 'relation', 'insert', 'prepare'],
      ...['begin_prepare', 'insert', 'prepare', 'commit_prepared'],
    ]);
    const replica = Replica.of(stdout);
    expect(replica.undecided).toEqual([open]);
    expect(replica.rows('public.orders')).toHaveLength(1);
    await shop.commit(`ROLLBACK PREPARED '${open}'`);
    const rest = await shop.run(slot, ['--two-phase']);
    expect(opsOf(rest.stdout)).toEqual(['rollback_prepared']);
  });

  it.each(['on', 'buffer'])('is so while it streams too: --streaming %s', async (mode) => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    const slot = `${shop.slot}_two_phase`;
    await shop.createSlot(slot, true);
    const gid = gidOf(shop, 'large');
    await shop.commit(
      prepare(
        gid,
        `INSERT INTO orders SELECT id, repeat('n', 200) FROM generate_series(1, 600) AS id`,
      ),
    );
    const { code, stdout } = await shop.run(slot, ['--streaming', mode], 'memory');
    expect(code).toBe(0);
    expect(Replica.of(stdout).undecided).toEqual([gid]);
    expect(Replica.of(stdout).rows('public.orders')).toEqual([]);
    const last = linesOf(stdout).at(-1);
    expect(last).toMatchObject({
      op: mode === 'on' ? 'stream_prepare' : 'prepare',
      gid,
      changes: 600,
    });
    await shop.commit(`COMMIT PREPARED '${gid}'`);
    const rest = await shop.run(slot, ['--streaming', mode], 'memory');
    expect(opsOf(rest.stdout)).toEqual(['commit_prepared']);
  });
});

async function isTwoPhase(shop: Publisher, slot = shop.slot): Promise<unknown> {
  const [row] = await shop.database.query(
    'SELECT two_phase FROM pg_replication_slots WHERE slot_name = $1',
    [slot],
  );
  return row?.two_phase;
}
