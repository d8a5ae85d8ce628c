// `pgtail doctor` as it is run: what it prints, and its exit codes.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doctorSchema } from '../../src/doctor/schema.ts';
import { runPgtail } from '../support/pgtail.ts';
import { createDatabase, sharedServer, type TestDatabase } from '../support/server.ts';
import { Patient } from './patient.ts';

const { version, major } = sharedServer();

let database: TestDatabase;
let slot: string;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql('CREATE TABLE orders (id int PRIMARY KEY); CREATE TABLE log (line text)');
  await database.sql('CREATE PUBLICATION shop FOR TABLE orders');
  slot = `${database.name}_slot`;
  await database.query(`SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput')`);
});

afterAll(() => database.drop());

const doctor = (...args: string[]) => runPgtail(['doctor', ...database.options, ...args]);

describe('pgtail doctor', () => {
  it('prints one JSON document in a pipe, and ends with 0 if all is well', async () => {
    const { code, stdout, stderr } = await doctor('-S', slot, '-P', 'shop');
    expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({
      code: 0,
      stderr: '',
      lines: 2,
    });
    const document = doctorSchema.parse(JSON.parse(stdout));
    expect(document).toMatchObject({
      version: 1,
      command: 'doctor',
      server: { major, database: database.name, role: 'postgres' },
      slot,
      publications: ['shop'],
    });
    expect(document.checks).toContainEqual({
      check: 'wal-level',
      subject: { kind: 'server' },
      result: 'ok',
      fact: 'wal_level is logical',
    });
    expect(document.findings.map(({ id }) => id)).toContain('tables-not-published');
  });

  it('ends with 4 if something needs attention, the worst first', async () => {
    const { code, stdout, stderr } = await doctor('-S', 'missing', '-P', 'shop', '-P', 'other');
    expect({ code, stderr }).toEqual({ code: 4, stderr: '' });
    const { findings } = doctorSchema.parse(JSON.parse(stdout));
    expect(findings.slice(0, 2).map(({ id }) => id)).toEqual([
      'slot-missing',
      'publication-missing',
    ]);
    expect(findings[2]?.severity ?? 'info').toBe('info');
  });

  it('takes slot and publication from the environment', async () => {
    const env = { PGTAIL_SLOT: slot, PGTAIL_PUBLICATION: 'shop' };
    const { stdout } = await runPgtail(['doctor', ...database.options], { env });
    expect(JSON.parse(stdout)).toMatchObject({ slot, publications: ['shop'] });
  });

  it('tells people what is wrong, what comes of it, what mends it, and what is fine', async () => {
    const { code, stdout } = await doctor('-S', 'missing', '--format', 'pretty');
    expect(code).toBe(4);
    const lines = stdout.split('\n');
    expect(lines.slice(0, 5)).toEqual([
      `PostgreSQL ${version.split('-')[0]!.replace(/\.0$/, '')}, database "${database.name}" as "postgres", slot "missing", publication "shop": 1 error`,
      '',
      '✗ slot "missing" does not exist',
      '    there is nothing to read from; a new slot begins with the changes after it is made',
      '    fix: pgtail slots create missing',
    ]);
    expect(stdout).toContain('\ni 1 table not in publication "shop": public.log\n');
    expect(stdout).toMatch(/\nok {2}.*wal_level is logical; .*\n$/);
  });

  it('puts what is fine on a line each with --verbose', async () => {
    const { stdout } = await doctor('-S', slot, '-v', '--format', 'pretty');
    expect(stdout).toContain('as "postgres", ');
    expect(stdout).toContain(': ready to be read\n');
    expect(stdout).toContain('\nok  wal_level is logical\n');
  });

  it('says as the tail does why it cannot connect', async () => {
    const refused = await runPgtail(['doctor', '-h', '127.0.0.1', '-p', '1', '-d', 'shop']);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('cannot connect to 127.0.0.1:1: connection refused');
    const unknown = await doctor('--dbname', 'not_here').catch(() => null);
    expect(unknown?.code).toBe(3);
  });

  it('refuses an encoding that there is none of', async () => {
    const { code, stderr } = await doctor('--encoding', 'KLINGON');
    expect(code).toBe(2);
    expect(stderr).toContain('invalid value for --encoding');
  });
});

it('a role without CONNECT is told who can give it', async () => {
  const role = `${database.name}_reader`;
  await database.sql(`CREATE ROLE ${role} LOGIN REPLICATION`);
  await database.sql(`REVOKE CONNECT ON DATABASE ${database.name} FROM PUBLIC`);
  const args = database.options.map((arg) => (arg === database.user ? role : arg));
  const { code, stderr } = await runPgtail(['doctor', ...args]);
  expect(code).toBe(4);
  const grant = `GRANT CONNECT ON DATABASE "${database.name}" TO "${role}";`;
  expect(stderr).toContain(grant);
  await database.sql(grant);
  expect((await runPgtail(['doctor', ...args])).code).toBe(0);
  await database.sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
});

it('a database in SQL_ASCII is read with an encoding', async () => {
  const raw = await createDatabase(
    `ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
  );
  try {
    await raw.sql('CREATE TABLE orders (id int PRIMARY KEY)');
    await raw.sql('CREATE PUBLICATION shop FOR TABLE orders');
    const { host, port, user, name } = raw;
    const patient = new Patient({ host, port, user, database: name });
    const finding = await patient.finding('sql-ascii');
    expect(finding).toMatchObject({
      severity: 'warning',
      fact: `database "${name}" is in SQL_ASCII: its text may be any bytes`,
      consequence: 'a value that is not UTF-8 ends the stream with 22021, again at each try',
      fix: [
        'export PGTAIL_ENCODING=LATIN1 # or --encoding with what the applications write; LATIN1 takes any bytes',
      ],
    });
    await patient.mend(finding);
  } finally {
    await raw.drop();
  }
});

it('names of any bytes are read', async () => {
  const raw = await createDatabase(
    `ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
  );
  try {
    await raw.sql(`SET client_encoding = SQL_ASCII; CREATE TABLE plain (id int PRIMARY KEY)`);
    await raw.sql(
      `DO $$ BEGIN EXECUTE 'CREATE TABLE "' || convert_from('\\xe9', 'SQL_ASCII') || '" (id int)';
       EXECUTE 'CREATE PUBLICATION "' || convert_from('\\xe9', 'SQL_ASCII') || '" FOR TABLE plain'; END $$`,
    );
    const { host, port, user, name } = raw;
    const { findings } = await new Patient({ host, port, user, database: name }).examine();
    const found = findings.find(({ id }) => id === 'tables-not-published');
    expect(found?.fact).toContain('public."\ufffd"');
  } finally {
    await raw.drop();
  }
});
