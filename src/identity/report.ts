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
  /** Worst first. */
  readonly findings: readonly Finding[];
  /** Keys of a table that this role may not read of some. */
  readonly unreadable: readonly string[];
}

const EVERYTHING: IdentityScope = { publications: [], tables: [] };

/**
 * Needs no privilege but CONNECT: catalogs are open to everybody, and statistics are left out.
 * @throws PgtailError if a publication or a table of the scope does not exist
 */
export async function readIdentities(
  query: RunQuery,
  server: ServerSummary,
  scope: IdentityScope = EVERYTHING,
  measure?: MeasurePrices,
): Promise<IdentityReport> {
  const publications = await readPublications(query, server);
  const outlines = new Map((await readOutlines(query, server)).map((each) => [each.id, each]));
  const wanted = inScope(outlines, publications, scope);
  const ids = new Set(wanted.flatMap(({ id, ancestors }) => [id, ...ancestors]));
  const read = await readTables(
    query,
    server,
    [...outlines.values()].filter(({ id }) => ids.has(id)),
  );
  const tables = new Map(read.map((table) => [table.id, table]));
  const shown = wanted.map(({ id }) => tables.get(id)).filter((table) => table !== undefined);
  const days = await readDaysCounted(query, server);
  const measured = (await measure?.(shown)) ?? new Map<number, Measurement>();
  const facts = { publications, tables, asked: scope.publications, days, measured };
  return identityReport(
    server,
    scope,
    shown.map((table) => tableIdentity(table, facts)),
  );
}

function identityReport(
  server: ServerSummary,
  scope: IdentityScope,
  tables: readonly TableIdentity[],
): IdentityReport {
  const isHidden = tables.some(
    ({ table, price }) => !table.partitioned && price.unknown === 'not readable',
  );
  return {
    server,
    scope,
    tables,
    findings: identityFindings(tables),
    unreadable: isHidden ? ['full_price.bytes'] : [],
  };
}

function inScope(
  outlines: ReadonlyMap<number, TableOutline>,
  publications: readonly Publication[],
  scope: IdentityScope,
): readonly TableOutline[] {
  const asked = scope.publications.map((name) => named(name, publications));
  const all = [...outlines.values()];
  const published =
    asked.length === 0
      ? all
      : all.filter((table) =>
          asked.some((publication) => publishedAs(publication, table, outlines) !== undefined),
        );
  for (const wish of scope.tables) checkFound(wish, published, scope);
  const patterns = scope.tables.map(({ pattern }) => pattern);
  return published.filter((table) => isWanted(table, outlines, patterns));
}

function named(name: string, publications: readonly Publication[]): Publication {
  const publication = publications.find((each) => each.name === name);
  if (publication !== undefined) return publication;
  const names = publications.map((each) => JSON.stringify(each.name)).join(', ');
  throw new PgtailError(EXIT.notReady, `publication ${JSON.stringify(name)} does not exist`, {
    hint: names === '' ? 'this database has no publication' : `this database has ${names}`,
  });
}

function checkFound(
  { text, pattern }: TableWish,
  tables: readonly TableOutline[],
  { publications }: IdentityScope,
): void {
  if (pattern.excludes || tables.some((table) => isSelected(table, [pattern]))) return;
  const where = publications.length === 0 ? '' : ` in ${publications.join(', ')}`;
  throw new PgtailError(EXIT.notReady, `no table${where} is ${JSON.stringify(text)}`, {
    hint: 'pgtail identity without a table lists them; * and ? match any, and a database is -d NAME',
  });
}

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
