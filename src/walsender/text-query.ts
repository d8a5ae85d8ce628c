// A simple query whose values come as the server's text: what a row means is decided by who asked.

import type { Client } from 'pg';

/** The rows of one statement. */
export type QueryRows = readonly Readonly<Record<string, string | null>>[];

const TEXT_TYPES = { getTypeParser: () => (value: string) => value };

/** Several statements in one text give several results. */
export async function textQuery(
  client: Pick<Client, 'query'>,
  sql: string,
): Promise<readonly QueryRows[]> {
  const result: unknown = await client.query({ text: sql, types: TEXT_TYPES });
  const results = Array.isArray(result) ? result : [result];
  return results.map((each: { rows: Record<string, string | null>[] }) => each.rows);
}
