// Whom a COMMIT waits for, before and after the doctor's fix, with clients that follow as standbys do.

import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import type { Finding } from '../../src/findings/finding.ts';
import { type Lsn, parseLsn } from '../../src/lsn.ts';
import { encodeStandbyStatus } from '../../src/wire/replication.ts';
import { startPrivateServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Patient } from './patient.ts';

let server: EmbeddedServer;
let patient: Patient;

beforeAll(async () => {
  // nobody here waits for a standby that is gone
  server = await startPrivateServer({ synchronous_commit: 'off' });
  const { host, port, user } = server;
  patient = new Patient({ host, port, user, database: 'postgres' });
});

afterAll(() => server.stop());

interface PhysicalClient extends AsyncDisposable {
  readonly connection: PrivateConnection;
  /** Of its walsender. */
  readonly pid: number;
}

interface PrivateConnection extends NodeJS.EventEmitter {
  readonly stream: { destroy(): void };
  sendCopyFromChunk(chunk: Buffer): void;
}

interface PrivateClient {
  readonly connection: PrivateConnection;
  readonly processID: number;
}

/** A replication connection of that name that runs a command of which there is no end. */
async function run(name: string, command: string): Promise<PhysicalClient> {
  const { host, port, user } = server;
  const config = { host, port, user, ssl: false, application_name: name, replication: 'true' };
  const client = new Client(config as object); // pg takes `replication`, its types do not know it
  client.on('error', () => undefined); // cut at the end
  await client.connect();
  client.query(command).catch(() => undefined);
  const { connection, processID: pid } = client as unknown as PrivateClient; // not in its types
  const end = async (): Promise<void> => {
    connection.stream.destroy();
    await until(async () => (await followers()).every((each) => each.pid !== pid));
  };
  return { connection, pid, [Symbol.asyncDispose]: end };
}

/** Follows and acknowledges, as pg_receivewal does. */
async function follow(name: string): Promise<PhysicalClient> {
  const [{ lsn }] = (await patient.rows<{ lsn: string }>(
    'SELECT pg_current_wal_flush_lsn()::text AS lsn',
  )) as [{ lsn: string }];
  const client = await run(name, `START_REPLICATION PHYSICAL ${lsn}`);
  await new Promise((resolve) => client.connection.once('replicationStart', resolve));
  client.connection.sendCopyFromChunk(statusUpTo(parseLsn(lsn)!));
  await until(async () =>
    (await followers()).some(({ pid, has_flushed }) => pid === client.pid && has_flushed),
  );
  return client;
}

const statusUpTo = (flush: Lsn): Buffer =>
  encodeStandbyStatus({ write: flush, flush, apply: flush, clientTime: 0n, replyRequested: false });

interface Follower {
  readonly pid: number;
  readonly application_name: string;
  readonly state: string;
  readonly sync_state: string;
  readonly has_flushed: boolean;
}

const followers = (): Promise<readonly Follower[]> =>
  patient.rows<Follower>(
    `SELECT pid, application_name, state, sync_state, flush_lsn IS NOT NULL AS has_flushed
     FROM pg_stat_replication ORDER BY application_name`,
  );

/** By name: `async`, `potential`, `sync` or `quorum`. */
const syncStates = async (): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await followers()).map((each) => [each.application_name, each.sync_state]));

