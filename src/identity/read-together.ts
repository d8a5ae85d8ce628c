// What a server says to a reader of several publications that send different columns of one table.
// https://www.postgresql.org/docs/current/logical-replication-col-lists.html

import { sqlName } from '../pgoutput/sql-name.ts';
import { columnNames, type Published } from './publication.ts';
import type { Table } from './table.ts';
import { unsentGenerated } from './visible-row.ts';

export type ReadingProblem = 'column-lists' | 'generated-columns';

/** Undefined: they can be read together. */
export function readingProblem(
  table: Table,
  together: readonly Published[],
): ReadingProblem | undefined {
  const counting = topmost(table, together);
  const sent = new Set(counting.map((published) => sentColumns(published).join()));
  if (sent.size < 2) return undefined;
  const hasList = counting.some(({ member }) => member?.columns !== undefined);
  return hasList ? 'column-lists' : 'generated-columns';
}

/** Only those publications count that send the rows as the highest table. */
function topmost(table: Table, together: readonly Published[]): readonly Published[] {
  const level = ({ as }: Published): number => table.ancestors.indexOf(as.id);
  const top = Math.max(...together.map(level));
  return together.filter((published) => level(published) === top);
}

/** A list of every column that would be sent anyway is as none, and its order does not matter. */
function sentColumns(published: Published): readonly string[] {
  const { as, member, publication } = published;
  if (member?.columns !== undefined) return columnNames(published, member.columns).map(sqlName);
  const unsent = publication.listsCountGenerated ? [] : unsentGenerated(as, published);
  return as.columns.filter((column) => !unsent.includes(column)).map(({ name }) => sqlName(name));
}
