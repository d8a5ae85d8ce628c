// The encoding of the database: whether the server can send its text as UTF8.
// https://www.postgresql.org/docs/current/multibyte.html

import type { Finding } from '../../findings/finding.ts';
import { type Check, check, quoted, SERVER } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';

type EncodingFacts = Pick<DoctorFacts, 'request' | 'server' | 'state'>;

export function encodingCheck(facts: EncodingFacts): Check {
  const { request, state } = facts;
  const readAs = request.encoding === undefined ? '' : `, read as ${request.encoding}`;
  const fact = `the database is in ${state.encoding}${readAs}`;
  return check('encoding', SERVER, fact, sqlAscii(facts));
}

function sqlAscii({ request, server, state }: EncodingFacts): Finding | undefined {
  if (state.encoding !== 'SQL_ASCII' || request.encoding !== undefined) return undefined;
  return {
    id: 'sql-ascii',
    severity: 'warning',
    subject: SERVER,
    fact: `database ${quoted(server.database)} is in SQL_ASCII: its text may be any bytes`,
    consequence: 'a value that is not UTF-8 ends the stream with 22021, again at each try',
    fix: [
      'export PGTAIL_ENCODING=LATIN1 # or --encoding with what the applications write; LATIN1 takes any bytes',
    ],
  };
}
