// `pgtail slots create`, `drop` and `advance`: what they do, and what they refuse.

import { describe, expect, it } from 'vitest';
import { withCatalog } from '../../src/catalog/catalog-connection.ts';
import { cancelBackend } from '../../src/slots/advance-slot.ts';
import { advancedSchema, createdSchema, droppedSchema } from '../../src/slots/schema.ts';
import { type PgtailResult, runPgtail, startPgtail } from '../support/pgtail.ts';
import { insertedIds, lsnOf, Shop } from '../support/tail.ts';

const major = Number(process.env.PGTAIL_TEST_MAJOR || 18);

const slots = (shop: Shop, ...args: readonly string[]): Promise<PgtailResult> =>
  runPgtail(['slots', ...args, ...shop.database.options]);

async function slotNames(shop: Shop): Promise<string[]> {
  const rows = await shop.database.query<{ name: string }>(
    `SELECT slot_name AS name FROM pg_replication_slots
     WHERE database = current_database() ORDER BY slot_name`,
  );
  return rows.map(({ name }) => name);
}

describe.concurrent('slots create', () => {
  it('makes a slot that reads what is committed from then on', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const name = `${shop.slot}_new`;
    const { code, stdout, stderr } = await slots(shop, 'create', name);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { slot, server } = createdSchema.parse(JSON.parse(stdout));
    expect(slot).toMatchObject({ name, plugin: 'pgoutput', database: shop.database.name });
    expect(server).toMatchObject({ major, database: shop.database.name, in_recovery: false });
    const [row] = await shop.database.query<{ lsn: string }>(
      'SELECT confirmed_flush_lsn::text AS lsn FROM pg_replication_slots WHERE slot_name = $1',
      [name],
    );
    expect(row?.lsn).toBe(slot.consistent_point);
    await shop.order(2);
    const args = [...shop.database.options, '-S', name, '-P', 'shop', '--no-follow'];
    expect(insertedIds((await runPgtail(args)).stdout)).toEqual([2]);
  });

  it('says it in words to people', async () => {
    await using shop = await Shop.open();
    const name = `${shop.slot}_new`;
    const { stdout } = await slots(shop, 'create', name, '--format', 'pretty');
    expect(stdout).toMatch(
      new RegExp(
        `^created slot ${name} \\(pgoutput in database ${shop.database.name}\\): it reads what is committed after [0-9A-F]+/[0-9A-F]+\\n$`,
      ),
    );
  });

  it.skipIf(major < 17)('makes one for prepared transactions and for failover', async () => {
    await using shop = await Shop.open();
    const name = `${shop.slot}_new`;
    const { stdout } = await slots(shop, 'create', name, '--two-phase', '--failover');
    expect(createdSchema.parse(JSON.parse(stdout)).slot).toMatchObject({
      two_phase: true,
      failover: true,
    });
    const rows = await shop.database.query(
      'SELECT two_phase, failover FROM pg_replication_slots WHERE slot_name = $1',
      [name],
    );
    expect(rows).toEqual([{ two_phase: true, failover: true }]);
  });

  it.skipIf(major >= 15)('says which server an option needs', async () => {
    await using shop = await Shop.open();
    const twoPhase = await slots(shop, 'create', 'late', '--two-phase');
    expect(twoPhase).toMatchObject({ code: 4, stdout: '' });
    expect(twoPhase.stderr).toBe(
      `pgtail: --two-phase needs PostgreSQL 15 or newer, this server is ${major}\n`,
    );
    const failover = await slots(shop, 'create', 'late', '--failover');
    expect(failover).toMatchObject({ code: 4, stderr: expect.stringMatching(/--failover needs/) });
    expect(await slotNames(shop)).toEqual([shop.slot]);
  });

  it('takes another plugin', async () => {
    await using shop = await Shop.open();
    const name = `${shop.slot}_new`;
    const { code } = await slots(shop, 'create', name, '--plugin', 'test_decoding');
    expect(code).toBe(0);
    const missing = await slots(shop, 'create', `${name}er`, '--plugin', 'no_such');
    expect(missing).toMatchObject({ code: 4, stderr: expect.stringMatching(/"no_such"/) });
    expect(await slotNames(shop)).toEqual([shop.slot, name]);
  });

  it('refuses a name that is taken', async () => {
    await using shop = await Shop.open();
    const { code, stderr } = await slots(shop, 'create', shop.slot);
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining(`slot "${shop.slot}" exists already, for pgoutput`),
    });
    expect(stderr).toContain(`drop it first: pgtail slots drop ${shop.slot}\n`);
  });
});

