// The publications of a database, and what those that are to be read have in them: all of it follows
// from what decides the replica identities.
// https://www.postgresql.org/docs/current/catalog-pg-publication.html

import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import {
  OPERATIONS,
  type Operation,
  type Publication,
  type Published,
  publishedBy,
} from '../identity/publication.ts';
import type { IdentityFacts } from '../identity/report.ts';
import type { Column } from '../identity/table.ts';
import { unsentGenerated } from '../identity/visible-row.ts';
import { qualifiedSqlName, sqlName } from '../pgoutput/sql-name.ts';
import { canBePublished, isSent, readUserTables, type UserTable } from './user-tables.ts';

export interface ChosenPublication {
  readonly name: string;
  readonly operations: readonly Operation[];
  readonly allTables: boolean;
  readonly tables: number;
  /** Partitions whose rows come under their own names. */
  readonly leaves: number;
  /** Columns as `schema.table.column`, quoted as in SQL. */
  readonly unsent: { readonly stored: readonly string[]; readonly virtual: readonly string[] };
}

/** Names as in SQL, quoted where they need it; `names` may be the first few. */
export interface Tables {
  readonly names: readonly string[];
  readonly count: number;
}

export interface PublicationFacts {
  /** Names of all of them. */
  readonly existing: readonly string[];
  /** Those that are to be read, as far as they exist. */
  readonly chosen: readonly ChosenPublication[];
  /** Asked for, and not there. */
  readonly missing: readonly string[];
  /** Tables of users that none of the chosen publishes. */
  readonly unpublished: Tables;
  /** Those that the first of the chosen can take without an UPDATE or DELETE of the application failing. */
  readonly unpublishedSafe: Tables;
  /** Those that a new publication can take so. */
  readonly publishable: Tables;
  readonly userTables: number;
}

/** `facts` are of all tables. */
export async function readPublications(
  query: RunQuery,
  server: ServerSummary,
  facts: IdentityFacts,
  asked: readonly string[],
): Promise<PublicationFacts> {
  const all = facts.publications;
  const tables = await readUserTables(query, server, facts);
  const chosen = choose(asked, all);
  const [first] = chosen;
  // without a choice, which tables are left out cannot be said
  const unpublished = first ? tables.filter((each) => !isSent(each, chosen, facts)) : [];
  const created = newPublication(server);
  return {
    existing: all.map(({ name }) => name),
    chosen: chosen.map((publication) => contentOf(publication, facts)),
    missing: asked.filter((name) => all.every((each) => each.name !== name)),
    unpublished: listOf(unpublished),
    unpublishedSafe: listOf(unpublished.filter((each) => first && canBePublished(each, first))),
    publishable: listOf(tables.filter((each) => canBePublished(each, created))),
    userTables: tables.length,
  };
}

/** As the tail does: without a name, the only one there is. */
function choose(asked: readonly string[], all: readonly Publication[]): readonly Publication[] {
  if (asked.length > 0) return all.filter(({ name }) => asked.includes(name));
  return all.length === 1 ? all : [];
}

const FIRST_WITH_PUBLISHED_GENERATED_COLUMNS = 18;

/** As CREATE PUBLICATION makes it unless it is told otherwise. */
function newPublication({ major }: ServerSummary): Publication {
  return {
    name: '',
    allTables: false,
    operations: OPERATIONS,
    viaRoot: false,
    generated: major >= FIRST_WITH_PUBLISHED_GENERATED_COLUMNS ? false : undefined,
    members: new Map(),
    schemas: new Set(),
  };
}

/** Far more than are shown. */
const MOST_NAMES = 20;

const listOf = (tables: readonly UserTable[]): Tables => ({
  names: tables.slice(0, MOST_NAMES).map(({ table }) => qualifiedSqlName(table)),
  count: tables.length,
});

function contentOf(publication: Publication, facts: IdentityFacts): ChosenPublication {
  const { name, operations, allTables, viaRoot } = publication;
  const sent = sentAs(publication, facts);
  return {
    name,
    operations,
    allTables,
    tables: sent.length,
    leaves: viaRoot ? 0 : sent.filter(({ as }) => as.ancestors.length > 0).length,
    unsent: { stored: unsentOf(sent, 'stored'), virtual: unsentOf(sent, 'virtual') },
  };
}

/** Each table once by whose name rows are sent; a partitioned one is such a table only as a root. */
function sentAs(publication: Publication, { tables }: IdentityFacts): readonly Published[] {
  const sources = [...tables.values()].filter(
    ({ partitioned }) => !partitioned || publication.viaRoot,
  );
  const sent = sources.flatMap((table) => publishedBy(table, [publication], tables));
  return [...new Map(sent.map((published) => [published.as.id, published])).values()];
}

/** Before 18 a generated column is never sent; from then on if the publication says so. */
function unsentOf(sent: readonly Published[], kind: Column['generated']): readonly string[] {
  return sent
    .flatMap((published) =>
      unsentGenerated(published.as, published)
        .filter(({ generated }) => generated === kind)
        .map(({ name }) => `${qualifiedSqlName(published.as)}.${sqlName(name)}`),
    )
    .toSorted();
}
