// A short ordinary connection for catalog queries that must not run on the replication connection.

import { Client, type ClientConfig } from 'pg';
import { type QueryRows, textQuery } from '../walsender/text-query.ts';

/** Runs a simple query and gives the rows of each statement, every value as text. */
export type RunQuery = (sql: string) => Promise<readonly QueryRows[]>;

/**
 * Looking at a table on the replication connection puts its present shape into that backend's
 * caches, where decoding then finds it instead of the shape it had when the WAL was written: rows
 * from before an ALTER TABLE came with a column that was added later (seen on 18.4).
 */
export async function withCatalog<T>(
  config: ClientConfig,
  work: (query: RunQuery) => Promise<T>,
): Promise<T> {
  const client = new Client(config);
  client.on('error', () => {}); // the query in progress fails too, and tells
  await client.connect();
  try {
    return await work((sql) => textQuery(client, sql));
  } finally {
    await client.end().catch(() => {});
  }
}