describe.concurrent('slots drop', () => {
  it('drops what it is told to, with --yes', async () => {
    await using shop = await Shop.open();
    const other = `${shop.slot}_2`;
    await shop.createSlot(other);
    const { code, stdout } = await slots(shop, 'drop', shop.slot, other, shop.slot, '--yes');
    expect(code).toBe(0);
    expect(droppedSchema.parse(JSON.parse(stdout)).dropped).toEqual([shop.slot, other]);
    expect(await slotNames(shop)).toEqual([]);
  });

  it('needs --yes where nobody can be asked', async () => {
    await using shop = await Shop.open();
    const { code, stderr } = await slots(shop, 'drop', shop.slot);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/--yes/) });
    expect(await slotNames(shop)).toEqual([shop.slot]);
  });

  it('drops none if one of them is missing', async () => {
    await using shop = await Shop.open();
    const { code, stderr } = await slots(shop, 'drop', shop.slot, 'no_such', '--yes');
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: expect.stringContaining('slot "no_such" does not exist'),
    });
    expect(await slotNames(shop)).toEqual([shop.slot]);
  });

  it('never drops one that is being read, and says by whom', async () => {
    await using shop = await Shop.open();
    const other = `${shop.slot}_2`;
    await shop.createSlot(other);
    await using child = startPgtail(shop.args, { env: { PGAPPNAME: 'billing' } });
    await child.started();
    const { code, stderr } = await slots(shop, 'drop', other, shop.slot, '--yes');
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: expect.stringMatching(/is being read by PID \d+ \(billing\)\n.*pg_terminate_backend/),
    });
    expect(await slotNames(shop)).toEqual([shop.slot, other]);
  });

  it('says what a role lacks to do it, and then can', async () => {
    await using shop = await Shop.open();
    const role = `${shop.database.name}_clerk`;
    await shop.database.sql(`CREATE ROLE ${role} LOGIN`);
    try {
      const args = ['slots', 'drop', shop.slot, '--yes', ...shop.database.options, '-U', role];
      const execute = 'EXECUTE ON FUNCTION pg_drop_replication_slot(name)';
      const refused = await runPgtail(args);
      expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('REPLICATION;') });
      await shop.database.sql(/ALTER ROLE .*;/.exec(refused.stderr)![0]);
      await shop.database.sql(`REVOKE ${execute} FROM PUBLIC`);
      const { code, stderr } = await runPgtail(args);
      expect({ code, stderr }).toEqual({
        code: 4,
        stderr: expect.stringContaining('permission denied for function pg_drop_replication_slot'),
      });
      expect(stderr).not.toContain('ALTER ROLE');
      await shop.database.sql(`GRANT ${execute} TO ${role}`);
      expect((await runPgtail(args)).code).toBe(0);
    } finally {
      await shop.database.sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it('waits a moment for a reader that is about to end', async () => {
    await using shop = await Shop.open();
    const child = startPgtail(shop.args);
    await child.started();
    const dropping = slots(shop, 'drop', shop.slot, '--yes');
    await child.stop();
    expect((await dropping).code).toBe(0);
  });
});

const FIRST_WITH_ADVANCE = 11;

