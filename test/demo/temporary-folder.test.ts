// Where the throw-away server's folder is made.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { serverAccount } from '../../src/demo/server-account.ts';
import { makeServerFolder } from '../../src/demo/temporary-folder.ts';

const base = mkdtempSync(join(tmpdir(), 'pgtail-test-'));
const made: string[] = [];
afterEach(() => {
  for (const folder of [...made.splice(0), base]) rmSync(folder, { recursive: true, force: true });
});

function make(temporary: string): string {
  const folder = makeServerFolder(serverAccount(), temporary);
  made.push(folder);
  return folder;
}

it('is in /tmp if a socket path in the temporary folder were too long, and closed to others', () => {
  const deep = join(base, 'a-temporary-folder-with-a-name-that-is-far-too-long-for-sockets');
  mkdirSync(deep, { recursive: true });
  const folder = make(deep);
  expect(dirname(folder)).toBe('/tmp');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it.runIf(process.getuid?.() === 0)('is in /tmp if only root may enter the temporary folder', () => {
  mkdirSync(base, { recursive: true });
  chmodSync(base, 0o700);
  expect(dirname(make(base))).toBe('/tmp');
});
