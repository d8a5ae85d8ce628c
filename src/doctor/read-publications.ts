// The publications of a database, and what those that are to be read have in them: all of it follows
// from what decides the replica identities.
// https://www.postgresql.org/docs/current/catalog-pg-publication.html

import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { effectiveIdentity } from '../identity/effective-identity.ts';
import { failuresUnder } from '../identity/failure.ts';
import {
  OPERATIONS,
  type Operation,
  type Publication,
  type Published,
  publishedAs,
  publishedBy,
} from '../identity/publication.ts';
import type { IdentityFacts } from '../identity/report.ts';
import { extendColumnList, memberName } from '../identity/statements.ts';
import type { Column, Table, TableOutline } from '../identity/table.ts';
import { unsentGenerated } from '../identity/visible-row.ts';
import { qualifiedSqlName, sqlName } from '../pgoutput/sql-name.ts';
import {
  canBePublished,
  isSent,
  readUserTables,
  refusingTables,
  type UserTable,
} from './user-tables.ts';

export interface ChosenPublication {
  readonly name: string;
  readonly operations: readonly Operation[];
  readonly allTables: boolean;
  readonly tables: number;
  readonly viaRoot: boolean;
  /** Tables of users that it lacks and can take without an UPDATE or DELETE of the application failing. */
  readonly addable: Tables;
  /** How many others it lacks. */
  readonly notAddable: number;
  readonly partitions: PublishedPartitions;
  readonly unsent: { readonly stored: UnsentColumns; readonly virtual: UnsentColumns };
}

/** Partitions whose rows come under their own names. */
export interface PublishedPartitions {
  readonly count: number;
  /** Whether publish_via_partition_root gives some of them another name as they are published now. */
  readonly underRoot: boolean;
  /** Roots that must be published for the others, as ADD TABLE takes them. */
  readonly roots: readonly string[];
  /** Such as would make UPDATE and DELETE of some of their partitions fail. */
  readonly unsafeRoots: readonly string[];
  /** Whether some have a row filter or a column list, which under the name of a root does not count. */
  readonly narrowed: boolean;
}

/** Columns that are left out of what is sent. */
export interface UnsentColumns {
  /** As `schema.table.column`, quoted as in SQL. */
  readonly names: readonly string[];
  /** Whether a setting of the publication left some of them out, not a column list. */
  readonly bySetting: boolean;
  /** What adds the others to the column lists that lack them. */
  readonly extendLists: readonly string[];
}

/** `names` may be the first few. */
export interface Tables {
  /** As in SQL, quoted where they need it. */
  readonly names: readonly string[];
  /** The same as members of a publication: ADD TABLE and FOR TABLE take them. */
  readonly members: readonly string[];
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
  /** Tables, also of extensions, that would refuse UPDATE and DELETE in one FOR ALL TABLES. */
  readonly refusing: number;
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
    chosen: chosen.map((publication) => contentOf(publication, facts, tables)),
    missing: asked.filter((name) => all.every((each) => each.name !== name)),
    unpublished: listOf(unpublished),
    unpublishedSafe: listOf(unpublished.filter((each) => first && canBePublished(each, first))),
    publishable: listOf(tables.filter((each) => canBePublished(each, created))),
    refusing: refusingTables(facts, created).length,
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

function listOf(tables: readonly UserTable[]): Tables {
  const shown = tables.slice(0, MOST_NAMES).map(({ table }) => table);
  return {
    names: shown.map(qualifiedSqlName),
    members: shown.map(memberName),
    count: tables.length,
  };
}

function contentOf(
  publication: Publication,
  facts: IdentityFacts,
  userTables: readonly UserTable[],
): ChosenPublication {
  const { name, operations, allTables, viaRoot } = publication;
  const sent = sentAs(publication, facts);
  const lacking = userTables.filter((each) => !isSent(each, [publication], facts));
  const addable = lacking.filter((each) => canBePublished(each, publication));
  return {
    name,
    operations,
    allTables,
    tables: sent.length,
    viaRoot,
    addable: listOf(addable),
    notAddable: lacking.length - addable.length,
    partitions: partitionsOf(
      publication,
      sent.map(({ as }) => as),
      facts,
      userTables,
    ),
    unsent: { stored: unsentOf(sent, 'stored'), virtual: unsentOf(sent, 'virtual') },
  };
}

/** `sent` are the tables that rows are sent as. */
function partitionsOf(
  publication: Publication,
  sent: readonly Table[],
  { outlines }: IdentityFacts,
  userTables: readonly UserTable[],
): PublishedPartitions {
  const viaRoot = { ...publication, viaRoot: true };
  const underRoot = (table: TableOutline) => publishedAs(viaRoot, table, outlines)!;
  const partitions = sent.filter(({ ancestors }) => ancestors.length > 0);
  const missing = new Set(
    partitions
      .filter((table) => underRoot(table) !== table.ancestors.at(-1))
      .map(({ ancestors }) => ancestors.at(-1)!),
  );
  const isSafe = (id: number): boolean =>
    userTables.some((each) => each.table.id === id && canBePublished(each, viaRoot));
  const named = (ids: readonly number[]): readonly string[] =>
    ids.map((id) => qualifiedSqlName(outlines.get(id)!)).toSorted();
  return {
    count: partitions.length,
    underRoot: partitions.some((table) => underRoot(table) !== table.id),
    roots: named([...missing].filter(isSafe)),
    narrowed: partitions.some(({ id }) => isNarrowed(publication, id)),
    unsafeRoots: named([...missing].filter((id) => !isSafe(id))),
  };
}

function isNarrowed({ members }: Publication, table: number): boolean {
  const member = members.get(table);
  return member?.filter !== undefined || member?.columns !== undefined;
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
function unsentOf(sent: readonly Published[], kind: Column['generated']): UnsentColumns {
  const lacking = sent
    .map((published) => ({ published, columns: unsentNames(published, kind) }))
    .filter(({ columns }) => columns.length > 0);
  const listed = lacking.filter(({ published }) => published.member?.columns !== undefined);
  return {
    names: lacking
      .flatMap(({ published: { as }, columns }) =>
        columns.map((name) => `${qualifiedSqlName(as)}.${sqlName(name)}`),
      )
      .toSorted(),
    bySetting: listed.length < lacking.length,
    extendLists: listed
      .filter(({ published }) => !lacksIdentity(published))
      .map(({ published, columns }) => extendedAtOnce(published, columns)),
  };
}

/** Its list is to be extended by an identity first, which a list without that would undo. */
const lacksIdentity = (published: Published): boolean =>
  failuresUnder(effectiveIdentity(published.as), published.as, [published]).some(
    ({ reason }) => reason === 'column-list',
  );

const unsentNames = (published: Published, kind: Column['generated']): readonly string[] =>
  unsentGenerated(published.as, published)
    .filter(({ generated }) => generated === kind)
    .map(({ name }) => name);

/** Between the two statements nothing of the table would be sent. */
const extendedAtOnce = (published: Published, missing: readonly string[]): string =>
  `BEGIN; ${extendColumnList(published, missing).join(' ')} COMMIT;`;
