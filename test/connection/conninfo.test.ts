// Connection strings, as libpq reads them.

import { describe, expect, it } from 'vitest';
import {
  isConnectionString,
  isConnectionUri,
  parseConninfo,
} from '../../src/connection/conninfo.ts';
import { EXIT, PgtailError } from '../../src/errors.ts';

function errorOf(text: string): PgtailError {
  try {
    parseConninfo(text);
  } catch (error) {
    if (error instanceof PgtailError) return error;
    throw error;
  }
  throw new Error(`expected an error for ${text}`);
}

describe('a connection URI', () => {
  it.each([
    ['postgresql://', {}],
    ['postgres://localhost', { host: 'localhost' }],
    ['postgresql://localhost:5433', { host: 'localhost', port: '5433' }],
    ['postgresql:///shop', { dbname: 'shop' }],
    ['postgresql://ada@db/shop', { user: 'ada', host: 'db', dbname: 'shop' }],
    ['postgresql://ada:tea@db/shop', { user: 'ada', password: 'tea', host: 'db', dbname: 'shop' }],
    ['postgresql://ada:a:b@db', { user: 'ada', password: 'a:b', host: 'db' }],
    ['postgresql://a%40b:p%2F%3F%25@db', { user: 'a@b', password: 'p/?%', host: 'db' }],
    ['postgresql://[2001:db8::1]:5433/shop', { host: '2001:db8::1', port: '5433', dbname: 'shop' }],
    ['postgresql://[::1]', { host: '::1' }],
    ['postgresql://%2Fvar%2Frun:5433/shop', { host: '/var/run', port: '5433', dbname: 'shop' }],
    ['postgresql:///shop?host=/tmp&port=5433', { dbname: 'shop', host: '/tmp', port: '5433' }],
    ['postgresql://db/shop%20two', { host: 'db', dbname: 'shop two' }],
    ['postgresql://db?sslmode=disable', { host: 'db', sslmode: 'disable' }],
    ['postgresql://db/?options=-c%20a%3Db', { host: 'db', options: '-c a=b' }],
    ['postgresql://:5433/', { port: '5433' }],
    ['postgresql://@db', { host: 'db' }],
  ])('%s', (text, expected) => {
    expect(parseConninfo(text)).toEqual(expected);
  });

  it('with several hosts is refused', () => {
    expect(errorOf('postgresql://a,b/shop').message).toMatch(/several hosts/);
  });
});

describe('a connection string of name=value pairs', () => {
  it.each([
    ['', {}],
    ['host=db', { host: 'db' }],
    ['host=db port=5433  dbname=shop', { host: 'db', port: '5433', dbname: 'shop' }],
    ['host = db\n  port = 5433 ', { host: 'db', port: '5433' }],
    ["password='with space' user=ada", { password: 'with space', user: 'ada' }],
    ["password='it\\'s \\\\ here'", { password: "it's \\ here" }],
    ['password=a\\ b\\\\c', { password: 'a b\\c' }],
    ["password='' host=db", { password: '', host: 'db' }],
    ['password= tea host=db', { password: 'tea', host: 'db' }],
    ['password=a=b', { password: 'a=b' }],
    ['host=a host=b', { host: 'b' }],
  ])('%j', (text, expected) => {
    expect(parseConninfo(text)).toEqual(expected);
  });
});

describe('what cannot be read', () => {
  it.each([
    'postgresql://ada@db/shop?sslmode',
    'postgresql://ada:%zz@db',
    'postgresql://db/%',
    'host',
    'host=db port',
    "password='open",
    'host=a b=c d',
    'nonsense=1',
    'postgresql://db?nonsense=1',
    'postgresql://[::1/shop',
  ])('%j is a usage error with a hint', (text) => {
    expect(errorOf(text).exitCode).toBe(EXIT.usage);
  });

  it.each([
    'postgresql://ada:S3cret%zz@db',
    'postgresql://ada:S3cret/tea@db/shop',
    'postgresql://ada:S3cret?tea=1@db/shop',
    'postgresql://ada:S3cret#tea@db/shop',
    'postgresql://ada:S3cret@db/shop?nonsense=1',
    'postgresql://ada:S3cret@db/shop?sslmode',
    'postgresql://db?password=S3cret%zz',
    "password='S3cret host=db",
    'password=S3cret nonsense=1',
    'password=S3cret oops',
    'host=db password=the S3cret',
  ])('never shows a password: %s', (text) => {
    const { message, detail, hint } = errorOf(text);
    expect(`${message} ${detail} ${hint}`).not.toContain('S3cret');
  });
});

describe('telling a database name from a connection string', () => {
  it('goes by the scheme or an equals sign', () => {
    expect(isConnectionString('shop')).toBe(false);
    expect(isConnectionString('my shop')).toBe(false);
    expect(isConnectionString('host=db')).toBe(true);
    expect(isConnectionString('postgres://db')).toBe(true);
    expect(isConnectionUri('postgresql://db')).toBe(true);
    expect(isConnectionUri('mysql://db')).toBe(false);
  });
});
