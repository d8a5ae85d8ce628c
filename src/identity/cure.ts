// What mends a table on which UPDATE and DELETE fail: the cheapest identity that suits all its
// publications, or what a publication must give up.

import { qualifiedSqlName, sqlName } from '../pgoutput/sql-name.ts';
import {
  canBeIdentity,
  type EffectiveIdentity,
  effectiveIdentity,
  FULL,
  keyOf,
} from './effective-identity.ts';
import { changesOf, type Failure, failuresUnder } from './failure.ts';
import { type FullPrice, priceText } from './full-price.ts';
import type { Published } from './publication.ts';
import {
  extendColumnList,
  identityClause,
  publishGenerated,
  sentence,
  setIdentity,
} from './statements.ts';
import type { Table } from './table.ts';

export interface CureInput {
  readonly table: Table;
  readonly publishedBy: readonly Published[];
  readonly price: FullPrice;
}

/** Statements, or one sentence (an SQL comment) where none is right for everybody. */
export function cureOf(input: CureInput): readonly string[] {
  const present = effectiveIdentity(input.table);
  const failures = failuresUnder(present, input.table, input.publishedBy);
  // an identity that somebody chose stays, if the publication can simply send more
  return widerPublication(failures, present) ?? betterIdentity(input) ?? advice(input);
}

/** The first of the table's own keys, else FULL, under which nothing fails. */
export function betterIdentity(input: CureInput): readonly string[] | undefined {
  const { table, publishedBy, price } = input;
  const fitting = [...keys(table), FULL].find((identity) =>
    suits(identity, { table, publishedBy }),
  );
  if (fitting === undefined) return undefined;
  const statement = setIdentity(table, fitting);
  return fitting.kind === 'full' ? [`${statement} -- ${priceOf(table, price)}`] : [statement];
}

function priceOf(table: Table, price: FullPrice): string {
  const hasKey = keys(table).length > 0;
  return hasKey ? priceText(price) : `${priceText(price)}; a primary key instead costs less`;
}

/** The primary key first, then those of fewer columns. */
export function keys(table: Table): readonly EffectiveIdentity[] {
  return table.indexes
    .filter((index) => canBeIdentity(table, index))
    .toSorted(
      (a, b) => Number(b.primary) - Number(a.primary) || a.columns.length - b.columns.length,
    )
    .map((index) => keyOf(table, index));
}

/** Undefined: it is not only that the publications leave out what the identity needs. */
function widerPublication(
  failures: readonly Failure[],
  present: EffectiveIdentity,
): readonly string[] | undefined {
  const statements = failures.map((failure) => widened(failure, present));
  return statements.every((each) => each !== undefined)
    ? [...new Set(statements.flat())]
    : undefined;
}

function widened(
  { reason, published, columns }: Failure,
  present: EffectiveIdentity,
): readonly string[] | undefined {
  if (!columns.every((name) => canBePublished(published, name))) return undefined;
  if (reason === 'generated-column') return [publishGenerated(published)];
  const isShort = reason === 'column-list' && present.kind === 'key';
  return isShort ? extendColumnList(published, columns) : undefined;
}

/** Before 18 no generated column can, and a virtual one never. */
function canBePublished({ publication, as }: Published, name: string): boolean {
  const generated = as.columns.find((column) => column.name === name)?.generated;
  if (generated === undefined) return true;
  return generated === 'stored' && publication.generated !== undefined;
}

/** Whether statements go on working under it, as it is published now. */
export function suits(
  identity: EffectiveIdentity,
  { table, publishedBy }: Pick<CureInput, 'table' | 'publishedBy'>,
): boolean {
  return failuresUnder(identity, table, publishedBy).length === 0;
}

/** Why a table cannot have that identity; empty: it can. */
export function obstacles(
  identity: EffectiveIdentity,
  { table, publishedBy }: Pick<CureInput, 'table' | 'publishedBy'>,
): string {
  return failuresUnder(identity, table, publishedBy)
    .map((failure) => obstacle(failure, identity))
    .join(', ');
}

function obstacle({ reason, published, columns }: Failure, identity: EffectiveIdentity): string {
  const name = `publication ${sqlName(published.publication.name)}`;
  const names = columns.map(sqlName).join(', ');
  switch (reason) {
    case 'no-identity':
      return `${name} sends updates or deletes`;
    case 'row-filter':
      return `${name} has a WHERE on ${names}`;
    case 'column-list':
      return identity.kind === 'full'
        ? `${name} has a column list`
        : `${name} has a column list without ${names}`;
    case 'generated-column':
      return `${name} does not send the generated ${names}`;
  }
}

/** What each identity would need of the publications; nobody but their owner can choose. */
function advice(input: CureInput): readonly string[] {
  const { table, publishedBy } = input;
  const ways = [...keys(table), FULL].flatMap((identity) => wayTo(identity, input) ?? []);
  const all = keys(table).length > 0 ? ways : [newKey(table, publishedBy), ...ways];
  return [sentence(all.join('; or '))];
}

/** Undefined: nothing that a publication gives up makes it possible. */
function wayTo(identity: EffectiveIdentity, { table, publishedBy }: CureInput): string | undefined {
  const failures = failuresUnder(identity, table, publishedBy);
  const needs = new Set(failures.map((failure) => need(failure, identity, table, failures)));
  if (needs.has(undefined)) return undefined;
  const clause = identityClause(identity);
  const isPresent = identityClause(effectiveIdentity(table)) === clause;
  const setting = isPresent ? [] : [`set REPLICA IDENTITY ${clause}`];
  return [...needs, ...setting].join(' and ');
}

function need(
  { reason, published, columns }: Failure,
  identity: EffectiveIdentity,
  table: Table,
  all: readonly Failure[],
): string | undefined {
  const name = `publication ${sqlName(published.publication.name)}`;
  const names = columns.map(sqlName).join(', ');
  if (reason === 'row-filter') return `take ${names} out of the WHERE of ${name}`;
  if (reason === 'column-list' && identity.kind === 'full') {
    return `publish ${qualifiedSqlName(table)} without a column list in ${publicationsWithList(all)}`;
  }
  if (!columns.every((column) => canBePublished(published, column))) return undefined;
  return reason === 'column-list'
    ? `add ${names} to the column list of ${name}`
    : `set publish_generated_columns = stored in ${name}`;
}

/** What is asked of all of them is said once. */
function publicationsWithList(failures: readonly Failure[]): string {
  const names = failures
    .filter(({ reason }) => reason === 'column-list')
    .map(({ published }) => sqlName(published.publication.name));
  return `${names.length === 1 ? 'publication' : 'publications'} ${names.join(' and ')}`;
}

function newKey(table: Table, publishedBy: readonly Published[]): string {
  const lists = publishedBy.filter(
    (published) => changesOf(published).length > 0 && published.member?.columns !== undefined,
  );
  const names = [...new Set(lists.map(({ publication }) => sqlName(publication.name)))].join(', ');
  const give = `give ${qualifiedSqlName(table)} a primary key`;
  return lists.length === 0 ? give : `${give} of columns in the column list of ${names}`;
}
