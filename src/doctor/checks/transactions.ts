// What is open for so long that slots wait for it.
// https://www.postgresql.org/docs/current/logicaldecoding-explanation.html

import type { Finding } from '../../findings/finding.ts';
import { formatCounted, formatDuration } from '../../format/quantities.ts';
import { quoteLiteral } from '../../walsender/commands.ts';
import { type Check, check, quoted, SERVER } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';
import type { Limits } from '../limits.ts';
import type { PreparedTransaction, SessionTransaction } from '../read-transactions.ts';

type TransactionFacts = Pick<DoctorFacts, 'transactions'>;

const CONSEQUENCE = 'slots keep all WAL since it began, and a new slot is not ready before it ends';

export function sessionTransactionsCheck(
  { transactions }: TransactionFacts,
  { oldTransaction }: Limits,
): Check {
  const { sessions, hidden } = transactions;
  const unknown = hidden === 0 ? '' : ` (of ${hidden} it cannot be read since when)`;
  const old = sessions.filter(({ age }) => age > oldTransaction);
  return check(
    'open-transactions',
    SERVER,
    `${formatCounted(sessions.length + hidden, 'open transaction')} with changes${unknown}`,
    ...old.map(oldSession),
  );
}

function oldSession(found: SessionTransaction): Finding {
  const { pid, role, application, database, age, state, query } = found;
  const who = application === '' ? `role ${quoted(role)}` : `${application}, role ${quoted(role)}`;
  return {
    id: 'old-transaction',
    severity: 'warning',
    subject: SERVER,
    fact: `PID ${pid} (${who}) has had a transaction open for ${formatDuration(age)}, ${state}${query === '' ? ` in database ${quoted(database)}` : `: ${query}`}`,
    consequence: CONSEQUENCE,
    fix: [`SELECT pg_terminate_backend(${pid}); -- rolls it back: ask its owner to end it first`],
  };
}

export function preparedTransactionsCheck(
  { transactions }: TransactionFacts,
  { oldTransaction }: Limits,
): Check {
  const { prepared } = transactions;
  const old = prepared.filter(({ age }) => age > oldTransaction);
  return check(
    'prepared-transactions',
    SERVER,
    formatCounted(prepared.length, 'prepared transaction'),
    ...old.map(oldPrepared),
  );
}

function oldPrepared({ gid, database, owner, age }: PreparedTransaction): Finding {
  return {
    id: 'old-prepared-transaction',
    severity: 'warning',
    subject: SERVER,
    fact: `transaction ${quoted(gid)} of role ${quoted(owner)} was prepared ${formatDuration(age)} ago and is neither committed nor rolled back`,
    consequence: CONSEQUENCE,
    fix: [
      `COMMIT PREPARED ${quoteLiteral(gid).trim()}; -- in database ${quoted(database)}; or ROLLBACK PREPARED, as its transaction manager has decided`,
    ],
  };
}
