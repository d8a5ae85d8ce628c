// What a role may not do, and what it may not see.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, sharedServer, type TestDatabase } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Patient } from './patient.ts';
import { startTail } from './walsender.ts';

const { major } = sharedServer();

let database: TestDatabase;
let patient: Patient;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql('CREATE TABLE orders (id int PRIMARY KEY)');
  await database.sql('CREATE PUBLICATION shop FOR TABLE orders');
  const { host, port, user, name } = database;
  patient = new Patient({ host, port, user, database: name });
});

afterAll(() => database.drop());

async function withRole(attributes: string, test: (role: string) => Promise<void>): Promise<void> {
  const role = `${database.name}_reader`;
  await patient.sql(`CREATE ROLE ${role} LOGIN ${attributes}`);
  try {
    await test(role);
  } finally {
    await patient.sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
}

const attention = (findings: readonly { severity: string }[]) =>
  findings.filter(({ severity }) => severity !== 'info');

it('a role without REPLICATION gets it', async () => {
  await withRole('', async (user) => {
    const finding = await patient.finding('role-cannot-replicate', { user });
    expect(finding).toEqual({
      id: 'role-cannot-replicate',
      severity: 'error',
      subject: { kind: 'role', name: user },
      fact: `role "${user}" does not have REPLICATION`,
      consequence:
        'it gets no replication connection; whether a role of the provider, such as rds_replication, would let it cannot be seen from here',
      fix: [`ALTER ROLE "${user}" REPLICATION; -- as a superuser`],
    });
    expect(await patient.ids({ user })).not.toContain('replication-connection-refused');
    await patient.mend(finding, { user });
  });
});

it('a role that has only REPLICATION is told what it cannot read, and then can', async () => {
  await withRole('REPLICATION', async (user) => {
    const slot = `${database.name}_slot`;
    await patient.sql(`SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput')`);
    await using reader = await startTail(database, slot);
    const writer = await database.connect();
    await writer.query('BEGIN; INSERT INTO orders VALUES (1)');
    const { findings, unreadable } = await patient.examine({ user, slot });
    expect(attention(findings)).toEqual([]);
    expect(findings.find(({ id }) => id === 'slot-in-use')?.fact).toContain(`PID ${reader.pid}`);
    const monitor = `GRANT pg_monitor TO "${user}";`;
    const hba = `GRANT SELECT ON pg_hba_file_rules TO "${user}"; GRANT EXECUTE ON FUNCTION pg_hba_file_rules() TO "${user}";`;
    expect(unreadable).toEqual([
      { what: 'from where the slot is being read, and its lag in time', grant: monitor },
      { what: 'since when transactions of other roles are open', grant: monitor },
      { what: 'pg_hba.conf', grant: hba },
    ]);
    await patient.sql(monitor);
    await patient.sql(hba);
    // granted in one database alone
    expect((await patient.examine({ user, slot })).unreadable).toEqual([]);
    await writer.end();
    await patient.sql(`SELECT pg_terminate_backend(${reader.pid})`);
    await patient.sql(`REVOKE pg_monitor FROM ${user}`);
  });
});

it('a role that may have one session may have more', async () => {
  await withRole('REPLICATION CONNECTION LIMIT 1', async (user) => {
    const finding = await patient.finding('role-connection-limit', { user });
    expect(finding).toMatchObject({
      severity: 'warning',
      fact: `role "${user}" may have 1 session, and has 1 (this one included)`,
      consequence:
        'a tail needs two at times, the stream and a short one for look-ups: one of them may be refused',
      fix: [`ALTER ROLE "${user}" CONNECTION LIMIT -1;`],
    });
    expect(await patient.ids({ user })).not.toContain('replication-connection-refused');
    await patient.mend(finding, { user });
  });
});

it('a database that may have few sessions may have more', async () => {
  await withRole('REPLICATION', async (user) => {
    await patient.sql(`ALTER DATABASE ${database.name} CONNECTION LIMIT 2`);
    // a session that is about to end still counts
    const finding = await until(() =>
      patient.finding('database-connection-limit', { user }).catch(() => null),
    );
    expect(finding).toMatchObject({
      severity: 'warning',
      fact: expect.stringMatching(
        /^database "shop_\w+" may have 2 sessions, and has \d \(this one included\)$/,
      ),
      fix: [`ALTER DATABASE "${database.name}" CONNECTION LIMIT -1;`],
    });
    await patient.mend(finding, { user });
  });
});

it('a role that becomes another one is told so', async () => {
  await withRole('REPLICATION', async (user) => {
    const other = `${user}_other`;
    await patient.sql(`CREATE ROLE ${other}; GRANT ${other} TO ${user}`);
    await patient.sql(`ALTER ROLE ${user} SET role = '${other}'`);
    const finding = await patient.finding('role-changes-role', { user });
    expect(finding).toMatchObject({
      severity: 'info',
      fact: `a session of role "${user}" begins as role "${other}" (ALTER ROLE … SET), which does not have REPLICATION`,
      consequence: 'SQL functions on slots are refused: --peek, and pgtail slots drop and advance',
      fix: [`ALTER ROLE "${user}" RESET role;`],
    });
    await patient.mend(finding, { user });
    await patient.sql(`DROP ROLE ${other}`);
  });
});

it('a lock_timeout of the database may end the creation of a slot', async () => {
  await patient.sql(`ALTER DATABASE ${database.name} SET lock_timeout = '5s'`);
  const finding = await patient.finding('lock-timeout');
  expect(finding).toMatchObject({
    severity: 'warning',
    fact: 'lock_timeout is 5.0 s (ALTER DATABASE … SET)',
    consequence:
      'a slot is not made if a transaction that is open then takes longer: 55P03, canceling statement',
    fix: [`ALTER DATABASE "${database.name}" RESET lock_timeout;`],
  });
  await patient.mend(finding);
});

it('one of PGOPTIONS does, too', async () => {
  const finding = await patient.finding('lock-timeout', {
    env: { PGOPTIONS: '-c lock_timeout=7s' },
  });
  expect(finding).toMatchObject({
    fact: 'lock_timeout is 7.0 s (PGOPTIONS)',
    fix: ['leave lock_timeout out of PGOPTIONS'],
  });
  expect(await patient.ids()).not.toContain('lock-timeout');
});

it.runIf(major >= 12)('a timeout that is the role’s own is reset there', async () => {
  await withRole('REPLICATION', async (user) => {
    await patient.sql(`ALTER ROLE ${user} IN DATABASE ${database.name} SET wal_sender_timeout = 0`);
    const finding = await patient.finding('wal-sender-timeout-off', { user });
    expect(finding.fix).toEqual([
      `ALTER ROLE "${user}" IN DATABASE "${database.name}" RESET wal_sender_timeout;`,
    ]);
    await patient.mend(finding, { user });
  });
});

it.runIf(major >= 18)('messages that are not sent hide a missing publication', async () => {
  await withRole('REPLICATION', async (user) => {
    await patient.sql(`ALTER ROLE ${user} SET client_min_messages = error`);
    const finding = await patient.finding('client-min-messages', { user });
    expect(finding).toMatchObject({
      severity: 'warning',
      fact: 'client_min_messages is error (ALTER ROLE … SET)',
      consequence:
        'the server does not tell that a publication was missing at a position, and its rows are left out in silence',
      fix: [`ALTER ROLE "${user}" RESET client_min_messages;`],
    });
    await patient.mend(finding, { user });
  });
});
