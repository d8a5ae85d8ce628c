// The publications: whether those asked for are there, and what of the database they leave out.
// https://www.postgresql.org/docs/current/logical-replication-publication.html

import type { Finding, FindingSubject } from '../../findings/finding.ts';
import { formatCount, formatCounted } from '../../format/quantities.ts';
import { OPERATIONS } from '../../identity/publication.ts';
import { sentence } from '../../identity/statements.ts';
import { quoteIdentifier } from '../../pgoutput/quote-identifier.ts';
import { type Check, check, listed, quoted, SERVER } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';
import type {
  ChosenPublication,
  PublicationFacts,
  PublishedPartitions,
  Tables,
  UnsentColumns,
} from '../read-publications.ts';
import { shellWord } from '../shell.ts';

type PublicationCheckFacts = Pick<DoctorFacts, 'request' | 'server' | 'role' | 'publications'>;

const subjectOf = (name: string): FindingSubject => ({ kind: 'publication', name });

const FIRST_WITH_TRUNCATE = 11;
const FIRST_WITH_VIA_ROOT = 13;
const FIRST_WITH_PUBLISHED_GENERATED_COLUMNS = 18;

/** Whether it is clear what is to be read, and then each of it. */
export function publicationChecks(facts: PublicationCheckFacts): readonly Check[] {
  const { publications } = facts;
  const choice = check(
    'publications',
    SERVER,
    `${formatCounted(publications.existing.length, 'publication')} in the database`,
    noPublication(facts),
    severalPublications(facts),
    ...publications.missing.map((name) => missing(name, facts)),
  );
  const each = publications.chosen.map((publication) => publicationCheck(publication, facts));
  return publications.chosen.length === 0 ? [choice] : [choice, ...each, unpublishedCheck(facts)];
}

function noPublication(facts: PublicationCheckFacts): Finding | undefined {
  const { request, publications, server } = facts;
  if (request.publications.length > 0 || publications.existing.length > 0) return undefined;
  return {
    id: 'no-publication',
    severity: 'error',
    subject: SERVER,
    fact: `database ${quoted(server.database)} has no publication`,
    consequence: 'without one nothing is sent',
    fix: [createPublication('pgtail', facts)],
  };
}

function severalPublications({
  request,
  publications,
  server,
}: PublicationCheckFacts): Finding | undefined {
  const { existing } = publications;
  if (request.publications.length > 0 || existing.length < 2) return undefined;
  return {
    id: 'several-publications',
    severity: 'error',
    subject: SERVER,
    fact: `database ${quoted(server.database)} has several publications: ${listed(existing.map(quoted))}`,
    consequence: 'which of them is to be read must be said',
    fix: [`export PGTAIL_PUBLICATION=${shellWord(existing[0]!)} # or name one or more with -P`],
  };
}

function missing(name: string, facts: PublicationCheckFacts): Finding {
  const { publications, server } = facts;
  const others =
    publications.existing.length === 0
      ? 'it has none'
      : `it has ${listed(publications.existing.map(quoted))}`;
  return {
    id: 'publication-missing',
    severity: 'error',
    subject: subjectOf(name),
    fact: `publication ${quoted(name)} does not exist in database ${quoted(server.database)}: ${others}`,
    consequence: 'nothing is sent, and changes from before it is made are never sent through it',
    fix: [createPublication(name, facts)],
  };
}

/** Published, a table without a replica identity refuses UPDATE and DELETE: only those that have one. */
function createPublication(name: string, { publications, role }: PublicationCheckFacts): string {
  const { publishable, refusing } = publications;
  const { members, count } = publishable;
  const create = `CREATE PUBLICATION ${quoteIdentifier(name)}`;
  const who = role.mayCreate ? [] : ['as a role with CREATE on the database'];
  const unsafe = unsafeOf(publications);
  const isMany = count === 0 || count > members.length;
  if (isMany && unsafe === 0 && refusing === 0) {
    return withNotes(`${create} FOR ALL TABLES;`, ['as a superuser', allLater(count)]);
  }
  if (count === 0) {
    return withNotes(`${create};`, [
      ...who,
      'and ALTER PUBLICATION … ADD TABLE …',
      ...leftOut(unsafe),
    ]);
  }
  const notes = [...who, ...more(publishable), ...leftOut(unsafe)];
  return withNotes(`${create} FOR TABLE ${members.join(', ')};`, notes);
}

