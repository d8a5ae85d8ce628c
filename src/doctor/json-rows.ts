// Rows as JSON: values have types then, and columns that only newer servers have may be missing.
// Names must come as hexadecimal digits: JSON of text that is not valid fails.

import type * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';

/** `select` is one query without a semicolon. */
export async function jsonRows<T extends z.ZodMiniType>(
  query: RunQuery,
  select: string,
  row: T,
): Promise<z.output<T>[]> {
  const [rows = []] = await query(`SELECT row_to_json(t)::text AS json FROM (${select}) AS t;`);
  return rows.map(({ json }) => row.parse(JSON.parse(json ?? 'null')));
}

/** Of a query that always gives one row. */
export async function jsonRow<T extends z.ZodMiniType>(
  query: RunQuery,
  select: string,
  row: T,
): Promise<z.output<T>> {
  const [only] = await jsonRows(query, select, row);
  return row.parse(only);
}
