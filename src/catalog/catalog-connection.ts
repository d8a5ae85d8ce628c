// A short ordinary connection for catalog queries that must not run on the replication connection.

import { Client, type ClientConfig } from 'pg';
import { type QueryRows, textQuery } from '../walsender/text-query.ts';

/** Runs a simple query and gives the rows of each statement, every value as text. */
export type RunQuery = (sql: string) => Promise<readonly QueryRows[]>;

/** The stream may be waiting: better no answer than none for ever. In ms. */
const CONNECT_PATIENCE = 10_000;
const QUERY_PATIENCE = 30_000;

/**
 * Looking at a table on the replication connection puts its present shape into that backend's
 * caches, where decoding then finds it instead of the shape it had when the WAL was written: rows
 * from before an ALTER TABLE came with a column that was added later (seen on 18.4).
 * @throws pg's error, also if there is no answer in time
 */
export async function withCatalog<T>(
  config: ClientConfig,
  work: (query: RunQuery) => Promise<T>,
): Promise<T> {
  const client = new Client({
    ...config,
    connectionTimeoutMillis: config.connectionTimeoutMillis || CONNECT_PATIENCE,
    query_timeout: QUERY_PATIENCE,
  });
  client.on('error', () => {}); // the query in progress fails too, and tells
  await client.connect();
  try {
    return await work((sql) => textQuery(client, sql));
  } finally {
    await client.end().catch(() => {});
  }
}
