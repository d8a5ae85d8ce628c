// The JSON document of an inspection command, version 1: names are those of NDJSON, what is not
// known is left out.

import type { ServerSummary } from '../catalog/server-summary.ts';
import { formatLsn } from '../lsn.ts';
import type { Finding } from './finding.ts';

export interface ServerDocument {
  readonly version: string;
  readonly major: number;
  readonly database: string;
  readonly role: string;
  readonly in_recovery: boolean;
  readonly wal_end?: string;
}

export function serverDocument(server: ServerSummary): ServerDocument {
  const { version, major, database, role, inRecovery, walEnd } = server;
  return {
    version,
    major,
    database,
    role,
    in_recovery: inRecovery,
    ...(walEnd !== undefined && { wal_end: formatLsn(walEnd) }),
  };
}

/** `command` is as typed: `slots`, `slots create`. `found` stands between server and findings. */
export function inspectionDocument<Found extends object>(
  command: string,
  server: ServerDocument,
  found: Found,
) {
  return { version: 1 as const, command, server, ...found };
}

/** What stands at the end: `unreadable` names the keys that the role may not read, if any. */
export function conclusion(findings: readonly Finding[], unreadable: readonly string[]) {
  return { findings, ...(unreadable.length > 0 && { unreadable }) };
}