describe.skipIf(major < FIRST_WITH_ADVANCE).concurrent('slots advance', () => {
  it('moves the slot, and what lies before is not read any more', async () => {
    await using shop = await Shop.open();
    const from = await shop.confirmed();
    await shop.order(1);
    const target = await lsnText(shop);
    await shop.order(2);
    const { code, stdout } = await slots(shop, 'advance', shop.slot, target, '--yes');
    expect(code).toBe(0);
    const moved = advancedSchema.parse(JSON.parse(stdout));
    expect(moved).toMatchObject({ slot: shop.slot });
    expect(lsnOf(moved.from)).toBe(from);
    expect(moved.skipped_bytes).toBe(Number(lsnOf(moved.to) - from));
    expect(await shop.confirmed()).toBe(lsnOf(moved.to));
    expect(insertedIds((await runPgtail([...shop.args, '--no-follow'])).stdout)).toEqual([2]);
  });

  it('says how much would be lost, and needs --yes where nobody can be asked', async () => {
    await using shop = await Shop.open();
    await shop.orderMany(1, 1000);
    const before = await shop.confirmed();
    const { code, stderr } = await slots(shop, 'advance', shop.slot, await lsnText(shop));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/\d kB of WAL, from .* to .*, would be lost .*--yes/),
    });
    expect(await shop.confirmed()).toBe(before);
  });

  it.each([
    ['back', '0/1', 6, /position 0\/1 is gone: slot .* stands at/],
    [
      'beyond what is written',
      'FFFF/0',
      2,
      /position FFFF\/0 is ahead of the server, whose WAL ends at/,
    ],
  ])('does not move %s', async (_name, target, exitCode, message) => {
    await using shop = await Shop.open();
    const { code, stderr } = await slots(shop, 'advance', shop.slot, target, '--yes');
    expect({ code, stderr }).toEqual({ code: exitCode, stderr: expect.stringMatching(message) });
  });

  it('refuses a slot that is missing, of another database, or being read', async () => {
    await using shop = await Shop.open();
    await using other = await Shop.open();
    const target = await lsnText(shop);
    const missing = await slots(shop, 'advance', 'no_such', target, '--yes');
    expect(missing).toMatchObject({ code: 6, stderr: expect.stringMatching(/does not exist/) });
    const elsewhere = await slots(shop, 'advance', other.slot, target, '--yes');
    expect(elsewhere).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(`belongs to database "${other.database.name}"`),
    });
    await using child = startPgtail(shop.args);
    await child.started();
    const used = await slots(shop, 'advance', shop.slot, target, '--yes');
    expect(used).toMatchObject({ code: 5, stderr: expect.stringMatching(/is being read by PID/) });
  });

  it('moves a physical slot too', async () => {
    await using shop = await Shop.open();
    const name = `${shop.slot}_physical`;
    const create = 'SELECT pg_create_physical_replication_slot($1, $2)';
    await shop.database.query(create, [name, true]);
    try {
      await shop.order(1);
      const target = await lsnText(shop);
      const { code, stdout } = await slots(shop, 'advance', name, target, '--yes');
      expect(code).toBe(0);
      expect(advancedSchema.parse(JSON.parse(stdout)).to).toBe(target);
    } finally {
      await shop.database.query('SELECT pg_drop_replication_slot($1)', [name]);
    }
  });
});

it.skipIf(major >= FIRST_WITH_ADVANCE)('slots advance says which server it needs', async () => {
  await using shop = await Shop.open();
  const { code, stderr } = await slots(shop, 'advance', shop.slot, await lsnText(shop), '--yes');
  expect({ code, stderr }).toEqual({
    code: 4,
    stderr: expect.stringMatching(/from PostgreSQL 11/),
  });
});

it('the work of a stopped command is given up by the server too', async () => {
  await using shop = await Shop.open();
  const clerk = await shop.database.connect();
  const [row] = (await clerk.query('SELECT pg_backend_pid() AS pid')).rows;
  const sleeping = clerk.query('SELECT pg_sleep(60)');
  const cancelled = expect(sleeping).rejects.toMatchObject({ code: '57014' });
  await withCatalog(shop.database.connection, (query) => cancelBackend(query, row.pid));
  await cancelled;
  await clerk.end();
});

async function lsnText(shop: Shop): Promise<string> {
  const [row] = await shop.database.query<{ lsn: string }>(
    'SELECT pg_current_wal_lsn()::text AS lsn',
  );
  return row!.lsn;
}
