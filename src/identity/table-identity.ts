// All that is concluded about one table, from what the catalog says of it.

import { cureOf } from './cure.ts';
import { type EffectiveIdentity, effectiveIdentity } from './effective-identity.ts';
import { type Failure, failuresUnder } from './failure.ts';
import { type FullPrice, fullPrice, type Measurement } from './full-price.ts';
import { type Publication, type Published, publishedBy } from './publication.ts';
import type { Table } from './table.ts';
import { type VisibleRows, visibleRows } from './visible-row.ts';

export interface TableIdentity {
  readonly table: Table;
  readonly effective: EffectiveIdentity;
  readonly publishedBy: readonly Published[];
  /** Those of them that one reader asked for at once. */
  readonly readTogether: readonly Published[];
  /** The topmost table it is a partition of. */
  readonly root: Table | undefined;
  /** Why UPDATE and DELETE fail in the application. */
  readonly failures: readonly Failure[];
  /** Mends the failures; empty if there are none. */
  readonly cure: readonly string[];
  readonly visible: VisibleRows;
  readonly price: FullPrice;
}

export interface TableFacts {
  readonly publications: readonly Publication[];
  /** By id: the tables and what they are partitions of. */
  readonly tables: ReadonlyMap<number, Table>;
  /** Names of those that are read together; none: each may be read apart. */
  readonly asked?: readonly string[];
  /** Since the counters of changes began, as far as known. */
  readonly days: number | undefined;
  /** By id of the table. */
  readonly measured?: ReadonlyMap<number, Measurement>;
}

export function tableIdentity(table: Table, facts: TableFacts): TableIdentity {
  const { publications, tables, asked = [], days, measured } = facts;
  const effective = effectiveIdentity(table);
  const published = publishedBy(table, publications, tables);
  const failures = failuresUnder(effective, table, published);
  const price = fullPrice(table, days, measured?.get(table.id));
  return {
    table,
    effective,
    publishedBy: published,
    readTogether: published.filter(({ publication }) => asked.includes(publication.name)),
    root: tables.get(table.ancestors.at(-1) ?? 0),
    failures,
    cure: failures.length === 0 ? [] : cureOf({ table, publishedBy: published, price }),
    visible: visibleRows(table, effective, published),
    price,
  };
}
