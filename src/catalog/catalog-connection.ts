// A short ordinary connection for catalog queries that must not run on the replication connection.

import { Client, type ClientConfig } from 'pg';
import { within } from '../deadline.ts';
import { NO_SESSION_TIMEOUTS } from '../walsender/pinned-settings.ts';
import { type QueryRows, textQuery } from '../walsender/text-query.ts';

/** Runs a simple query and gives the rows of each statement, every value as text. */
export type RunQuery = (sql: string) => Promise<readonly QueryRows[]>;

/** The stream may be waiting: better no answer than none for ever. In ms. */
const CONNECT_PATIENCE = 10_000;
const QUERY_PATIENCE = 30_000;

/** How long a server may take to close the connection in its turn before it is left alone, in ms. */
const CLOSE_PATIENCE = 1000;

/** A connection that is not used any more is kept so long, in ms. */
const IDLE_LIMIT = 5000;

/**
 * Looking at a table on the replication connection puts its present shape into that backend's
 * caches, where decoding then finds it instead of the shape it had when the WAL was written: rows
 * from before an ALTER TABLE came with a column that was added later (seen on 18.4).
 */
export class CatalogConnection {
  readonly #config: ClientConfig;
  #client: Promise<Client> | null = null;
  #running = 0;
  #idle: NodeJS.Timeout | undefined;

  /** How long a query may take, in ms; 0: for ever. */
  constructor(config: ClientConfig, queryPatience = QUERY_PATIENCE) {
    this.#config = {
      ...config,
      connectionTimeoutMillis: config.connectionTimeoutMillis || CONNECT_PATIENCE,
      query_timeout: queryPatience,
    };
  }

  /**
   * Connects if need be; a connection that failed is not used again.
   * @throws pg's error, also if there is no answer in time
   */
  async run<T>(work: (query: RunQuery) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle);
    this.#client ??= this.#connect();
    const connecting = this.#client;
    this.#running++;
    try {
      const client = await connecting;
      return await work((sql) => textQuery(client, sql));
    } catch (error) {
      if (this.#client === connecting) void this.close();
      throw error;
    } finally {
      this.#running--;
      if (this.#running === 0) this.#closeLater();
    }
  }

  /** Settles when it is closed, or soon if nobody answers. What runs on it fails. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const closing = this.#client;
    this.#client = null;
    if (closing === null) return;
    const closed = closing.then((client) => client.end()).catch(() => {});
    await within(closed, CLOSE_PATIENCE, () => {});
  }

  #closeLater(): void {
    if (this.#client === null) return;
    this.#idle = setTimeout(() => void this.close(), IDLE_LIMIT);
    this.#idle.unref();
  }

  async #connect(): Promise<Client> {
    const client = new Client(this.#config);
    // lost between two queries: the next one makes a new connection
    client.on('error', () => void this.close());
    await client.connect();
    await textQuery(client, NO_SESSION_TIMEOUTS);
    return client;
  }
}

/** For one piece of work. @throws pg's error, also if there is no answer in time */
export async function withCatalog<T>(
  config: ClientConfig,
  work: (query: RunQuery) => Promise<T>,
): Promise<T> {
  const connection = new CatalogConnection(config);
  try {
    return await connection.run(work);
  } finally {
    await connection.close();
  }
}
