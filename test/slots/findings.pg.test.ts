// Each finding on a real server: what makes it, what it says, and that its fix makes it go away.

import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { z } from 'zod';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { slotsSchema } from '../../src/slots/schema.ts';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import { startPrivateServer, type TestDatabase } from '../support/server.ts';
import { FIRST_WITH_STANDBY_SIGNAL, startStandby } from '../support/standby.ts';
import { Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

type Document = z.output<typeof slotsSchema>;
type Found = Document['findings'][number];

let server: EmbeddedServer;

beforeAll(async () => {
  server = await startPrivateServer({
    max_wal_size: '64MB',
    min_wal_size: '32MB',
    checkpoint_timeout: '1h',
    wal_sender_timeout: '60s',
    autovacuum_freeze_max_age: '100000',
  });
});

afterAll(async () => {
  await server.stop();
});

const major = Number(process.env.PGTAIL_TEST_MAJOR || 18);

async function look(
  shop: Shop,
): Promise<{ readonly code: number | null; readonly document: Document }> {
  const { code, stdout, stderr } = await runPgtail(['slots', ...shop.database.options]);
  expect(stderr).toBe('');
  return { code, document: slotsSchema.parse(JSON.parse(stdout)) };
}

/** The only finding there is. */
async function onlyFinding(shop: Shop): Promise<Found> {
  const { code, document } = await look(shop);
  expect(document.findings).toHaveLength(1);
  expect(code).toBe(4);
  const [finding] = document.findings;
  expect(finding!.subject.kind).toBe('slot');
  return finding!;
}

async function applied(database: TestDatabase, { fix }: Found): Promise<void> {
  for (const statement of fix) await database.sql(statement);
}

/** The printed fix is what mends it. */
async function expectMended(shop: Shop, finding: Found): Promise<void> {
  await applied(shop.database, finding);
  const { code, document } = await until(async () => {
    const seen = await look(shop); // a reload takes a moment
    return seen.document.findings.length === 0 && seen;
  });
  expect({ code, findings: document.findings }).toEqual({ code: 0, findings: [] });
}

/** Every value is a setting of the whole server. */
async function set(shop: Shop, name: string, value: string): Promise<void> {
  await shop.database.sql(`ALTER SYSTEM SET ${name} = '${value}'`);
  await shop.database.sql('SELECT pg_reload_conf()');
  await until(async () => {
    const [row] = await shop.database.query<{ value: string }>(
      'SELECT current_setting($1) AS value',
      [name],
    );
    return row?.value === value;
  });
}

async function reset(shop: Shop, name: string): Promise<void> {
  await shop.database.sql(`ALTER SYSTEM RESET ${name}`);
  await shop.database.sql('SELECT pg_reload_conf()');
}

/** Without a checkpoint in between, which would remove WAL. */
async function writeWal(shop: Shop, megabytes: number): Promise<void> {
  await shop.database.sql(`
    SELECT pg_logical_emit_message(false, 'filler', repeat('x', 1024 * 1024))
    FROM generate_series(1, ${megabytes})`);
}

const FIRST_WITH_KEEP_SIZE = 13;
const FIRST_WITH_IDLE_TIMEOUT = 18;

it('a slot that nobody reads and that keeps much WAL', async () => {
  await using shop = await Shop.open(server);
  expect((await look(shop)).document.findings).toEqual([]);
  await writeWal(shop, 65);
  const finding = await onlyFinding(shop);
  expect(finding).toMatchObject({
    id: 'slot-inactive-retains-wal',
    severity: 'warning',
    subject: { name: shop.slot },
    fact: expect.stringMatching(/ keeps 6\d\.\d MB of WAL and nobody reads it/),
    consequence: 'the WAL grows without an end: a full disk stops the whole server',
  });
  await expectMended(shop, finding);
});

it('a slot that somebody reads and that keeps much WAL all the same', async () => {
  await using shop = await Shop.open(server);
  const clerk = await shop.database.connect();
  await clerk.query('BEGIN; INSERT INTO orders VALUES (1)');
  await using child = startPgtail([...shop.args, '--status-interval', '0.2']);
  await child.started();
  await writeWal(shop, 65);
  // a checkpoint logs the open transaction, which then is what holds the slot back
  const finding = await until(async () => {
    const { document } = await look(shop);
    return document.findings[0];
  });
  expect(finding).toMatchObject({
    id: 'slot-active-retains-wal',
    severity: 'warning',
    subject: { name: shop.slot },
    fact: expect.stringMatching(/ keeps 6\d\.\d MB of WAL although PID \d+ \(pgtail\) reads it$/),
    consequence: expect.stringMatching(/a transaction is open for long/),
  });
  const { rows } = await clerk.query('SELECT pg_backend_pid()::text AS pid');
  expect(await shop.database.query(finding.fix[0]!)).toMatchObject(rows);
  await clerk.query(`PREPARE TRANSACTION 'forgotten'`);
  expect(await shop.database.query(finding.fix[0]!)).toMatchObject([
    { pid: 'forgotten', state: 'prepared' },
  ]);
  await clerk.query(`COMMIT PREPARED 'forgotten'`);
  await clerk.end();
  await until(async () => {
    await shop.database.sql('CHECKPOINT'); // logs that no transaction is open
    return (await look(shop)).document.findings.length === 0;
  });
  expect((await child.stop()).code).toBe(0);
});

it('a slot whose reader acknowledges nothing', async () => {
  await using shop = await Shop.open(server);
  await using child = startPgtail([...shop.args, '--status-interval', '0.2']);
  await child.started();
  process.kill(child.pid, 'SIGSTOP');
  await writeWal(shop, 65);
  // what no transaction has flushed is written a little later
  const finding = await until(async () => (await look(shop)).document.findings[0]);
  expect(finding.id).toBe('slot-active-retains-wal');
  const [open, acknowledged] = finding.fix;
  expect(await shop.database.query(open!)).toEqual([]);
  const stopped = await shop.database.query(acknowledged!);
  await shop.order(1);
  expect(await shop.database.query(acknowledged!)).toEqual(stopped);
  process.kill(child.pid, 'SIGCONT'); // what kept it waiting
  await until(async () => {
    await shop.database.sql('CHECKPOINT'); // logs that no transaction is open
    return (await look(shop)).document.findings.length === 0;
  });
  expect(await shop.database.query(acknowledged!)).not.toEqual(stopped);
  expect((await child.stop()).code).toBe(0);
});

it.skipIf(major < FIRST_WITH_KEEP_SIZE)('a slot that is close to being lost', async () => {
  await using shop = await Shop.open(server);
  await set(shop, 'max_slot_wal_keep_size', '96MB');
  await set(shop, 'max_wal_size', '1GB'); // no checkpoint because of so much WAL
  try {
    await writeWal(shop, 95);
    const nearly = await onlyFinding(shop);
    expect(nearly).toMatchObject({
      id: 'slot-close-to-being-lost',
      severity: 'warning',
      fact: expect.stringMatching(
        / keeps 9\d\.\d MB of WAL and nobody reads it: 1?\d\.\d MB more, and it is beyond max_slot_wal_keep_size \(96\.0 MB\)$/,
      ),
      consequence: 'then it is invalidated, and its consumer needs a new copy of the data',
    });
    await writeWal(shop, 30);
    const over = await onlyFinding(shop);
    expect(over).toMatchObject({
      id: 'slot-close-to-being-lost',
      severity: 'error',
      fact: expect.stringMatching(/ keeps more than max_slot_wal_keep_size .* next checkpoint/),
    });
    await expectMended(shop, over);
  } finally {
    await reset(shop, 'max_slot_wal_keep_size');
    await reset(shop, 'max_wal_size');
  }
});

it.skipIf(major < FIRST_WITH_KEEP_SIZE)('several slots that are close to being lost', async () => {
  await using shop = await Shop.open(server);
  await set(shop, 'max_slot_wal_keep_size', '96MB');
  await set(shop, 'max_wal_size', '1GB'); // no checkpoint because of so much WAL
  try {
    await writeWal(shop, 110);
    await shop.createSlot(`${shop.slot}_2`);
    await writeWal(shop, 95);
    const { findings } = (await look(shop)).document;
    expect(findings.map(({ severity, subject }) => [severity, subject.name])).toEqual([
      ['error', shop.slot],
      ['warning', `${shop.slot}_2`],
    ]);
    // whichever is run last, it is enough for both
    await expectMended(shop, findings[1]!);
  } finally {
    await reset(shop, 'max_slot_wal_keep_size');
    await reset(shop, 'max_wal_size');
  }
});

it.skipIf(major < FIRST_WITH_KEEP_SIZE)('a slot that is lost', async () => {
  await using shop = await Shop.open(server);
  await set(shop, 'max_slot_wal_keep_size', '32MB');
  try {
    await writeWal(shop, 65);
    await shop.database.sql('CHECKPOINT');
    const finding = await onlyFinding(shop);
    expect(finding).toMatchObject({
      id: 'slot-invalidated',
      severity: 'error',
      subject: { name: shop.slot },
      fact: `slot "${shop.slot}" was invalidated (wal_removed): nobody can read it any more`,
      consequence: expect.stringMatching(/a new slot and a new copy of the data$/),
    });
    await expectMended(shop, finding);
  } finally {
    await reset(shop, 'max_slot_wal_keep_size');
  }
});

it.skipIf(major < FIRST_WITH_IDLE_TIMEOUT)('a slot that is close to its idle timeout', async () => {
  await using shop = await Shop.open(server);
  await set(shop, 'idle_replication_slot_timeout', '2s');
  try {
    const finding = await until(async () => (await look(shop)).document.findings[0]);
    expect(finding).toMatchObject({
      id: 'slot-close-to-idle-timeout',
      severity: 'warning',
      fact: expect.stringMatching(
        / has not been read for \d\.\d s, of idle_replication_slot_timeout \(2\.0 s\)$/,
      ),
      consequence: expect.stringMatching(/^a checkpoint after that invalidates it/),
    });
    await expectMended(shop, finding);
  } finally {
    await reset(shop, 'idle_replication_slot_timeout');
  }
});

/** So many transaction ids, quickly: each block of a DO with a handler has one of its own. */
async function burnTransactionIds(database: TestDatabase, count: number): Promise<void> {
  await database.sql('CREATE TABLE burnt (id int)');
  await database.sql(`
    DO $$ BEGIN FOR i IN 1..${count} LOOP
      BEGIN INSERT INTO burnt VALUES (i); EXCEPTION WHEN division_by_zero THEN NULL; END;
    END LOOP; END $$`);
}

it('a slot that keeps VACUUM from the catalogs', async () => {
  await using shop = await Shop.open(server);
  await burnTransactionIds(shop.database, 50_001);
  const finding = await onlyFinding(shop);
  expect(finding).toMatchObject({
    id: 'slot-holds-catalog-xmin',
    severity: 'warning',
    subject: { name: shop.slot },
    fact: expect.stringMatching(/ holds catalog_xmin back by 50,\d{3} transactions$/),
    consequence: expect.stringMatching(/^VACUUM removes no row of a system catalog/),
  });
  await expectMended(shop, finding);
});

async function createPhysicalSlot(name: string): Promise<void> {
  const { host, port, user } = server;
  const client = new Client({ host, port, user, database: 'postgres' });
  await client.connect();
  await client.query('SELECT pg_create_physical_replication_slot($1, true)', [name]);
  await client.end();
}

it.skipIf(major < FIRST_WITH_STANDBY_SIGNAL)(
  'a slot of a standby that keeps VACUUM from all tables',
  async () => {
    await createPhysicalSlot('replica');
    const standby = await startStandby(server, {
      primary_slot_name: 'replica',
      hot_standby_feedback: 'on',
      wal_receiver_status_interval: '1s',
    });
    await using shop = await Shop.open(server);
    await shop.database.query('SELECT pg_drop_replication_slot($1)', [shop.slot]);
    try {
      await until(async () => (await look(shop)).document.slots[0]?.xmin_age !== undefined);
    } finally {
      await standby.stop();
    }
    await until(async () => (await look(shop)).document.slots[0]?.state === 'inactive');
    await burnTransactionIds(shop.database, 50_001);
    const finding = await onlyFinding(shop);
    expect(finding).toMatchObject({
      id: 'slot-holds-xmin',
      severity: 'warning',
      subject: { name: 'replica' },
      fact: expect.stringMatching(/ holds xmin back by 50,\d{3} transactions$/),
      consequence: expect.stringMatching(/^VACUUM removes no row that died since, in any table/),
    });
    await expectMended(shop, finding);
  },
);

it('no slot at all is nothing to worry about', async () => {
  await using shop = await Shop.open(server);
  await shop.database.query('SELECT pg_drop_replication_slot($1)', [shop.slot]);
  const { code, document } = await look(shop);
  expect({ code, slots: document.slots, findings: document.findings }).toEqual({
    code: 0,
    slots: [],
    findings: [],
  });
});
