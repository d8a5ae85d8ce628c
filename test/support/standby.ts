// A standby of a private server, made by hand: the embedded PostgreSQL brings no pg_basebackup.
// https://www.postgresql.org/docs/current/warm-standby.html

import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { startPrivateServer } from './private-server.ts';

/** Older ones want recovery.conf, and have no pg_promote(). */
export const FIRST_WITH_STANDBY_SIGNAL = 12;

/** A folder with the data of a server, as of the moment when it was copied. */
export async function copyData(server: EmbeddedServer, to: string): Promise<void> {
  await server.shutDown('fast');
  rmSync(to, { recursive: true, force: true });
  execFileSync('cp', ['-a', server.dataDirectory, to]); // as its owner, whoever that is
  await server.start();
}

/** Puts a copy in the place of a server's data: it is back where it was then. */
export async function restoreData(server: EmbeddedServer, from: string): Promise<void> {
  await server.shutDown('immediate');
  rmSync(server.dataDirectory, { recursive: true });
  execFileSync('cp', ['-a', from, server.dataDirectory]);
  await server.start();
}

/** A copy made by pg_basebackup has none either. */
function removeSlots({ dataDirectory }: EmbeddedServer): void {
  const folder = join(dataDirectory, 'pg_replslot');
  for (const slot of readdirSync(folder)) rmSync(join(folder, slot), { recursive: true });
}

/** Ready for queries when it resolves. The primary is restarted for it. */
export async function startStandby(
  primary: EmbeddedServer,
  settings: Readonly<Record<string, string>> = {},
): Promise<EmbeddedServer> {
  const standby = await startPrivateServer();
  await standby.shutDown('immediate');
  await copyData(primary, standby.dataDirectory);
  removeSlots(standby);
  const lines = Object.entries({
    unix_socket_directories: standby.socketDirectory,
    primary_conninfo: `host=${primary.host} port=${primary.port} user=${primary.user} dbname=postgres`,
    wal_retrieve_retry_interval: '100ms',
    ...settings,
  }).map(([name, value]) => `${name} = '${value}'\n`);
  appendFileSync(join(standby.dataDirectory, 'postgresql.conf'), lines.join(''));
  writeFileSync(join(standby.dataDirectory, 'standby.signal'), '');
  await standby.start();
  return standby;
}
