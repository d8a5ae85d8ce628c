// The replica identities of the published tables: what fails in the application, or cannot be told
// apart by a consumer. What is only good to know is left to `pgtail identity`.
// https://www.postgresql.org/docs/current/logical-replication-publication.html

import { formatCounted } from '../../format/quantities.ts';
import { type Check, check, SERVER } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';

/** Undefined: it is not clear which tables are meant. */
export function identityCheck({ identities }: Pick<DoctorFacts, 'identities'>): Check | undefined {
  if (identities === undefined) return undefined;
  const { tables, findings } = identities;
  const grave = findings.filter(({ severity }) => severity !== 'info');
  const fact = `the replica ${tables.length === 1 ? 'identity' : 'identities'} of ${formatCounted(tables.length, 'published table')}`;
  return check('replica-identity', SERVER, fact, ...grave);
}
