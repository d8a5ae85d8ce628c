// Reads the password file the way libpq does: one that others can read is ignored.
// https://www.postgresql.org/docs/current/libpq-pgpass.html

import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { passwordFromFile } from './pgpass.ts';
import type { ConnectionSettings } from './settings.ts';

/** The password for these settings from PGPASSFILE or ~/.pgpass, if there is one. */
export function filePassword(settings: ConnectionSettings): string | undefined {
  const path = settings.passwordFile ?? join(homedir(), '.pgpass');
  try {
    const status = statSync(path);
    if (!status.isFile() || (status.mode & 0o077) !== 0) return undefined;
    return passwordFromFile(readFileSync(path, 'utf8'), settings);
  } catch {
    return undefined; // no such file is the ordinary case
  }
}
