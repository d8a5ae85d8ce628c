// The replica identities of the published tables: what fails in the application, or cannot be told
// apart by a consumer. What is only good to know is left to `pgtail identity`.
// https://www.postgresql.org/docs/current/logical-replication-publication.html

import type { Finding } from '../../findings/finding.ts';
import { formatCounted } from '../../format/quantities.ts';
import { type Check, check, SERVER } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';

/** Undefined: it is not clear which tables are meant. */
export function identityCheck({ identities }: Pick<DoctorFacts, 'identities'>): Check | undefined {
  if (identities === undefined) return undefined;
  const { tables, findings } = identities;
  const grave = findings.filter(({ severity }) => severity !== 'info');
  const fact = `the replica ${tables.length === 1 ? 'identity' : 'identities'} of ${formatCounted(tables.length, 'published table')}`;
  return check('replica-identity', SERVER, fact, ...withoutTheMany(grave));
}

/** Of thousands of tables with the same trouble the first few are enough to see it. */
const MOST_ALIKE = 10;

function withoutTheMany(findings: readonly Finding[]): readonly Finding[] {
  const kinds = [...new Set(findings.map(({ id }) => id))];
  return kinds.flatMap((kind) => {
    const alike = findings.filter(({ id }) => id === kind);
    const [first] = alike;
    if (first === undefined || alike.length <= MOST_ALIKE) return alike;
    const more = alike.length - MOST_ALIKE;
    const rest: Finding = {
      ...first,
      subject: SERVER,
      fact: `${formatCounted(more, 'more table')} with the same trouble (${kind})`,
      fix: ['pgtail identity'],
    };
    return [...alike.slice(0, MOST_ALIKE), rest];
  });
}
