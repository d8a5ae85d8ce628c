// Looks at the replica identities of a test's database, as the command does.

import { withCatalog } from '../../src/catalog/catalog-connection.ts';
import { readServerSummary } from '../../src/catalog/server-summary.ts';
import { parseTablePattern } from '../../src/changes/table-pattern.ts';
import type { Finding } from '../../src/findings/finding.ts';
import { type IdentityReport, readIdentities } from '../../src/identity/report.ts';
import type { TableIdentity } from '../../src/identity/table-identity.ts';
import type { TestDatabase } from '../support/server.ts';

export interface Look {
  readonly publications?: readonly string[];
  readonly tables?: readonly string[];
}

export function identitiesOf(
  database: Pick<TestDatabase, 'connection'>,
  { publications = [], tables = [] }: Look = {},
): Promise<IdentityReport> {
  const wishes = tables.map((text) => ({ text, pattern: parseTablePattern(text)! }));
  return withCatalog(database.connection, async (query) => {
    const server = await readServerSummary(query);
    return await readIdentities(query, server, { publications, tables: wishes });
  });
}

/** The one finding of that kind. */
export function findingOf({ findings }: IdentityReport, id: string): Finding {
  const found = findings.filter((finding) => finding.id === id);
  if (found.length !== 1) {
    throw new Error(`${found.length} findings ${id} among ${findings.map((each) => each.id)}`);
  }
  return found[0]!;
}

/** Of those that need attention. */
export const problemsOf = ({ findings }: IdentityReport): readonly string[] =>
  findings.filter(({ severity }) => severity !== 'info').map(({ id }) => id);

export function tableOf({ tables }: IdentityReport, name: string): TableIdentity {
  const found = tables.find(({ table }) => table.name === name);
  if (found === undefined) throw new Error(`no table ${name}`);
  return found;
}

/** Runs what a finding says to run, as somebody would who copies it. */
export async function applyFix(
  database: Pick<TestDatabase, 'sql'>,
  { fix }: Finding,
): Promise<void> {
  for (const statement of fix) await database.sql(statement);
}

/** What the server says to the application; undefined: it does it. */
export async function refusal(
  database: Pick<TestDatabase, 'sql'>,
  statement: string,
): Promise<string | undefined> {
  try {
    await database.sql(statement);
    return undefined;
  } catch (error) {
    const { message, detail } = error as Error & { readonly detail?: string }; // pg's own
    return [message, detail].filter(Boolean).join(': ');
  }
}
