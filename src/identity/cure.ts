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
import { type Failure, failuresUnder } from './failure.ts';
import { type FullPrice, priceText } from './full-price.ts';
import type { Published } from './publication.ts';
import { extendColumnList, publishGenerated, setIdentity } from './statements.ts';
import type { Table } from './table.ts';

export interface CureInput {
  readonly table: Table;
  readonly publishedBy: readonly Published[];
  readonly price: FullPrice;
}

/** Statements, or one sentence where none is right for everybody. */
export function cureOf(input: CureInput): readonly string[] {
  const present = effectiveIdentity(input.table);
  const failures = failuresUnder(present, input.table, input.publishedBy);
  // an identity that somebody chose stays, if the publication can simply send more
  return widerPublication(failures, present) ?? betterIdentity(input) ?? advice(input, failures);
}

/** The first of the table's own keys, else FULL, under which nothing fails. */
export function betterIdentity(input: CureInput): readonly string[] | undefined {
  const { table, publishedBy, price } = input;
  const fitting = [...keys(table), FULL].find(
    (identity) => failuresUnder(identity, table, publishedBy).length === 0,
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

function advice({ table }: CureInput, failures: readonly Failure[]): readonly string[] {
  const [failure] = failures;
  if (failure === undefined) return [];
  const { publication } = failure.published;
  const name = sqlName(publication.name);
  const columns = failure.columns.map(sqlName).join(', ');
  switch (failure.reason) {
    case 'row-filter':
      return [
        `take ${columns} out of the WHERE of publication ${name}, or publish ${qualifiedSqlName(table)} without a column list and set REPLICA IDENTITY FULL`,
      ];
    case 'generated-column':
      return [
        `give ${qualifiedSqlName(table)} a primary key: REPLICA IDENTITY FULL takes in ${columns}, which cannot be published`,
      ];
    case 'no-identity':
    case 'column-list':
      return [
        `give ${qualifiedSqlName(table)} a primary key of columns in the column list of publication ${name}: REPLICA IDENTITY FULL allows no list`,
      ];
  }
}
