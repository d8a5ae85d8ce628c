// Command line over connection string over environment over defaults.

import { describe, expect, it } from 'vitest';
import {
  type ConnectionFlags,
  connectionSettings,
  type Machine,
  SSL_MODES,
  serverAddress,
} from '../../src/connection/settings.ts';
import { EXIT, PgtailError } from '../../src/errors.ts';

const settings = (flags: ConnectionFlags = {}, machine: Partial<Machine> = {}) =>
  connectionSettings(flags, { env: {}, userName: 'ada', exists: () => false, ...machine });

function errorOf(flags: ConnectionFlags, env: Machine['env'] = {}): PgtailError {
  try {
    settings(flags, { env });
  } catch (error) {
    if (error instanceof PgtailError) return error;
    throw error;
  }
  throw new Error('expected an error');
}

describe('the connection settings', () => {
  it('have the defaults of libpq', () => {
    expect(settings()).toEqual({
      host: 'localhost',
      port: 5432,
      user: 'ada',
      database: 'ada',
      password: undefined,
      passwordFile: undefined,
      options: '',
      timeZone: 'UTC',
      applicationName: 'pgtail',
      connectTimeout: 0,
      sslMode: 'prefer',
      sslRootCert: undefined,
      sslCert: undefined,
      sslKey: undefined,
    });
  });

  it('take the local socket if there is one', () => {
    const exists = (path: string): boolean => path === '/tmp/.s.PGSQL.5433';
    expect(settings({ port: '5433' }, { exists }).host).toBe('/tmp');
    expect(settings({}, { exists }).host).toBe('localhost');
  });

  it('come from the environment', () => {
    const env = {
      PGHOST: 'db',
      PGPORT: '5433',
      PGUSER: 'grace',
      PGDATABASE: 'shop',
      PGPASSWORD: 'tea',
      PGPASSFILE: '/home/grace/passwords',
      PGOPTIONS: '-c statement_timeout=5s',
      PGAPPNAME: 'watcher',
      PGCONNECT_TIMEOUT: '3',
      PGSSLMODE: 'verify-full',
      PGSSLROOTCERT: '/certs/root.pem',
      PGSSLCERT: '/certs/grace.pem',
      PGSSLKEY: '/certs/grace.key',
    };
    expect(settings({}, { env })).toEqual({
      host: 'db',
      port: 5433,
      user: 'grace',
      database: 'shop',
      password: 'tea',
      passwordFile: '/home/grace/passwords',
      options: '-c statement_timeout=5s',
      applicationName: 'watcher',
      connectTimeout: 3000,
      sslMode: 'verify-full',
      sslRootCert: '/certs/root.pem',
      sslCert: '/certs/grace.pem',
      sslKey: '/certs/grace.key',
      timeZone: 'UTC',
    });
  });

  it('prefer the connection string to the flags, and those to the environment', () => {
    const env = { PGHOST: 'from-env', PGPORT: '1', PGUSER: 'env' };
    const flags = { host: 'from-flag', port: '2', conninfo: 'host=from-string' };
    expect(settings(flags, { env })).toMatchObject({ host: 'from-string', port: 2, user: 'env' });
  });

  it('take a plain word for the database', () => {
    expect(settings({ conninfo: 'shop' }).database).toBe('shop');
    expect(settings({ dbname: 'shop' }).database).toBe('shop');
    expect(settings({ dbname: 'postgresql://db/shop' })).toMatchObject({
      host: 'db',
      database: 'shop',
    });
  });

  it('name the database after the user', () => {
    expect(settings({ username: 'grace' }).database).toBe('grace');
  });

  it('take an empty value for none', () => {
    expect(settings({ conninfo: "host='' port=''" }, { env: { PGHOST: 'db' } })).toMatchObject({
      host: 'db',
      port: 5432,
    });
  });

  it('cannot be changed', () => {
    expect(Object.isFrozen(settings())).toBe(true);
  });

  it('wait for ever with a timeout of zero or less', () => {
    expect(settings({ conninfo: 'connect_timeout=0' }).connectTimeout).toBe(0);
    expect(settings({ conninfo: 'connect_timeout=-1' }).connectTimeout).toBe(0);
  });

  it.each(SSL_MODES)('know sslmode %s', (mode) => {
    expect(settings({ conninfo: `sslmode=${mode}` }).sslMode).toBe(mode);
  });
});

describe('a wrong setting', () => {
  it.each<[string, ConnectionFlags, Machine['env']]>([
    ['a port that is no number', { port: 'tea' }, {}],
    ['port 0', { port: '0' }, {}],
    ['a port too large', { port: '65536' }, {}],
    ['a wrong port in the environment', {}, { PGPORT: '-1' }],
    ['a timeout that is no number', { conninfo: 'connect_timeout=soon' }, {}],
    ['an unknown sslmode', { conninfo: 'sslmode=maybe' }, {}],
    ['a database named twice', { conninfo: 'shop', dbname: 'shop' }, {}],
  ])('%s is a usage error with a hint', (_what, flags, env) => {
    const { exitCode, hint } = errorOf(flags, env);
    expect(exitCode).toBe(EXIT.usage);
    expect(hint).toBeDefined();
  });

  it('never shows the password beside it', () => {
    const { message, hint } = errorOf({ conninfo: 'password=S3cret port=tea' });
    expect(`${message} ${hint}`).not.toContain('S3cret');
  });
});

describe('the address in messages', () => {
  it.each([
    ['db', 'db:5432'],
    ['::1', '[::1]:5432'],
    ['/var/run/postgresql', '/var/run/postgresql/.s.PGSQL.5432'],
  ])('of %s is %s', (host, expected) => {
    expect(serverAddress(settings({ host }))).toBe(expected);
  });
});
