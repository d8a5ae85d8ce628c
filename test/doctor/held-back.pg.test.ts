// What keeps slots from moving, and what becomes of those that do not: on a server of its own, whose
// transactions and limits are those of this file.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { startPrivateServer, TestDatabase } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Patient } from './patient.ts';

let own: EmbeddedServer;
let database: TestDatabase;
let patient: Patient;

beforeAll(async () => {
  own = await startPrivateServer();
  const { host, port, user, socketDirectory, major, version } = own;
  const server = { host, port, user, socketDirectory, major, version };
  database = await TestDatabase.create(server);
  await database.sql('CREATE TABLE orders (id int PRIMARY KEY)');
  await database.sql('CREATE PUBLICATION shop FOR TABLE orders');
  patient = new Patient({
    host,
    port,
    user,
    database: database.name,
    restart: () => own.restart(),
  });
});

afterAll(async () => {
  await database.drop();
  await own.stop();
});

/** Everything is old. */
const limits = { oldTransaction: 0 };

it('a transaction that is open for long is named with its owner, and ended by the fix', async () => {
  const session = await database.connect();
  await session.query(`SET application_name = 'import'`);
  await session.query('BEGIN; INSERT INTO orders VALUES (4711)');
  expect(await patient.ids()).not.toContain('old-transaction');
  const finding = await patient.finding('old-transaction', { limits });
  expect(finding).toMatchObject({
    severity: 'warning',
    fact: expect.stringMatching(
      /^PID \d+ \(import, role "postgres"\) has had a transaction open for \d+ ms, idle in transaction: BEGIN; INSERT INTO orders VALUES \(…\)$/,
    ),
    consequence: 'slots keep all WAL since it began, and a new slot is not ready before it ends',
    fix: [
      expect.stringMatching(
        /^SELECT pg_terminate_backend\(\d+\); -- rolls it back: ask its owner to end it first$/,
      ),
    ],
  });
  await patient.mend(finding, { limits });
  await session.end();
});

it('so is one in a database of another encoding, whose statements are not shown', async () => {
  const { name, server } = database;
  const raw = await TestDatabase.create(
    server,
    `ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
  );
  const session = await raw.connect();
  await session.query(`SET client_encoding = LATIN1; BEGIN; CREATE TABLE "é" ()`);
  const finding = await patient.finding('old-transaction', { limits });
  expect(finding.fact).toContain(`idle in transaction in database "${raw.name}"`);
  expect(finding.fact).not.toContain(name);
  await patient.mend(finding, { limits });
  await session.end();
  await raw.drop();
});

it('a prepared transaction that nobody ends is ended by the fix', async () => {
  await database.sql(`BEGIN; INSERT INTO orders VALUES (1); PREPARE TRANSACTION 'it''s 1'`);
  expect(await patient.ids()).not.toContain('old-prepared-transaction');
  const finding = await patient.finding('old-prepared-transaction', { limits });
  expect(finding).toMatchObject({
    severity: 'warning',
    fact: expect.stringMatching(
      /^transaction "it's 1" of role "postgres" was prepared \d+ ms ago and is neither committed nor rolled back$/,
    ),
    consequence: 'slots keep all WAL since it began, and a new slot is not ready before it ends',
    fix: [
      `COMMIT PREPARED 'it''s 1'; -- in database "${database.name}"; or ROLLBACK PREPARED, as its transaction manager has decided`,
    ],
  });
  await patient.mend(finding, { limits });
});

it('a transaction that only reads holds no slot back', async () => {
  const session = await database.connect();
  await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM orders');
  expect(await patient.ids({ limits })).not.toContain('old-transaction');
  await session.end();
});

const FIRST_WITH_SPILL_COUNTERS = 14;
const FIRST_WITH_LOST_SLOTS = 13;

it('decoding that spills to disk gets more memory', async ({ skip }) => {
  if (own.major < FIRST_WITH_SPILL_COUNTERS) skip();
  await patient.sql(`ALTER SYSTEM SET logical_decoding_work_mem = '64kB'`);
  await patient.sql('SELECT pg_reload_conf()');
  await patient.sql(`SELECT pg_create_logical_replication_slot('audit', 'pgoutput')`);
  await database.sql('INSERT INTO orders SELECT generate_series(1000, 30000)');
  const peek = `SELECT count(*) FROM pg_logical_slot_peek_binary_changes('audit', NULL, NULL,
    'proto_version', '1', 'publication_names', 'shop')`;
  const finding = await until(async () => {
    await patient.sql(peek);
    return await patient.finding('slot-spills', { slot: 'audit' }).catch(() => null);
  });
  expect(finding).toMatchObject({
    severity: 'info',
    fact: expect.stringMatching(
      /^decoding for slot "audit" has written .* MB of changes to disk: logical_decoding_work_mem is 64\.0 kB$/,
    ),
    consequence: 'large transactions are written twice and read again before they are sent',
    fix: [
      `ALTER SYSTEM SET logical_decoding_work_mem = '256kB'; -- for each reader; or read with --streaming buffer`,
      'SELECT pg_reload_conf();',
      `SELECT pg_stat_reset_replication_slot('audit'); -- counts anew`,
    ],
  });
  await patient.mend(finding, { slot: 'audit' });
  await patient.sql(`SELECT pg_drop_replication_slot('audit')`);
});

it('a slot that has lost its WAL is of no use, and how much is left before', async ({ skip }) => {
  if (own.major < FIRST_WITH_LOST_SLOTS) skip();
  await patient.sql(`ALTER SYSTEM SET max_slot_wal_keep_size = '64MB'`);
  await patient.sql('SELECT pg_reload_conf()');
  await patient.sql(`SELECT pg_create_logical_replication_slot('audit', 'pgoutput')`);
  const { checks } = await until(async () => {
    const report = await patient.examine({ slot: 'audit' });
    const position = report.checks.find(({ name }) => name === 'slot-position');
    return position?.fact.includes('lost after') && report;
  });
  expect(checks.find(({ name }) => name === 'slot-position')?.fact).toMatch(
    /lost after \d[\d.]* MB more/,
  );
  const lost = await until(async () => {
    await patient.sql('SELECT txid_current(); SELECT pg_switch_wal()');
    await patient.sql('CHECKPOINT');
    return await patient.finding('slot-invalidated', { slot: 'audit' }).catch(() => null);
  });
  expect(lost).toMatchObject({
    severity: 'error',
    // 16 calls every reason a conflict
    fact: expect.stringMatching(
      /^slot "audit" was invalidated \((wal_removed|conflicting)\): nobody can read it any more$/,
    ),
  });
  await patient.mend(lost, { slot: 'audit' });
  expect(await patient.ids({ slot: 'audit' })).toContain('slot-missing');
});