async function setNames(names: string): Promise<void> {
  await patient.sql(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await patient.sql('SELECT pg_reload_conf()');
}

/** What the doctor finds once the server has these names. */
async function findingAt(names: string, looking = patient): Promise<Finding> {
  await setNames(names);
  return await until(async () => {
    const { findings } = await looking.examine();
    const found = findings.find(({ id }) => id === 'synchronous-standby');
    return found?.fact.includes(`(${names})`) ? found : undefined;
  });
}

it.each([
  ['*', '"stand1", "stand2"', ['potential', 'sync']],
  ['ANY 2 (*)', 'ANY 2 ("stand1", "stand2")', ['quorum', 'quorum']],
  ['ANY 1 ("*")', 'ANY 1 ("stand1", "stand2")', ['quorum', 'quorum']],
  ['2 (*)', '2 ("stand1", "stand2")', ['sync', 'sync']],
  ['FIRST 2 (stand1, *)', 'FIRST 2 (stand1, "stand2")', ['sync', 'sync']],
  ['first 1 (a,*,b)', 'first 1 (a, "stand1", "stand2", b)', ['potential', 'sync']],
])('%j keeps its method, its number and its names', async (before, after, states) => {
  await using _stand1 = await follow('stand1');
  await using _stand2 = await follow('stand2');
  await using _tail = await follow('pgtail');
  const finding = await findingAt(before);
  expect(finding.fix).toEqual([
    `ALTER SYSTEM SET synchronous_standby_names = '${after}'; -- the names of those standbys that a COMMIT is to wait for`,
    'SELECT pg_reload_conf();',
  ]);
  await patient.mend(finding);
  await until(async () => (await syncStates()).pgtail === 'async');
  const { stand1, stand2 } = await syncStates();
  expect([stand1, stand2].toSorted()).toEqual(states);
});

it('a client that is named beside * takes another name, too', async () => {
  await using _stand1 = await follow('stand1');
  const finding = await findingAt('pgtail, *');
  expect(finding.fix).toEqual([
    expect.stringContaining(`'pgtail, "stand1"'`),
    'SELECT pg_reload_conf();',
    'export PGAPPNAME=cdc_tail',
  ]);
  await called('pgtail').mend(finding);
});

it('a base backup is no standby', async () => {
  await using _backup = await run('pg_basebackup', 'BASE_BACKUP');
  await until(async () => (await followers()).some(({ state }) => state === 'backup'));
  await using _itsWal = await follow('pg_basebackup');
  const finding = await findingAt('*');
  expect(finding.fix[0]).toMatch(/^ALTER SYSTEM SET synchronous_standby_names = ''; -- no standby/);
  await patient.mend(finding);
});

it('too few standbys for a COMMIT are told, and how many must be named', async () => {
  await using _stand1 = await follow('stand1');
  const finding = await findingAt('ANY 2 (*)');
  const [fix, ...more] = finding.fix;
  expect([fix, more]).toEqual([
    `in synchronous_standby_names, put the names of standbys in the place of *, as in 'ANY 2 ("stand1", standby_1)': a COMMIT waits for 2, and 1 of those that are named follows now`,
    [],
  ]);
  const [, example] = /as in '(.*)':/.exec(fix!)!;
  await setNames(example!.replace('standby_1', 'stand2'));
  await using _stand2 = await follow('stand2');
  await until(async () => (await syncStates()).stand2 === 'quorum');
  expect(await patient.ids()).not.toContain('synchronous-standby');
});

it('standbys of one name are as many as there are', async () => {
  await using _first = await follow('walreceiver');
  await using _second = await follow('walreceiver');
  const finding = await findingAt('ANY 2 (*)');
  expect(finding.fix[0]).toMatch(/= 'ANY 2 \("walreceiver"\)';/);
  await patient.mend(finding);
});

it.each([
  ['foo, pgtail', 'foo', 'cdc_tail'],
  ['pgtail, cdc_tail', 'pgtail', 'cdc_tail_2'],
  ['"Pgtail", CDC_TAIL, cdc_tail_2', 'cdc_tail', 'cdc_tail_3'],
  ['foo', 'foo', 'pgtail'],
])('a client in %j called %s takes a name that is not in it', async (names, name, expected) => {
  const finding = await findingAt(names, called(name));
  expect(finding.fix).toEqual([`export PGAPPNAME=${expected}`]);
  await called(name).mend(finding);
});

function called(name: string): Patient {
  const { host, port, user } = server;
  return new Patient({ host, port, user, database: 'postgres', env: { PGAPPNAME: name } });
}
