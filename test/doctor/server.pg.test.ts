// What is wrong with a server's settings, on a server of its own, in the order in which its fixes
// build on each other.

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import type { Finding } from '../../src/findings/finding.ts';
import { sharedServer, startPrivateServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Patient } from './patient.ts';

let own: EmbeddedServer;
let patient: Patient;

beforeAll(async () => {
  own = await startPrivateServer({
    wal_level: 'replica',
    max_replication_slots: '1',
    max_wal_senders: '1',
    wal_sender_timeout: '0',
    synchronous_standby_names: 'pgtail',
    // nobody here waits for a standby that never comes
    synchronous_commit: 'off',
  });
  const { host, port, user } = own;
  patient = new Patient({ host, port, user, database: 'postgres', restart: () => own.restart() });
  await patient.sql('CREATE TABLE orders (id int PRIMARY KEY)');
  await patient.sql('CREATE PUBLICATION shop FOR TABLE orders');
});

afterAll(() => own.stop());

describe('the doctor on a server with bad settings', () => {
  it('sees a wal_level that is too low, and the server is ready after the fix', async () => {
    const finding = await patient.finding('wal-level-too-low');
    expect(finding).toMatchObject({
      severity: 'error',
      fact: 'wal_level is replica, not logical',
      consequence:
        'no logical slot can be made or read, and what is written meanwhile cannot be read later either',
      fix: ['ALTER SYSTEM SET wal_level = logical;', 'restart the server'],
    });
    await patient.mend(finding);
    await patient.sql(`SELECT pg_create_logical_replication_slot('audit', 'pgoutput')`);
  });

  it('sees a timeout that is switched off', async () => {
    const finding = await patient.finding('wal-sender-timeout-off');
    expect(finding).toMatchObject({
      severity: 'warning',
      fact: 'wal_sender_timeout is 0: the server waits for replication clients for ever',
      consequence:
        'a client whose machine or network is gone holds its slot, and nobody else can read it',
      fix: [`ALTER SYSTEM SET wal_sender_timeout = '1min';`, 'SELECT pg_reload_conf();'],
    });
    await patient.mend(finding);
  });

  it('sees a timeout that ends what only pauses', async () => {
    await patient.sql(`ALTER SYSTEM SET wal_sender_timeout = '1s'`);
    await patient.sql('SELECT pg_reload_conf()');
    const finding = await until(() =>
      patient.finding('wal-sender-timeout-short').catch(() => null),
    );
    expect(finding).toMatchObject({ severity: 'warning', fact: 'wal_sender_timeout is 1.0 s' });
    await patient.mend(finding);
  });

  it('sees that it would be a synchronous standby by its name, and takes another', async () => {
    const finding = await patient.finding('synchronous-standby');
    expect(finding).toMatchObject({
      severity: 'warning',
      fact: 'synchronous_standby_names (pgtail) takes a client called "pgtail" for a synchronous standby',
      consequence: 'while it reads, every COMMIT on the server may wait for what it acknowledges',
      fix: ['export PGAPPNAME=cdc_tail'],
    });
    await patient.mend(finding);
  });

  it('sees that it would be one by any name, and lets a COMMIT wait for none, or for those named', async () => {
    const finding = await findingAt('ANY 1 (*)');
    expect(finding.fix).toEqual([
      `ALTER SYSTEM SET synchronous_standby_names = ''; -- no standby follows now: a COMMIT waits for none; or with its name in the place of *, as in 'ANY 1 (standby_1)'`,
      'SELECT pg_reload_conf();',
    ]);
    await patient.mend(finding);
    const again = await findingAt('ANY 1 (*)');
    const [, named] = /as in ('.*')$/.exec(again.fix[0]!)!;
    const byName = `ALTER SYSTEM SET synchronous_standby_names = ${named}`;
    await patient.mend({ ...again, fix: [byName, again.fix[1]!] });
    await patient.sql(`ALTER SYSTEM SET synchronous_standby_names = ''`);
    await patient.sql('SELECT pg_reload_conf()');
  });

  async function findingAt(names: string): Promise<Finding> {
    await patient.sql(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await patient.sql('SELECT pg_reload_conf()');
    return await until(() => patient.finding('synchronous-standby').catch(() => null));
  }

  it('sees that there is no room for another slot', async () => {
    const asked = await patient.finding('no-free-slot', { slot: 'audit' });
    expect(asked.severity).toBe('info');
    const finding = await patient.finding('no-free-slot');
    expect(finding).toMatchObject({
      severity: 'error',
      fact: 'all of max_replication_slots (1) are used',
      consequence: 'no slot can be made, not even a temporary one',
      fix: [
        'ALTER SYSTEM SET max_replication_slots = 10; -- or drop one that nobody reads: pgtail slots',
        'restart the server',
      ],
    });
    await patient.mend(finding);
  });

  it('sees that there is no room for another walsender, by trying', async () => {
    const { host, port, user } = own;
    const config = { host, port, user, database: 'postgres', ssl: false, replication: 'database' };
    const walsender = new Client(config as object);
    walsender.on('error', () => {}); // the restart cuts it
    await walsender.connect();
    const finding = await patient.finding('no-free-walsender');
    expect(finding).toMatchObject({
      severity: 'error',
      fact: 'all of max_wal_senders (1) are used',
      consequence: 'the server refuses another replication connection',
      fix: [
        'ALTER SYSTEM SET max_wal_senders = 10; -- or end a client: SELECT * FROM pg_stat_replication',
        'restart the server',
      ],
    });
    expect(await patient.ids()).not.toContain('replication-connection-refused');
    await patient.mend(finding);
  });

  // before 12 a walsender takes one of them as well, and is refused first
  it.runIf(sharedServer().major >= 12)('sees that hardly a connection is free', async () => {
    await patient.sql('CREATE ROLE cdc LOGIN REPLICATION');
    await patient.sql('ALTER SYSTEM SET max_connections = 20');
    await own.restart();
    const { host, port } = own;
    for (let i = 0; i < 16; i++) {
      const idle = new Client({ host, port, user: 'cdc', database: 'postgres', ssl: false });
      idle.on('error', () => {}); // the restart cuts it
      await idle.connect();
    }
    const finding = await patient.finding('few-free-connections', { user: 'cdc' });
    expect(finding).toMatchObject({
      severity: 'warning',
      fact: 'about 17 of max_connections (20, of which 3 are reserved) are used',
      consequence: expect.stringContaining('may be refused'),
      fix: [
        expect.stringMatching(/^ALTER SYSTEM SET max_connections = \d+; -- or end idle sessions$/),
        'restart the server',
      ],
    });
    await patient.mend(finding, { user: 'cdc' });
  });

  it('then finds nothing that needs attention', async () => {
    const { findings, checks } = await patient.examine({ slot: 'audit' });
    expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
    expect(checks.map(({ fact }) => fact)).toContain('wal_level is logical');
  });
});
