// What `pgtail doctor` says: everything that was looked at, and of that what needs attention.

import type { RunQuery } from '../catalog/catalog-connection.ts';
import { readServerSummary, type ServerSummary } from '../catalog/server-summary.ts';
import { type Finding, worstFirst } from '../findings/finding.ts';
import { type IdentityFacts, identityReport, readIdentityFacts } from '../identity/report.ts';
import { quoteIdentifier } from '../pgoutput/quote-identifier.ts';
import { readSlotSettings, readSlots } from '../slots/read-slots.ts';
import type { Check, Unreadable } from './check.ts';
import { allChecks } from './checks/all.ts';
import type { DoctorFacts, DoctorRequest } from './facts.ts';
import { LIMITS, type Limits } from './limits.ts';
import { readAccess } from './read-access.ts';
import { type PublicationFacts, readPublications } from './read-publications.ts';
import { readRole } from './read-role.ts';
import { readServerState } from './read-server.ts';
import { readTransactions } from './read-transactions.ts';
import { readSettings } from './settings.ts';

export interface DoctorReport {
  readonly request: DoctorRequest;
  readonly server: ServerSummary;
  /** Names of those that are read, or would be. */
  readonly publications: readonly string[];
  readonly checks: readonly Check[];
  /** Worst first. */
  readonly findings: readonly Finding[];
  readonly unreadable: readonly Unreadable[];
}

/** `query` is an ordinary connection's; a replication connection is made and closed again. */
export async function readDoctorReport(
  query: RunQuery,
  request: DoctorRequest,
  limits = LIMITS,
): Promise<DoctorReport> {
  return doctorReport(await readFacts(query, request), limits);
}

async function readFacts(query: RunQuery, request: DoctorRequest): Promise<DoctorFacts> {
  const server = await readServerSummary(query);
  const slots = await readSlots(query, server);
  const identities = await readIdentityFacts(query, server);
  const publications = await readPublications(query, server, identities, request.publications);
  return {
    request,
    server,
    settings: await readSettings(query),
    state: await readServerState(query, server),
    role: await readRole(query, server),
    publications,
    identities: publishedIdentities(server, identities, publications),
    transactions: await readTransactions(query, server),
    slotSettings: await readSlotSettings(query),
    slots,
    slot: slots.find(({ name }) => name === request.slot),
    // last: what is in use is counted without it
    access: await readAccess(query, request.connection),
  };
}

function publishedIdentities(
  server: ServerSummary,
  facts: IdentityFacts,
  { chosen }: PublicationFacts,
): DoctorFacts['identities'] {
  if (chosen.length === 0) return undefined;
  const publications = chosen.map(({ name }) => name);
  return identityReport(server, facts, { publications, tables: [] });
}

export function doctorReport(facts: DoctorFacts, limits: Limits): DoctorReport {
  const checks = allChecks(facts, limits);
  return {
    request: facts.request,
    server: facts.server,
    publications: facts.publications.chosen.map(({ name }) => name),
    checks,
    findings: worstFirst(checks.flatMap(({ findings }) => findings)),
    unreadable: unreadableOf(facts),
  };
}

function unreadableOf(facts: DoctorFacts): readonly Unreadable[] {
  const { server, role, slot, transactions, state } = facts;
  const to = quoteIdentifier(role.loginRole);
  const monitor = `GRANT pg_monitor TO ${to};`;
  return [
    ...(slot?.reader?.readable === false
      ? [{ what: 'from where the slot is being read, and its lag in time', grant: monitor }]
      : []),
    ...(transactions.hidden > 0
      ? [{ what: 'since when transactions of other roles are open', grant: monitor }]
      : []),
    ...(state.hbaErrors === undefined
      ? [
          {
            what: 'pg_hba.conf',
            grant: `GRANT SELECT ON pg_hba_file_rules TO ${to}; GRANT EXECUTE ON FUNCTION pg_hba_file_rules() TO ${to};`,
          },
        ]
      : []),
    ...(server.inRecovery ? [{ what: 'wal_level of the primary, which must be logical' }] : []),
  ];
}
