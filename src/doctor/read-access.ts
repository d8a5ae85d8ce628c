// Whether a replication connection is admitted, and what stands between here and the server: tried,
// since that is better evidence than what any file says.
// https://www.postgresql.org/docs/current/protocol-replication.html

import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ConnectionSettings } from '../connection/settings.ts';
import { PgtailError } from '../errors.ts';
import { isServerReport } from '../walsender/server-error.ts';
import { ReplicationSession } from '../walsender/session.ts';

export type ReplicationAccess =
  | { readonly kind: 'admitted' }
  /** What answers does not know replication commands: it took the connection for an ordinary one. */
  | { readonly kind: 'ordinary' }
  | {
      readonly kind: 'refused';
      readonly message: string;
      readonly hint: string | undefined;
      /** SQLSTATE; undefined: it was no server's answer. */
      readonly code: string | undefined;
    };

export interface AccessFacts {
  readonly replication: ReplicationAccess;
  /** Of the backends that answered one connection's queries; several: it was not one session. */
  readonly backendPids: readonly number[];
  /** Undefined over a Unix socket. */
  readonly ports: { readonly dialled: number; readonly server: number } | undefined;
}

/** In ms: something in between may neither admit nor refuse. */
const PATIENCE = 10_000;

export async function tryReplication(settings: ConnectionSettings): Promise<ReplicationAccess> {
  const patient = { ...settings, connectTimeout: settings.connectTimeout || PATIENCE };
  let session: ReplicationSession;
  try {
    session = await ReplicationSession.connect(patient, () => {});
  } catch (error) {
    return refusal(error);
  }
  try {
    await session.query('IDENTIFY_SYSTEM');
    return { kind: 'admitted' };
  } catch (error) {
    return isServerReport(error) ? { kind: 'ordinary' } : refusal(error);
  } finally {
    await session.finish(null, false);
  }
}

function refusal(error: unknown): ReplicationAccess {
  if (!(error instanceof PgtailError)) throw error;
  const { message, hint, cause } = error;
  return { kind: 'refused', message, hint, code: isServerReport(cause) ? cause.code : undefined };
}

const SESSION_SQL = 'SELECT pg_backend_pid() AS pid, inet_server_port() AS port;';

/** Something that shares sessions out may give each of these to another backend. */
const QUESTIONS = 4;

export async function readAccess(
  query: RunQuery,
  settings: ConnectionSettings,
): Promise<AccessFacts> {
  const pids = new Set<number>();
  let port: string | null = null;
  for (let i = 0; i < QUESTIONS; i++) {
    const [[row] = []] = await query(SESSION_SQL);
    pids.add(Number(row?.pid));
    port = row?.port ?? null;
  }
  return {
    replication: await tryReplication(settings),
    backendPids: [...pids],
    ports: port === null ? undefined : { dialled: settings.port, server: Number(port) },
  };
}
