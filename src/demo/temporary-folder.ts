// Makes the folder that a throw-away server lives in, where its account can reach it.

import { chownSync, existsSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { EXIT, PgtailError } from '../errors.ts';
import type { ServerAccount } from './server-account.ts';

// A Unix socket's path is at most 103 bytes long on macOS, 107 on Linux; ours needs 30 more.
const LONGEST_BASE = 70;
const SHORT_BASE = '/tmp';

/** Nobody else may look inside: the server's Unix socket is there too. */
export function makeServerFolder(account: ServerAccount, temporary = tmpdir()): string {
  const folder = makeFolder(suits(temporary, account) ? temporary : SHORT_BASE);
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid);
  return folder;
}

function makeFolder(base: string): string {
  try {
    return mkdtempSync(join(base, 'pgtail-'));
  } catch (cause) {
    throw new PgtailError(EXIT.failure, `cannot make a temporary folder in ${base}`, {
      hint: 'name another one: TMPDIR',
      cause,
    });
  }
}

function suits(base: string, account: ServerAccount): boolean {
  if (!existsSync(base)) return true; // and is told so
  if (Buffer.byteLength(base) > LONGEST_BASE) return false;
  return account.uid === undefined || isOpenToAll(base);
}

/** Some systems give root a temporary folder that only root may enter. */
function isOpenToAll(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  const parent = dirname(folder);
  return parent === folder || isOpenToAll(parent);
}
