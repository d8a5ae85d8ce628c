// The shared server of a test run, and databases on it: each test has its own.

import { randomBytes } from 'node:crypto';
import { Client, type ClientConfig, escapeIdentifier, type QueryResultRow } from 'pg';
import { inject } from 'vitest';
import { until } from './until.ts';

export { startPrivateServer } from './private-server.ts';

/** The shared server, as plain data that Vitest can hand from the main process to a worker. */
export interface SharedServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly socketDirectory: string;
  readonly major: number;
  readonly version: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    sharedServer: SharedServer;
  }
}

/** The one that global-setup.ts started. */
export function sharedServer(): SharedServer {
  return inject('sharedServer');
}

/** A database of one test, with a connection of its own. */
export class TestDatabase {
  readonly name: string;
  readonly server: SharedServer;
  readonly #client: Client;

  private constructor(server: SharedServer, name: string, client: Client) {
    this.server = server;
    this.name = name;
    this.#client = client;
  }

  static async create(
    server: SharedServer = sharedServer(),
    createOptions = '',
  ): Promise<TestDatabase> {
    const name = `shop_${randomBytes(5).toString('hex')}`;
    await asAdministrator(server, (admin) =>
      admin.query(`CREATE DATABASE ${name} ${createOptions}`),
    );
    const client = new Client(connectionConfig(server, name));
    client.on('error', () => undefined); // cut by drop, or by the test on purpose
    await client.connect();
    return new TestDatabase(server, name, client);
  }

  get host(): string {
    return this.server.host;
  }

  get port(): number {
    return this.server.port;
  }

  get user(): string {
    return this.server.user;
  }

  get major(): number {
    return this.server.major;
  }

  /** For a connection to it, in pg's terms. */
  get connection(): ClientConfig {
    return connectionConfig(this.server, this.name);
  }

  /** The options that take psql or pgtail to it. */
  get options(): readonly string[] {
    return ['-h', this.host, '-p', String(this.port), '-U', this.user, '-d', this.name];
  }

  /** Runs statements; several in one text are one transaction, as in any simple query. */
  async sql(text: string): Promise<void> {
    await this.#client.query(text);
  }

  async query<Row extends QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    const { rows } = await this.#client.query<Row>(text, [...values]);
    return rows;
  }

  /** A second session, for transactions that run side by side. */
  async connect(): Promise<Client> {
    const client = new Client(this.connection);
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Removes it with its slots and prepared transactions, whoever still uses them. */
  async drop(): Promise<void> {
    await this.#rollBackPrepared();
    await this.#client.end().catch(() => undefined);
    await asAdministrator(this.server, (admin) => dropDatabase(admin, this.name));
  }

  async #rollBackPrepared(): Promise<void> {
    // Only from within the database; the test may have cut our own connection.
    const client = await this.connect();
    try {
      const { rows } = await client.query<{ command: string }>(
        `SELECT format('ROLLBACK PREPARED %L', gid) AS command
           FROM pg_prepared_xacts WHERE database = current_database()`,
      );
      for (const { command } of rows) await client.query(command);
    } finally {
      await client.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drop();
  }
}

export function createDatabase(createOptions = ''): Promise<TestDatabase> {
  return TestDatabase.create(sharedServer(), createOptions);
}

/** The database is gone when this resolves, also if the test failed. */
export async function withDatabase<T>(
  test: (database: TestDatabase) => Promise<T>,
  server: SharedServer = sharedServer(),
): Promise<T> {
  const database = await TestDatabase.create(server);
  try {
    return await test(database);
  } finally {
    await database.drop();
  }
}

function connectionConfig(server: SharedServer, database: string): ClientConfig {
  const { host, port, user } = server;
  return { host, port, user, database, ssl: false };
}

async function asAdministrator<T>(
  server: SharedServer,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(connectionConfig(server, 'postgres'));
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Works from 10 on: DROP DATABASE … WITH (FORCE) is newer, and does not end walsenders. */
async function dropDatabase(admin: Client, name: string): Promise<void> {
  const database = escapeIdentifier(name);
  // A tail that reconnects would come back else.
  await admin.query(`ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS false`);
  await until(
    async () => {
      const { rowCount } = await admin.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
        [name],
      );
      return rowCount === 0;
    },
    { what: `the sessions of ${name} to end` },
  );
  await admin.query(
    `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = $1`,
    [name],
  );
  await admin.query(`DROP DATABASE ${database}`);
}
