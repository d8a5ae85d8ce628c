// Reads the password file the way libpq does: one that others can read is ignored.
// https://www.postgresql.org/docs/current/libpq-pgpass.html

import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { passwordFromFile } from './pgpass.ts';
import type { ConnectionSettings } from './settings.ts';

/** The password for these settings from PGPASSFILE or ~/.pgpass, if there is one. */
export function filePassword(settings: ConnectionSettings): string | undefined {
  const path = passwordFilePath(settings);
  try {
    if (!statSync(path).isFile() || isOpenToOthers(path)) return undefined;
    return passwordFromFile(readFileSync(path, 'utf8'), settings);
  } catch {
    return undefined; // no such file is the ordinary case
  }
}

/** Why a password file was not looked into, as a hint; undefined if it was, or if there is none. */
export function ignoredPasswordFile(settings: ConnectionSettings): string | undefined {
  const path = passwordFilePath(settings);
  try {
    return isOpenToOthers(path) ? `${path} is ignored, others may read it: chmod 600` : undefined;
  } catch {
    return undefined;
  }
}

const passwordFilePath = (settings: ConnectionSettings): string =>
  settings.passwordFile ?? join(homedir(), '.pgpass');

const isOpenToOthers = (path: string): boolean => (statSync(path).mode & 0o077) !== 0;