const allLater = (tables: number): string =>
  tables === 0
    ? 'there is no table yet, and each that is made later without a primary key refuses UPDATE and DELETE'
    : 'a table made later without a primary key refuses UPDATE and DELETE';

const unsafeOf = ({ userTables, publishable }: PublicationFacts): number =>
  userTables - publishable.count;

const withNotes = (statement: string, notes: readonly string[]): string =>
  notes.length === 0 ? statement : `${statement} -- ${notes.join('; ')}`;

/** How many are not among the names. */
const more = ({ members, count }: Tables): readonly string[] =>
  count > members.length ? [`${formatCount(count - members.length)} more`] : [];

/** Which tables are not among them, and why. */
const leftOut = (unsafe: number): readonly string[] =>
  unsafe > 0 ? [`not ${formatCounted(unsafe, 'table')} ${WITHOUT_IDENTITY}`] : [];

const WITHOUT_IDENTITY =
  'without a replica identity, which would refuse UPDATE and DELETE: pgtail identity';

function publicationCheck(publication: ChosenPublication, facts: PublicationCheckFacts): Check {
  const { name, operations, tables, allTables } = publication;
  return check(
    'publication',
    subjectOf(name),
    `publication ${quoted(name)} publishes ${operations.join(', ') || 'nothing'} of ${allTables ? 'all tables, ' : ''}${formatCounted(tables, 'table')}`,
    empty(publication),
    missingOperations(publication, facts),
    partitionsAlone(publication, facts),
    storedUnsent(publication, facts),
    virtualUnsent(publication),
  );
}

function empty(publication: ChosenPublication): Finding | undefined {
  const { name, tables, allTables, addable, notAddable } = publication;
  if (tables > 0) return undefined;
  return {
    id: 'publication-empty',
    severity: 'warning',
    subject: subjectOf(name),
    fact: `publication ${quoted(name)} has no tables`,
    consequence: 'nothing is sent through it',
    fix: [
      allTables || addable.count === 0
        ? `make a table with a primary key${allTables ? '' : ', and add it: ALTER PUBLICATION … ADD TABLE …'}`
        : addTables(name, addable, notAddable),
    ],
  };
}

/** Those without a replica identity would refuse UPDATE and DELETE once they are published. */
function addTables(publication: string, tables: Tables, unsafe: number): string {
  const add = `ALTER PUBLICATION ${quoteIdentifier(publication)} ADD TABLE`;
  return withNotes(`${add} ${tables.members.join(', ')};`, [...more(tables), ...leftOut(unsafe)]);
}

function missingOperations(
  { name, operations }: ChosenPublication,
  { server }: PublicationCheckFacts,
): Finding | undefined {
  const all = OPERATIONS.filter(
    (each) => each !== 'truncate' || server.major >= FIRST_WITH_TRUNCATE,
  );
  const left = all.filter((operation) => !operations.includes(operation));
  if (left.length === 0) return undefined;
  return {
    id: 'publication-operations',
    severity: operations.length === 0 ? 'warning' : 'info',
    subject: subjectOf(name),
    fact: `publication ${quoted(name)} does not publish ${left.join(', ')}`,
    consequence: 'these changes are not sent: a copy kept from the rest is not the table',
    fix: [
      `ALTER PUBLICATION ${quoteIdentifier(name)} SET (publish = '${all.join(', ')}'); -- tables without a replica identity, or with one that a WHERE, a column list or a generated column does not fit, then refuse UPDATE and DELETE`,
    ],
  };
}

function partitionsAlone(
  { name, viaRoot, partitions }: ChosenPublication,
  { server }: PublicationCheckFacts,
): Finding | undefined {
  if (partitions.count === 0 || server.major < FIRST_WITH_VIA_ROOT) return undefined;
  return {
    id: 'partitions-under-own-names',
    severity: 'info',
    subject: subjectOf(name),
    fact: `publication ${quoted(name)} publishes ${formatCounted(partitions.count, 'partition')} under their own names`,
    consequence:
      'a row that moves to another partition is a delete and an insert, and the name of the partitioned table is never seen',
    fix: publishRoots(name, viaRoot, partitions),
  };
}

