// How a replication connection gets in: what was tried, what pg_hba.conf says as far as it can be
// read, and what stands in between.
// https://www.postgresql.org/docs/current/auth-pg-hba-conf.html

import { basename } from 'node:path';
import { serverAddress } from '../../connection/settings.ts';
import { type Finding, RELOAD } from '../../findings/finding.ts';
import { type Check, check, SERVER } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';
import type { HbaError } from '../read-server.ts';

type AccessCheckFacts = Pick<DoctorFacts, 'request' | 'access' | 'role' | 'state'>;

/** Undefined: why there is none is told elsewhere. `isFull`: there is no room, which is told, too. */
export function replicationConnectionCheck(
  facts: AccessCheckFacts,
  isFull: boolean,
): Check | undefined {
  const name = 'replication-connection';
  if (facts.access.replication.kind === 'admitted') {
    return check(name, SERVER, 'a replication connection is admitted');
  }
  const finding = refused(facts, isFull);
  if (finding === undefined) return undefined;
  return check(name, SERVER, 'no replication connection is admitted', finding);
}

const INSUFFICIENT_PRIVILEGE = '42501';
const TOO_MANY_CONNECTIONS = '53300';

/** What other checks speak of is left to them: the role, no room, a pooler. */
function refused(facts: AccessCheckFacts, isFull: boolean): Finding | undefined {
  const { replication } = facts.access;
  if (replication.kind !== 'refused' || refusedByPooler(facts)) return undefined;
  const { message, hint, code } = replication;
  if (code === INSUFFICIENT_PRIVILEGE) return undefined;
  if (code === TOO_MANY_CONNECTIONS && isFull) return undefined;
  return {
    id: 'replication-connection-refused',
    severity: 'error',
    subject: SERVER,
    fact: `an ordinary connection is admitted, a replication connection is not: ${message}`,
    consequence: 'nothing can be read over logical replication',
    fix: [hint?.split('\n')[0] ?? 'the log of the server says why'],
  };
}

/** PgBouncer before 1.23 and most others: `unsupported startup parameter: replication`. */
function refusedByPooler({ access: { replication } }: AccessCheckFacts): boolean {
  if (replication.kind === 'ordinary') return true;
  return (
    replication.kind === 'refused' && /startup parameter.*replication/i.test(replication.message)
  );
}

export function poolerCheck(facts: AccessCheckFacts): Check {
  const { backendPids, ports } = facts.access;
  const fact =
    ports === undefined || ports.dialled === ports.server
      ? 'nothing stands between here and the server as far as can be seen'
      : `the server listens on port ${ports.server}, which is dialled as ${ports.dialled}`;
  const isSeen = refusedByPooler(facts) || backendPids.length > 1;
  return check(
    'pooler',
    SERVER,
    isSeen ? `what answers at ${address(facts)} is not the server itself` : fact,
    isSeen ? pooler(facts) : otherPort(facts),
  );
}

const address = ({ request }: AccessCheckFacts): string => serverAddress(request.connection);

/** What gave it away, in words. */
function evidence({ access }: AccessCheckFacts): string {
  if (access.backendPids.length > 1) {
    return `${access.backendPids.length} backends answered the queries of one connection`;
  }
  return access.replication.kind === 'ordinary'
    ? 'it takes a replication connection for an ordinary one'
    : 'it does not take the startup parameter "replication"';
}

function pooler(facts: AccessCheckFacts): Finding {
  const isClosed = refusedByPooler(facts);
  return {
    id: 'pooler',
    severity: isClosed ? 'error' : 'warning',
    subject: SERVER,
    fact: `a pooler seems to stand between here and the server at ${address(facts)}: ${evidence(facts)}`,
    consequence: isClosed
      ? 'logical replication does not get through'
      : 'settings of a session do not last from one query to the next: what is looked up may be wrong',
    fix: ['connect to the server itself: -h and -p of PostgreSQL, not of the pooler'],
  };
}

/** A forwarded port is as likely as a pooler. */
function otherPort(facts: AccessCheckFacts): Finding | undefined {
  const { ports } = facts.access;
  if (ports === undefined || ports.dialled === ports.server) return undefined;
  return {
    id: 'other-port',
    severity: 'info',
    subject: SERVER,
    fact: `port ${ports.dialled} was dialled, and the server says that it listens on ${ports.server}: a forwarded port, a proxy or a pooler`,
    consequence:
      'nothing, if the port is only forwarded; a proxy may end connections that are silent for long',
    fix: [`connect to the server itself if that is possible: -p ${ports.server}`],
  };
}

/** Undefined: the role may not read it. */
export function hbaCheck({ state }: AccessCheckFacts): Check | undefined {
  const { hbaErrors: errors } = state;
  if (errors === undefined) return undefined;
  const fact = errors.length === 0 ? 'pg_hba.conf has no error' : 'pg_hba.conf has an error';
  return check('pg-hba', SERVER, fact, ...errors.map(hbaError));
}

const HBA_FILE = 'pg_hba.conf';

function hbaError({ file = HBA_FILE, line, error }: HbaError): Finding {
  return {
    id: 'pg-hba-error',
    severity: 'warning',
    subject: SERVER,
    fact: `line ${line} of ${basename(file)} is not understood: ${error}`,
    consequence: 'a reload of that file changes nothing, and a restart fails',
    fix: [`correct line ${line} of ${file}, or put a # before it`, RELOAD],
  };
}
