// The password file.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filePassword } from '../../src/connection/password-file.ts';
import { passwordFromFile } from '../../src/connection/pgpass.ts';
import { type ConnectionSettings, connectionSettings } from '../../src/connection/settings.ts';

const machine = { env: {}, userName: 'ada', exists: () => false };
const shop = connectionSettings({ host: 'db', dbname: 'shop' }, machine);
const withHost = (host: string): ConnectionSettings => ({ ...shop, host });

describe('a password file', () => {
  it.each([
    ['db:5432:shop:ada:tea', 'tea'],
    ['*:*:*:*:tea', 'tea'],
    ['db:5433:shop:ada:tea', undefined],
    ['other:5432:shop:ada:tea', undefined],
    ['db:5432:shop:grace:tea', undefined],
    ['# db:5432:shop:ada:comment\ndb:5432:shop:ada:tea', 'tea'],
    ['db:5432:shop:ada:first\n*:*:*:*:second', 'first'],
    ['db:5432:shop:ada:tea\r\n', 'tea'],
    ['db:5432:shop:ada:a\\:b\\\\c', 'a:b\\c'],
    ['db:5432:shop:ada:a:b', 'a:b'],
    ['db:5432:shop:ada', undefined],
    ['db:5432:shop', undefined],
    ['', undefined],
    ['db:5432:shop:ada:', ''],
    ['db:5432:shop:ada:pässwörd ', 'pässwörd '],
  ])('%j gives %j', (text, expected) => {
    expect(passwordFromFile(text, shop)).toBe(expected);
  });

  it('knows a Unix socket by the name localhost or by its folder', () => {
    expect(passwordFromFile('localhost:*:*:*:tea', withHost('/tmp'))).toBe('tea');
    expect(passwordFromFile('/tmp:*:*:*:tea', withHost('/tmp'))).toBe('tea');
  });

  it('may escape the colons of an address', () => {
    expect(passwordFromFile('\\:\\:1:*:*:*:tea', withHost('::1'))).toBe('tea');
  });
});

describe('reading the password file', () => {
  let folder: string;
  let path: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pgpass-'));
    path = join(folder, 'passwords');
    writeFileSync(path, '*:*:*:*:tea\n', { mode: 0o600 });
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it('finds the password', () => {
    expect(filePassword({ ...shop, passwordFile: path })).toBe('tea');
  });

  it('ignores a file that others can read', () => {
    chmodSync(path, 0o640);
    expect(filePassword({ ...shop, passwordFile: path })).toBeUndefined();
    chmodSync(path, 0o600);
  });

  it('takes a missing file or a folder for no password', () => {
    expect(filePassword({ ...shop, passwordFile: join(folder, 'none') })).toBeUndefined();
    expect(filePassword({ ...shop, passwordFile: folder })).toBeUndefined();
  });
});
