// Whether there is room for one more slot, one more walsender and one more session.
// https://www.postgresql.org/docs/current/runtime-config-replication.html

import type { Finding } from '../../findings/finding.ts';
import { formatCounted } from '../../format/quantities.ts';
import { quoteIdentifier } from '../../pgoutput/quote-identifier.ts';
import { type Check, check, quoted, SERVER } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';
import type { Limits } from '../limits.ts';
import type { SessionLimit } from '../read-role.ts';
import { numberOf, RESTART } from '../settings.ts';

type CapacityFacts = Pick<
  DoctorFacts,
  'request' | 'server' | 'settings' | 'state' | 'role' | 'access' | 'slot'
>;

const FEWEST = 10;

/** So that one does not have to restart for each. */
const more = (max: number): number => Math.max(FEWEST, 2 * max);

export function slotsCheck(facts: CapacityFacts): Check {
  const max = numberOf(facts.settings, 'max_replication_slots');
  const fact = `${facts.state.slotsUsed} of ${max} slots used`;
  return check('replication-slots', SERVER, fact, noFreeSlot(facts, max));
}

/** A slot that exists takes no new one; a look without a slot makes a temporary one. */
function noFreeSlot({ state, slot }: CapacityFacts, max: number): Finding | undefined {
  if (state.slotsUsed < max) return undefined;
  return {
    id: 'no-free-slot',
    severity: slot === undefined ? 'error' : 'info',
    subject: SERVER,
    fact: `all of max_replication_slots (${max}) are used`,
    consequence:
      slot === undefined
        ? 'no slot can be made, not even a temporary one'
        : `no other slot can be made, nor a copy to look at with --peek`,
    fix: [
      `ALTER SYSTEM SET max_replication_slots = ${more(max)}; -- or drop one that nobody reads: pgtail slots`,
      RESTART,
    ],
  };
}

export function walsendersCheck(facts: CapacityFacts): Check {
  const max = numberOf(facts.settings, 'max_wal_senders');
  const fact = `${facts.state.walsendersUsed} of ${max} walsenders used`;
  return check('walsenders', SERVER, fact, noFreeWalsender(facts, max));
}

/** The server may have been full a moment ago: what it said to our own attempt counts. */
function noFreeWalsender(facts: CapacityFacts, max: number): Finding | undefined {
  if (!isOutOfWalsenders(facts)) return undefined;
  return {
    id: 'no-free-walsender',
    severity: 'error',
    subject: SERVER,
    fact: `all of max_wal_senders (${max}) are used`,
    consequence: 'the server refuses another replication connection',
    fix: [
      `ALTER SYSTEM SET max_wal_senders = ${more(max)}; -- or end a client: SELECT * FROM pg_stat_replication`,
      RESTART,
    ],
  };
}

const TOO_MANY = '53300';

function isOutOfWalsenders({ access }: CapacityFacts): boolean {
  const { replication } = access;
  return (
    replication.kind === 'refused' &&
    replication.code === TOO_MANY &&
    replication.message.includes('max_wal_senders')
  );
}

export function connectionsCheck(facts: CapacityFacts, limits: Limits): Check {
  const { settings, state } = facts;
  const fact = `about ${state.sessions} of ${numberOf(settings, 'max_connections')} connections used`;
  return check('connections', SERVER, fact, fewConnections(facts, limits));
}

/** Our own one is among those used, and will be free for the tail. */
function fewConnections(
  { settings, state, role }: CapacityFacts,
  { sessionsOfTail }: Limits,
): Finding | undefined {
  const max = numberOf(settings, 'max_connections');
  const reserved =
    numberOf(settings, 'superuser_reserved_connections') +
    (numberOf(settings, 'reserved_connections') || 0);
  const free = max - reserved - state.sessions + 1;
  if (role.isSuperuser || free >= sessionsOfTail) return undefined;
  return {
    id: 'few-free-connections',
    severity: 'warning',
    subject: SERVER,
    fact: `about ${state.sessions} of max_connections (${max}, of which ${reserved} are reserved) are used`,
    consequence:
      'the short connection on which types and slots are looked up may be refused: values of own types then stay text',
    fix: [`ALTER SYSTEM SET max_connections = ${more(max)}; -- or end idle sessions`, RESTART],
  };
}

export function sessionLimitsCheck(facts: CapacityFacts, limits: Limits): Check {
  const { role } = facts;
  return check(
    'session-limits',
    { kind: 'role', name: role.loginRole },
    limitsText(facts),
    ...(role.isSuperuser ? [] : [roleLimit(facts, limits), databaseLimit(facts, limits)]),
  );
}

function limitsText({ role, server }: CapacityFacts): string {
  const { loginRole, roleSessions, databaseSessions } = role;
  if (roleSessions.limit < 0 && databaseSessions.limit < 0) return 'no CONNECTION LIMIT';
  return `role ${quoted(loginRole)} has ${limitText(roleSessions)}, database ${quoted(server.database)} ${limitText(databaseSessions)}`;
}

const limitText = ({ limit, used }: SessionLimit): string =>
  limit < 0 ? 'no CONNECTION LIMIT' : `${used} of CONNECTION LIMIT ${limit} in use`;

const isTooFew = ({ limit, used }: SessionLimit, { sessionsOfTail }: Limits): boolean =>
  limit >= 0 && limit - used + 1 < sessionsOfTail;

function roleLimit({ role }: CapacityFacts, limits: Limits): Finding | undefined {
  const { loginRole: name, roleSessions } = role;
  if (!isTooFew(roleSessions, limits)) return undefined;
  return {
    id: 'role-connection-limit',
    severity: 'warning',
    subject: { kind: 'role', name },
    fact: `role ${quoted(name)} may have ${formatCounted(roleSessions.limit, 'session')}, and has ${roleSessions.used} (this one included)`,
    consequence: TOO_FEW,
    fix: [`ALTER ROLE ${quoteIdentifier(name)} CONNECTION LIMIT -1;`],
  };
}

const TOO_FEW =
  'a tail needs two at times, the stream and a short one for look-ups: one of them may be refused';

function databaseLimit({ role, server }: CapacityFacts, limits: Limits): Finding | undefined {
  const { databaseSessions } = role;
  if (!isTooFew(databaseSessions, limits)) return undefined;
  return {
    id: 'database-connection-limit',
    severity: 'warning',
    subject: SERVER,
    fact: `database ${quoted(server.database)} may have ${formatCounted(databaseSessions.limit, 'session')}, and has ${databaseSessions.used} (this one included)`,
    consequence: TOO_FEW,
    fix: [`ALTER DATABASE ${quoteIdentifier(server.database)} CONNECTION LIMIT -1;`],
  };
}
