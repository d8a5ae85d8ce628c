// The server that a benchmark reads from: Debian's where it is installed, for it has
// pg_recvlogical and may have wal2json; else the embedded one.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Client } from 'pg';
import { findNativeDirectory } from '../../src/demo/binaries.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/demo/embedded-server.ts';

/** PostgreSQL 15 is Debian 12's, and the newest that wal2json is packaged for there. */
const DEBIAN = '/usr/lib/postgresql/15';

const SETTINGS: Readonly<Record<string, string>> = {
  // nothing of its own between the changes that are measured
  autovacuum: 'off',
  checkpoint_timeout: '1h',
  max_wal_size: '64GB',
  synchronous_commit: 'off',
};

export interface BenchmarkServer extends AsyncDisposable {
  readonly server: EmbeddedServer;
  /** Undefined if there is none on this machine. */
  readonly recvlogical: string | undefined;
  readonly hasWal2json: boolean;
}

/** `folder` is a PostgreSQL installation with bin/ and lib/; default: see above. */
export async function startBenchmarkServer(
  folder: string = defaultFolder(),
): Promise<BenchmarkServer> {
  const server = await startEmbeddedServer({ nativeDirectory: folder, settings: SETTINGS });
  return {
    server,
    recvlogical: findRecvlogical(folder, process.env.PATH ?? ''),
    hasWal2json: existsSync(join(folder, 'lib', 'wal2json.so')),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

function defaultFolder(): string {
  return existsSync(join(DEBIAN, 'bin', 'postgres')) ? DEBIAN : findNativeDirectory();
}

function findRecvlogical(folder: string, path: string): string | undefined {
  const folders = [join(folder, 'bin'), ...path.split(delimiter)];
  return folders.map((each) => join(each, 'pg_recvlogical')).find((file) => existsSync(file));
}

/** A connection for as long as `work` takes. */
export async function withClient<T>(
  server: EmbeddedServer,
  database: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(server.connectionConfig(database));
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Over the Unix socket or TCP. */
export type ConnectionKind = 'socket' | 'tcp';

export function hostOf(server: EmbeddedServer, kind: ConnectionKind): string {
  return kind === 'socket' ? server.socketDirectory : server.host;
}
