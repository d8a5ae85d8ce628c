// While nothing is read from the walsender it cannot tell that the server shuts down, and a fast
// shutdown waits for it. An ordinary connection is told at once.
// https://www.postgresql.org/docs/current/server-shutdown.html

import { Client, type ClientConfig } from 'pg';
import { hasSqlState } from './server-error.ts';

const ADMIN_SHUTDOWN = '57P01';
const CANNOT_CONNECT_NOW = '57P03';

/**
 * One that cannot be opened, or is lost for another reason, is done without. Being told 57P01 may
 * also mean that somebody ended just this connection: only a server that lets nobody in any more is
 * shutting down.
 */
export class ShutdownWatch {
  readonly #config: ClientConfig;
  readonly #onShutdown: () => void;
  #client: Client | null = null;

  constructor(config: ClientConfig, onShutdown: () => void) {
    this.#config = config;
    this.#onShutdown = onShutdown;
  }

  start(): void {
    if (this.#client !== null) return;
    const client = new Client(this.#config);
    this.#client = client;
    client.on('error', (error) => {
      if (hasSqlState(error, ADMIN_SHUTDOWN)) this.#ended(client);
    });
    client.connect().catch((error: unknown) => {
      if (this.#client === client && hasSqlState(error, CANNOT_CONNECT_NOW)) this.#onShutdown();
    });
  }

  stop(): void {
    const client = this.#client;
    this.#client = null;
    client?.end().catch(() => {});
  }

  /** Watched by a new connection, which finds out what the end of this one meant. */
  #ended(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.start();
  }
}
