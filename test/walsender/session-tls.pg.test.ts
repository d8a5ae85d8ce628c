// sslmode as libpq means it, against a server with TLS.

import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { type PgtailResult, runPgtail, startPgtail } from '../support/pgtail.ts';
import { temporaryFolder } from '../support/pty.ts';
import { selfSigned } from '../support/self-signed.ts';
import { sharedServer, startPrivateServer } from '../support/server.ts';

const folder = temporaryFolder();
const ROOT = join(folder.path, 'root.crt');
const OTHER_ROOT = join(folder.path, 'other.crt');
let server: EmbeddedServer;

beforeAll(async () => {
  server = await startPrivateServer(
    {},
    {
      hostBasedAuthentication: [
        'local all all trust',
        'hostssl all tls_only 127.0.0.1/32 trust',
        'hostnossl all plain_only 127.0.0.1/32 trust',
        'host all postgres 127.0.0.1/32 trust',
      ],
    },
  );
  const { certificate, key } = selfSigned('shop database');
  serverFile('server.crt', certificate);
  serverFile('server.key', key);
  writeFileSync(ROOT, certificate);
  writeFileSync(OTHER_ROOT, selfSigned('somebody else').certificate);
  await query(
    'CREATE PUBLICATION shop',
    'CREATE ROLE tls_only LOGIN REPLICATION',
    'CREATE ROLE plain_only LOGIN REPLICATION',
    `ALTER SYSTEM SET ssl = 'on'`,
  );
  await server.restart();
});

afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

function serverFile(name: string, content: string): void {
  const { uid, gid } = statSync(server.dataDirectory);
  const path = join(server.dataDirectory, name);
  writeFileSync(path, content, { mode: 0o600 });
  chownSync(path, uid, gid);
}

async function query(...statements: readonly string[]): Promise<void> {
  const client = new Client(server.connectionConfig());
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

const conninfo = (parameters: string): string =>
  `host=127.0.0.1 port=${server.port} dbname=postgres ${parameters}`;

const run = (parameters: string): Promise<PgtailResult> =>
  runPgtail([conninfo(`user=postgres ${parameters}`), '--no-follow', '-q']);

/** Whether the server says that the session is encrypted. */
async function encrypted(parameters: string): Promise<boolean> {
  await using child = startPgtail([conninfo(parameters)]);
  await child.started();
  const client = new Client(server.connectionConfig());
  await client.connect();
  const { rows } = await client.query(
    'SELECT ssl FROM pg_stat_ssl JOIN pg_stat_replication USING (pid)',
  );
  await client.end();
  expect(await child.stop()).toMatchObject({ code: 0 });
  return rows[0].ssl;
}

describe('sslmode', () => {
  it.each([
    ['', true],
    ['sslmode=disable', false],
    ['sslmode=allow', false],
    ['sslmode=prefer', true],
    ['sslmode=require', true],
    [`sslmode=require sslrootcert=${ROOT}`, true],
    [`sslmode=verify-ca sslrootcert=${ROOT}`, true],
    [`sslmode=verify-full sslrootcert=${ROOT}`, true],
  ])('"%s" gives an encrypted session: %s', async (parameters, expected) => {
    expect(await encrypted(`user=postgres ${parameters}`)).toBe(expected);
  });

  it('allow goes over to TLS, prefer to plain, where pg_hba.conf wants it', async () => {
    expect(await encrypted('user=tls_only sslmode=allow')).toBe(true);
    expect(await encrypted('user=plain_only sslmode=prefer')).toBe(false);
  });

  it.each(['verify-ca', 'verify-full'])(
    '%s refuses a certificate of somebody else',
    async (mode) => {
      const { code, stdout, stderr } = await run(`sslmode=${mode} sslrootcert=${OTHER_ROOT}`);
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(/^pgtail: cannot connect to 127\.0\.0\.1:\d+: .*certificate/);
    },
  );

  it('verify-full refuses a host that the certificate does not name', async () => {
    const parameters = `sslmode=verify-full sslrootcert=${ROOT} host=localhost`;
    const { code, stderr } = await run(parameters);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringMatching(/localhost/) });
    expect(await run(`sslmode=verify-ca sslrootcert=${ROOT} host=localhost`)).toMatchObject({
      code: 0,
    });
  });

  it('with a root certificate that is not there is exit code 3 and names the file', async () => {
    const { code, stderr } = await run('sslmode=verify-ca sslrootcert=/nonexistent/root.crt');
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('/nonexistent/root.crt'),
    });
  });

  it('require is exit code 3 at a server without TLS, and prefer works there', async () => {
    const { host, port, user } = sharedServer();
    const at = `host=${host} port=${port} user=${user} dbname=no_such_shop`;
    const required = await runPgtail([`${at} sslmode=require`]);
    expect(required).toMatchObject({ code: 3, stderr: expect.stringMatching(/SSL|TLS/) });
    const preferred = await runPgtail([`${at} sslmode=prefer`]);
    expect(preferred.stderr).toContain('"no_such_shop" does not exist');
  });

  it('does not matter on a Unix socket', async () => {
    const at = `host=${server.socketDirectory} port=${server.port} user=postgres dbname=postgres`;
    const { code } = await runPgtail([`${at} sslmode=require`, '--no-follow', '-q']);
    expect(code).toBe(0);
  });
});

it('a slot being created is given up over TLS too', async () => {
  const clerk = new Client(server.connectionConfig());
  await clerk.connect();
  await clerk.query('BEGIN; CREATE TABLE carts (id int)');
  const options = ['-S', 'waiting', '--create-slot'];
  await using child = startPgtail([conninfo('user=postgres sslmode=require'), ...options]);
  for (;;) {
    const { rows } = await clerk.query('SELECT 1 FROM pg_replication_slots');
    if (rows.length > 0) break;
  }
  expect(await child.stop()).toMatchObject({ code: 0, stderr: '' });
  await clerk.end();
});
