// One run of the `postgres` program: started, watched until it accepts connections, ended.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { EXIT, PgtailError } from '../errors.ts';
import type { ServerAccount } from './server-account.ts';

export interface ServerProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly account: ServerAccount;
  readonly folder: string;
  /** Its output is appended here. */
  readonly logFile: string;
  readonly environment?: NodeJS.ProcessEnv;
}

/** `smart` waits for the clients, `fast` disconnects them, `immediate` is a crash. */
export type ShutdownMode = 'smart' | 'fast' | 'immediate';

const SHUTDOWN_SIGNALS = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const;
const POLL_INTERVAL_MS = 15;
const START_LIMIT_MS = 60_000;

// Somebody took the port first, or children of a killed postmaster are still about to end.
const WORTH_A_RETRY = /could not bind|could not create any TCP\/IP|pre-existing shared memory/;

/** A started program, in a session of its own: the terminal's Ctrl-C does not reach it. */
export class ServerProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly #logStart: number;
  readonly #ended: Promise<void>;

  private constructor(child: ChildProcess, logFile: string, logStart: number) {
    this.pid = child.pid ?? 0; // 0 if it could not be spawned: then #ended is rejected
    this.#child = child;
    this.#logFile = logFile;
    this.#logStart = logStart;
    this.#ended = once(child, 'exit').then(() => undefined);
    this.#ended.catch(() => undefined);
    child.unref();
  }

  static spawn(program: ServerProgram): ServerProcess {
    const log = openSync(program.logFile, 'a', 0o600);
    try {
      const logStart = statSync(program.logFile).size;
      const child = spawn(program.file, program.args, {
        ...program.account,
        cwd: program.folder,
        env: serverEnvironment(program.environment ?? process.env),
        detached: true,
        stdio: ['ignore', log, log],
      });
      return new ServerProcess(child, program.logFile, logStart);
    } finally {
      closeSync(log);
    }
  }

  get running(): boolean {
    return this.pid !== 0 && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves to true if the program ended by itself without an error. */
  async ended(): Promise<boolean> {
    this.#child.ref();
    if (this.running || this.pid === 0) await this.#ended;
    return this.#child.exitCode === 0;
  }

  /** Resolves when it accepts connections; throws if it ends before, or with the signal's reason. */
  async accepting(config: ClientConfig, signal?: AbortSignal): Promise<void> {
    const deadline = Date.now() + START_LIMIT_MS;
    while (!(await acceptsConnections(config))) {
      if (!this.running) throw await this.failure();
      if (Date.now() > deadline) throw await this.failure();
      signal?.throwIfAborted();
      await delay(POLL_INTERVAL_MS);
    }
  }

  async shutDown(mode: ShutdownMode): Promise<void> {
    if (this.running) process.kill(this.pid, SHUTDOWN_SIGNALS[mode]);
    await this.ended();
  }

  /**
   * SIGKILL to its process group. A postmaster's children are in groups of their own: they say no
   * goodbye to the clients, notice that it is gone and end by themselves.
   */
  async kill(): Promise<void> {
    if (this.running) process.kill(-this.pid, 'SIGKILL');
    await this.ended();
  }

  async failure(): Promise<PgtailError> {
    const cause = await this.#spawnError();
    return new PgtailError(EXIT.failure, 'the embedded PostgreSQL server did not start', {
      detail: cause?.message ?? this.#logTail(),
      cause,
    });
  }

  /** True if the same program may well start at the next attempt. */
  mayStartLater(): boolean {
    return WORTH_A_RETRY.test(this.#logTail());
  }

  async #spawnError(): Promise<Error | undefined> {
    if (this.pid !== 0) return undefined;
    return this.#ended.then(
      () => undefined,
      (error: Error) => error,
    );
  }

  #logTail(): string {
    const log = readFileSync(this.#logFile).subarray(this.#logStart).toString();
    return log.trim().split('\n').slice(-10).join('\n');
  }
}

/** The variables of libpq and the server (PGPORT, PGDATESTYLE …) are for other servers. */
function serverEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => !name.startsWith('PG'));
  // A named time zone spares initdb a search through all of them.
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' };
}

/** pg takes PGOPTIONS unless it is given some options: these are meant for another server. */
export const OWN_OPTIONS = '-c default_transaction_read_only=off';

async function acceptsConnections(config: ClientConfig): Promise<boolean> {
  const own = { ssl: false, options: OWN_OPTIONS, connectionTimeoutMillis: 5_000 };
  const client = new Client({ ...config, ...own });
  client.on('error', () => undefined); // lost again: the next query will tell
  try {
    await client.connect();
    return true;
  } catch (error) {
    return isAuthenticationError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Class 28: it asks who we are, so it is up. */
function isAuthenticationError(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('28');
}
