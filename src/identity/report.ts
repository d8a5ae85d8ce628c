// The replica identities of a database, or of some of its tables, as they are at one moment.

import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { isSelected, type TablePattern } from '../changes/table-pattern.ts';
import { EXIT, PgtailError } from '../errors.ts';
import type { Finding } from '../findings/finding.ts';
import { identityFindings } from './findings.ts';
import type { Measurement } from './full-price.ts';
import { type Publication, publishedAs } from './publication.ts';
import { readPublications } from './read-publications.ts';
import { readDaysCounted, readOutlines, readTables } from './read-tables.ts';
import type { Table, TableOutline } from './table.ts';
import { type TableIdentity, tableIdentity } from './table-identity.ts';

export interface TableWish {
  /** As typed, for messages. */
  readonly text: string;
  readonly pattern: TablePattern;
}

export interface IdentityScope {
  /** Only tables of these; none: whether they are published or not. */
  readonly publications: readonly string[];
  /** None: all. A partition of a table that is wanted is wanted too. */
  readonly tables: readonly TableWish[];
}

/** Measures what FULL would cost for some tables, by their ids. */
export type MeasurePrices = (tables: readonly Table[]) => Promise<ReadonlyMap<number, Measurement>>;

export interface IdentityReport {
  readonly server: ServerSummary;
  readonly scope: IdentityScope;
  /** By name. */
  readonly tables: readonly TableIdentity[];
  /** What was asked for, as typed, and no table is; others were found. */
  readonly notFound: readonly string[];
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** Keys of a table that this role may not read of some. */
  readonly unreadable: readonly string[];
}

const EVERYTHING: IdentityScope = { publications: [], tables: [] };

/** What a database has, as far as it decides what is sent of an old row. */
export interface IdentityFacts {
  /** All of them. */
  readonly publications: readonly Publication[];
  /** Every table, by id. */
  readonly outlines: ReadonlyMap<number, TableOutline>;
  /** Those of a scope with what they are partitions of, by id. */
  readonly tables: ReadonlyMap<number, Table>;
  /** Since the counters of changes began, as far as known. */
  readonly days: number | undefined;
}

/**
 * Needs no privilege but CONNECT: catalogs are open to everybody, and statistics are left out.
 * @throws PgtailError if a publication of the scope, or all that it wants of tables, does not exist
 */
export async function readIdentities(
  query: RunQuery,
  server: ServerSummary,
  scope: IdentityScope = EVERYTHING,
  measure?: MeasurePrices,
): Promise<IdentityReport> {
  const facts = await readIdentityFacts(query, server, scope);
  return identityReport(server, facts, scope, await measure?.(tablesInScope(facts, scope)));
}

/**
 * A few queries, however many tables there are.
 * @throws PgtailError if a publication or a table of the scope does not exist
 */
export async function readIdentityFacts(
  query: RunQuery,
  server: ServerSummary,
  scope: IdentityScope = EVERYTHING,
): Promise<IdentityFacts> {
  const publications = await readPublications(query, server);
  const outlines = byId(await readOutlines(query, server));
  const wanted = inScope({ publications, outlines }, scope);
  const ids = new Set(wanted.outlines.flatMap(({ id, ancestors }) => [id, ...ancestors]));
  const toRead = [...outlines.values()].filter(({ id }) => ids.has(id));
  const tables = byId(await readTables(query, server, toRead));
  return { publications, outlines, tables, days: await readDaysCounted(query, server) };
}

const byId = <T extends TableOutline>(tables: readonly T[]): ReadonlyMap<number, T> =>
  new Map(tables.map((table) => [table.id, table]));

/**
 * The scope may be smaller than that which the facts were read for.
 * @throws PgtailError if a publication or a table of it does not exist
 */
