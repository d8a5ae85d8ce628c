// What stands between the doctor and the server: something that is no server, and pg_hba.conf.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { startFakePooler } from '../support/fake-pooler.ts';
import { sharedServer, startPrivateServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Patient } from './patient.ts';

let own: EmbeddedServer;
let patient: Patient;

beforeAll(async () => {
  own = await startPrivateServer();
  const { host, port, user } = own;
  patient = new Patient({ host, port, user, database: 'postgres' });
  await patient.sql('CREATE TABLE orders (id int PRIMARY KEY)');
  await patient.sql('CREATE PUBLICATION shop FOR TABLE orders');
});

afterAll(() => own.stop());

const MEND = ['connect to the server itself: -h and -p of PostgreSQL, not of the pooler'];

it('nothing is in between where nothing is', async () => {
  const { checks, findings } = await patient.examine();
  expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
  expect(checks.map(({ fact }) => fact)).toEqual(
    expect.arrayContaining([
      'a replication connection is admitted',
      'nothing stands between here and the server as far as can be seen',
      'pg_hba.conf has no error',
    ]),
  );
});

it('a pooler that refuses replication is named as one', async () => {
  const message = 'unsupported startup parameter: replication';
  await using pooler = await startFakePooler(own, { kind: 'refuses', message });
  const { findings } = await patient.examine({ port: pooler.port });
  expect(findings[0]).toEqual({
    id: 'pooler',
    severity: 'error',
    subject: { kind: 'server' },
    fact: `a pooler seems to stand between here and the server at 127.0.0.1:${pooler.port}: it does not take the startup parameter "replication"`,
    consequence: 'logical replication does not get through',
    fix: MEND,
  });
  expect(await patient.ids()).not.toContain('pooler');
});

it('so is one that makes it an ordinary connection', async () => {
  await using pooler = await startFakePooler(own, { kind: 'ignores' });
  const finding = await patient.finding('pooler', { port: pooler.port });
  expect(finding).toMatchObject({
    severity: 'error',
    fact: expect.stringMatching(/: it takes a replication connection for an ordinary one$/),
  });
});

it('so is one that shares out the queries of a connection', async () => {
  await using pooler = await startFakePooler(own, { kind: 'shares' });
  const finding = await patient.finding('pooler', { port: pooler.port });
  expect(finding).toMatchObject({
    severity: 'warning',
    fact: expect.stringMatching(/: 2 backends answered the queries of one connection$/),
    consequence:
      'settings of a session do not last from one query to the next: what is looked up may be wrong',
    fix: MEND,
  });
});

it('a port that is only forwarded needs no attention', async () => {
  await using pooler = await startFakePooler(own, { kind: 'forwards' });
  const { findings } = await patient.examine({ port: pooler.port });
  // a server of an old major says that, too
  expect(findings.filter(({ id }) => id !== 'server-end-of-life')).toEqual([
    {
      id: 'other-port',
      severity: 'info',
      subject: { kind: 'server' },
      fact: `port ${pooler.port} was dialled, and the server says that it listens on ${own.port}: a forwarded port, a proxy or a pooler`,
      consequence:
        'nothing, if the port is only forwarded; a proxy may end connections that are silent for long',
      fix: [`connect to the server itself if that is possible: -p ${own.port}`],
    },
  ]);
});

it('what refuses replication for another reason is quoted', async () => {
  const message = 'no replication in this plan';
  await using service = await startFakePooler(own, { kind: 'refuses', message });
  const finding = await patient.finding('replication-connection-refused', { port: service.port });
  expect(finding).toMatchObject({
    severity: 'error',
    fact: `an ordinary connection is admitted, a replication connection is not: cannot connect to 127.0.0.1:${service.port}: no replication in this plan`,
    consequence: 'nothing can be read over logical replication',
    fix: ['the log of the server says why'],
  });
});

it('a line of pg_hba.conf that is not understood keeps the others from counting until it is corrected', async () => {
  const path = join(own.dataDirectory, 'pg_hba.conf');
  const before = readFileSync(path, 'utf8');
  await patient.sql('CREATE ROLE guest LOGIN');
  writeFileSync(path, `host all guest all reject\n${before}host shop nobody\n`);
  const line = before.split('\n').length + 1;
  const finding = await patient.finding('pg-hba-error');
  expect(finding).toMatchObject({
    severity: 'warning',
    fact: expect.stringMatching(`^line ${line} of pg_hba.conf is not understood: `),
    consequence: 'a reload of that file changes nothing, and a restart fails',
    fix: [`correct line ${line} of ${path}, or put a # before it`, 'SELECT pg_reload_conf();'],
  });
  await patient.sql(finding.fix[1]!);
  await patient.sql('SELECT 1', 'guest');
  commentOut(path, line);
  await patient.mend({ ...finding, fix: finding.fix.slice(1) });
  const refusal = await until(() =>
    patient.sql('SELECT 1', 'guest').then(
      () => false,
      (error: Error) => error.message,
    ),
  );
  expect(refusal).toMatch(/pg_hba\.conf rejects/);
  writeFileSync(path, before);
  await patient.sql('SELECT pg_reload_conf()');
});

function commentOut(path: string, line: number): void {
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, lines.with(line - 1, `#${lines[line - 1]}`).join('\n'));
}

it.runIf(sharedServer().major >= 16)('the file that such a line is in is named', async () => {
  const path = join(own.dataDirectory, 'pg_hba.conf');
  const before = readFileSync(path, 'utf8');
  const included = join(own.dataDirectory, 'guests.conf');
  writeFileSync(included, 'host shop nobody\n');
  appendFileSync(path, 'include guests.conf\n');
  const finding = await patient.finding('pg-hba-error');
  expect(finding).toMatchObject({
    fact: expect.stringMatching('^line 1 of guests.conf is not understood: '),
    fix: [`correct line 1 of ${included}, or put a # before it`, expect.anything()],
  });
  commentOut(included, 1);
  await patient.mend({ ...finding, fix: finding.fix.slice(1) });
  writeFileSync(path, before);
});
