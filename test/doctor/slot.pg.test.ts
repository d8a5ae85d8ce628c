// What is wrong with the slot that is to be read, on the shared server.

import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createDatabase,
  sharedServer,
  type TestDatabase,
  withDatabase,
} from '../support/server.ts';
import { Patient } from './patient.ts';
import { startTail } from './walsender.ts';

const { major } = sharedServer();

let database: TestDatabase;
let patient: Patient;
/** Slots have one name for the whole server. */
let slot: string;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql('CREATE TABLE orders (id int PRIMARY KEY)');
  await database.sql('CREATE PUBLICATION shop FOR TABLE orders');
  const { host, port, user, name } = database;
  patient = new Patient({ host, port, user, database: name });
  slot = `${name}_slot`;
});

afterAll(() => database.drop());

const drop = (name: string) => patient.sql(`SELECT pg_drop_replication_slot('${name}')`);

it('a slot that is missing is created by the fix', async () => {
  const finding = await patient.finding('slot-missing', { slot });
  expect(finding).toMatchObject({
    severity: 'error',
    subject: { kind: 'slot', name: slot },
    fact: `slot "${slot}" does not exist`,
    consequence:
      'there is nothing to read from; a new slot begins with the changes after it is made',
    fix: [`pgtail slots create ${slot}`],
  });
  await patient.mend(finding, { slot });
  const { checks } = await patient.examine({ slot });
  expect(checks.map(({ fact }) => fact)).toEqual(
    expect.arrayContaining([
      `slot "${slot}" uses pgoutput in database "${database.name}"`,
      expect.stringMatching(
        /keeps .* of WAL \(restart_lsn\), is .* behind \(confirmed_flush_lsn\)/,
      ),
    ]),
  );
  await drop(slot);
});

it('a physical slot sends no rows', async () => {
  await patient.sql(`SELECT pg_create_physical_replication_slot('${slot}')`);
  const finding = await patient.finding('slot-physical', { slot });
  expect(finding).toMatchObject({
    severity: 'error',
    fact: `slot "${slot}" is a physical slot, kept for a standby or a backup`,
    consequence: 'it sends WAL as it is, not changes of rows',
    fix: [`pgtail slots create ${slot}_pgtail`, `export PGTAIL_SLOT=${slot}_pgtail # or -S`],
  });
  const { host, port, user, name } = database;
  await new Patient({ host, port, user, database: name }).mend(finding, { slot });
  await drop(slot);
  await drop(`${slot}_pgtail`);
});

it('a slot of another plugin sends another format', async () => {
  await patient.sql(`SELECT pg_create_logical_replication_slot('${slot}', 'test_decoding')`);
  const finding = await patient.finding('slot-of-other-plugin', { slot });
  expect(finding).toMatchObject({
    severity: 'error',
    fact: `slot "${slot}" uses the output plugin "test_decoding", not pgoutput`,
    consequence: 'what it sends is in another format, for another consumer',
  });
  const { host, port, user, name } = database;
  await new Patient({ host, port, user, database: name }).mend(finding, { slot });
  await drop(slot);
  await drop(`${slot}_pgtail`);
});

it('a slot of another database is read there', async () => {
  await patient.sql(`SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput')`);
  await withDatabase(async ({ host, port, user, name }) => {
    const elsewhere = new Patient({ host, port, user, database: name });
    const finding = await elsewhere.finding('slot-of-other-database', { slot });
    expect(finding).toMatchObject({
      severity: 'error',
      fact: `slot "${slot}" belongs to database "${database.name}", not to "${name}"`,
      consequence: 'it sends the changes of its own database only, and can be read only there',
      fix: [`export PGDATABASE=${database.name} # or -d`],
    });
    await elsewhere.mend(finding, { slot });
  });
  await drop(slot);
});

it('a temporary slot is that of its session alone', async () => {
  const session = await database.connect();
  await session.query(`SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput', true)`);
  const finding = await patient.finding('slot-temporary', { slot });
  expect(finding).toMatchObject({
    severity: 'error',
    fact: expect.stringMatching(/is a temporary slot of the session with PID \d+$/),
    consequence: 'no other session can read it, and it is gone with that session',
  });
  const { host, port, user, name } = database;
  await new Patient({ host, port, user, database: name }).mend(finding, { slot });
  await session.end();
  await drop(`${slot}_pgtail`);
});

it('a slot that is being read says by whom, and from where', async () => {
  await patient.sql(`SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput')`);
  await using reader = await startTail(database, slot);
  const finding = await patient.finding('slot-in-use', { slot });
  expect(finding).toMatchObject({
    severity: 'info',
    fact: `slot "${slot}" is being read by pgtail, PID ${reader.pid}, role "postgres", from 127.0.0.1`,
    consequence: 'a slot has one reader at a time: another one is refused',
  });
  expect(finding.fix.at(-1)).toMatch(/^SELECT pg_terminate_backend\(\d+\); -- ends that reader/);
  expect(finding.fix.length).toBe(major >= 12 ? 2 : 1);
  await patient.mend({ ...finding, fix: finding.fix.slice(-1) }, { slot });
  await drop(slot);
});

it.runIf(major >= 14)('a slot that sends prepared transactions says so', async () => {
  await patient.sql(
    `SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput', false, true)`,
  );
  const { checks } = await patient.examine({ slot });
  expect(checks.find((each) => each.name === 'slot')?.fact).toContain(', two-phase: ');
  await drop(slot);
});

it.runIf(major >= 17)('a slot that no standby keeps is made a failover slot', async () => {
  await patient.sql(`SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput')`);
  await patient.sql(`SELECT pg_create_physical_replication_slot('${slot}_standby')`);
  const finding = await patient.finding('slot-not-failover', { slot });
  expect(finding).toMatchObject({
    severity: 'info',
    fact: expect.stringMatching(
      // another test may have a standby on this server
      `^slot "${slot}" is no failover slot, although the server has (standbys|a physical slot, as standbys use them)$`,
    ),
    consequence: 'after a failover it does not exist on the new primary, and changes are missed',
    fix: [
      `psql 'dbname=${database.name} replication=database' -c 'ALTER_REPLICATION_SLOT ${slot} (FAILOVER true)' # while nobody reads it; standbys need sync_replication_slots = on`,
    ],
  });
  await patient.mend(finding, { slot });
  await drop(`${slot}_standby`);
  await drop(slot);
});