export function identityReport(
  server: ServerSummary,
  facts: IdentityFacts,
  scope: IdentityScope,
  measured: ReadonlyMap<number, Measurement> = new Map(),
): IdentityReport {
  const asked = scope.publications;
  const found = inScope(facts, scope);
  const tables = tablesOf(facts, found).map((table) =>
    tableIdentity(table, { ...facts, asked, measured }),
  );
  const isHidden = tables.some(
    ({ table, price }) => !table.partitioned && price.unknown === 'not readable',
  );
  return {
    server,
    scope,
    tables,
    notFound: found.notFound,
    findings: identityFindings(tables),
    unreadable: isHidden ? ['full_price.bytes'] : [],
  };
}

function tablesInScope(facts: IdentityFacts, scope: IdentityScope): readonly Table[] {
  return tablesOf(facts, inScope(facts, scope));
}

const tablesOf = (facts: IdentityFacts, { outlines }: InScope): readonly Table[] =>
  outlines.map(({ id }) => facts.tables.get(id)).filter((table) => table !== undefined);

type Catalogued = Pick<IdentityFacts, 'publications' | 'outlines'>;

interface InScope {
  readonly outlines: readonly TableOutline[];
  /** As typed. */
  readonly notFound: readonly string[];
}

/** @throws PgtailError if there is none of all tables that the scope names */
function inScope(facts: Catalogued, scope: IdentityScope): InScope {
  const published = publishedIn(facts, scope);
  const including = scope.tables.filter(({ pattern }) => !pattern.excludes);
  const notFound = including
    .filter(({ pattern }) => !isAnyOf(published, pattern))
    .map(({ text }) => text);
  const [missing] = notFound;
  if (missing !== undefined && notFound.length === including.length) throw noTable(missing, scope);
  const patterns = scope.tables.map(({ pattern }) => pattern);
  return {
    outlines: published.filter((table) => isWanted(table, facts.outlines, patterns)),
    notFound,
  };
}

/** @throws PgtailError if a publication of the scope does not exist */
function publishedIn(
  { publications, outlines }: Catalogued,
  scope: IdentityScope,
): readonly TableOutline[] {
  const asked = scope.publications.map((name) => named(name, publications));
  const all = [...outlines.values()];
  if (asked.length === 0) return all;
  return all.filter((table) =>
    asked.some((publication) => publishedAs(publication, table, outlines) !== undefined),
  );
}

const isAnyOf = (tables: readonly TableOutline[], pattern: TablePattern): boolean =>
  tables.some((table) => isSelected(table, [pattern]));

function named(name: string, publications: readonly Publication[]): Publication {
  const publication = publications.find((each) => each.name === name);
  if (publication !== undefined) return publication;
  const names = publications.map((each) => JSON.stringify(each.name)).join(', ');
  throw new PgtailError(EXIT.notReady, `publication ${JSON.stringify(name)} does not exist`, {
    hint: names === '' ? 'this database has no publication' : `this database has ${names}`,
  });
}

function noTable(text: string, { publications }: IdentityScope): PgtailError {
  const where = publications.length === 0 ? '' : ` in ${publications.join(', ')}`;
  const hint =
    'pgtail identity without a table lists them; * and ? match any, and a database is -d NAME';
  return new PgtailError(EXIT.notReady, `no table${where} is ${JSON.stringify(text)}`, {
    hint: mistakesQuotes(text) ? HOW_QUOTES_COUNT : hint,
  });
}

export const HOW_QUOTES_COUNT =
  'letters without quotes are folded to lower case, as in SQL, and * and ? in quotes are letters: "Odd"* has both';

/** It means another name than it seems to. */
export const mistakesQuotes = (pattern: string): boolean =>
  /[A-Z]/.test(pattern.replaceAll(/"[^"]*"/g, '')) || /"[^"]*[*?][^"]*"/.test(pattern);

function isWanted(
  table: TableOutline,
  outlines: ReadonlyMap<number, TableOutline>,
  patterns: readonly TablePattern[],
): boolean {
  const excluding = patterns.filter(({ excludes }) => excludes);
  if (!isSelected(table, excluding)) return false;
  const lineage = [table, ...table.ancestors.map((id) => outlines.get(id))];
  return lineage.some((each) => each !== undefined && isSelected(each, patterns));
}