/** The setting alone does nothing for a partition whose root is not published. */
function publishRoots(
  name: string,
  viaRoot: boolean,
  { underRoot, roots, unsafeRoots, narrowed }: PublishedPartitions,
): readonly string[] {
  const alter = `ALTER PUBLICATION ${quoteIdentifier(name)}`;
  const narrow = narrowed ? [NO_LONGER_NARROW] : [];
  const add = withNotes(`${alter} ADD TABLE ${roots.join(', ')};`, [
    'which sends all of their partitions',
    ...narrow,
  ]);
  const setting = withNotes(`${alter} SET (publish_via_partition_root = true);`, [
    'TRUNCATE of a single partition is not sent then',
    ...narrow,
  ]);
  return [
    ...(roots.length > 0 ? [add] : []),
    ...(!viaRoot && (underRoot || roots.length > 0) ? [setting] : []),
    ...(unsafeRoots.length > 0 ? [sentence(`${listed(unsafeRoots)}: ${NOT_YET}`)] : []),
  ];
}

const NO_LONGER_NARROW = 'row filters and column lists of single partitions do not count then';
const NOT_YET =
  'not before all of their partitions have a replica identity, without which they would refuse UPDATE and DELETE: pgtail identity';

function storedUnsent(
  { name, unsent }: ChosenPublication,
  { server }: PublicationCheckFacts,
): Finding | undefined {
  const { stored } = unsent;
  if (stored.names.length === 0) return undefined;
  return {
    id: 'generated-columns-not-published',
    severity: 'info',
    subject: subjectOf(name),
    fact: `publication ${quoted(name)} does not send generated columns: ${listed(stored.names)}`,
    consequence: 'they are missing from every row',
    fix:
      server.major >= FIRST_WITH_PUBLISHED_GENERATED_COLUMNS
        ? publishStored(name, stored)
        : ['compute them where the changes are read: a server can send them from PostgreSQL 18 on'],
  };
}

/** Where there is a column list, it alone decides. */
function publishStored(name: string, { bySetting, extendLists }: UnsentColumns): readonly string[] {
  const setting = `ALTER PUBLICATION ${quoteIdentifier(name)} SET (publish_generated_columns = stored);`;
  const fix = [...(bySetting ? [setting] : []), ...extendLists];
  return fix.length > 0 ? fix : [sentence(LISTS_FIRST)];
}

const LISTS_FIRST =
  'once the column lists have the columns of the replica identity: see that finding';

function virtualUnsent({ name, unsent }: ChosenPublication): Finding | undefined {
  const { names } = unsent.virtual;
  if (names.length === 0) return undefined;
  return {
    id: 'virtual-columns-not-sent',
    severity: 'info',
    subject: subjectOf(name),
    fact: `virtual generated columns are never sent: ${listed(names)}`,
    consequence: 'they are missing from every row',
    fix: ['compute them where the changes are read, or make them STORED columns'],
  };
}

function unpublishedCheck(facts: PublicationCheckFacts): Check {
  const { unpublished, userTables } = facts.publications;
  const published = userTables - unpublished.count;
  const fact = `${formatCount(published)} of ${formatCounted(userTables, 'table')} published`;
  return check('published-tables', SERVER, fact, unpublishedTables(facts));
}

function unpublishedTables({ publications }: PublicationCheckFacts): Finding | undefined {
  const { unpublished, unpublishedSafe, chosen } = publications;
  if (unpublished.count === 0) return undefined;
  const unsafe = unpublished.count - unpublishedSafe.count;
  const which =
    chosen.length === 1 ? `publication ${quoted(chosen[0]!.name)}` : 'any of these publications';
  return {
    id: 'tables-not-published',
    severity: 'info',
    subject: SERVER,
    fact: `${formatCounted(unpublished.count, 'table')} not in ${which}: ${listed(unpublished.names, unpublished.count)}`,
    consequence: 'their changes are not sent',
    fix: [
      unpublishedSafe.count === 0
        ? `give them a primary key first: they are ${WITHOUT_IDENTITY}`
        : addTables(chosen[0]!.name, unpublishedSafe, unsafe),
    ],
  };
}
