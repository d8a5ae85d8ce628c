// `pgtail demo`: a throw-away server with a small shop, whose changes are tailed in the foreground.

import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { findNativeDirectory } from './binaries.ts';
import { type EmbeddedServer, startEmbeddedServer } from './embedded-server.ts';
import { DEMO_DATABASE, DEMO_PUBLICATION, DEMO_SLOT, SHOP_SCHEMA } from './schema.ts';
import { eventText, SHOP_SCRIPT, type ShopEvent, shopLife } from './workload.ts';

export interface DemoOptions {
  /** A fixed script of changes, then the end; else a live workload until the signal. */
  readonly once: boolean;
  /** The `native` folder of another PostgreSQL than the one installed. */
  readonly nativeDirectory?: string;
}

/** What to tail. No password: the role gets in by TCP from this machine. */
export interface DemoTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly slot: string;
  readonly publication: string;
  /** False: stop once everything up to now is printed. */
  readonly follow: boolean;
}

export interface DemoEnvironment {
  /** Tails until its signal is aborted (or to the end, without `follow`); resolves to exit code. */
  tail(target: DemoTarget, signal: AbortSignal): Promise<number>;
  /** A line for the person in front of it. */
  notice(line: string): void;
  /** What to type to run pgtail. */
  readonly program: string;
  readonly signal: AbortSignal;
  /** Uniform in [0, 1); default Math.random. */
  readonly random?: () => number;
}

const DEMO_ROLE = 'shop';

// The superuser only by the private Unix socket: on TCP any user of this machine could become it,
// and a superuser can run programs as us.
const ACCESS = [
  'local all         all                   trust',
  'host  all         postgres 127.0.0.1/32 reject',
  'host  all         all      127.0.0.1/32 trust',
  'host  replication all      127.0.0.1/32 trust',
];

const SCRIPT_PAUSE_MS = 500;
const LIFE_PAUSE_MS = { shortest: 120, longest: 700 } as const;

/** Leaves no process and no folder behind, whichever way it ends. */
export async function runDemo(options: DemoOptions, environment: DemoEnvironment): Promise<number> {
  const nativeDirectory = options.nativeDirectory ?? findNativeDirectory();
  environment.notice('starting a throw-away PostgreSQL server …');
  const server = await startDemoServer(nativeDirectory, environment.signal);
  if (server === undefined) return 0;
  try {
    await createShop(server);
    return options.once
      ? await tailScript(server, environment)
      : await tailLife(server, environment);
  } finally {
    await server.stop();
  }
}

/** Undefined if the user had enough before it was up. */
async function startDemoServer(
  nativeDirectory: string,
  signal: AbortSignal,
): Promise<EmbeddedServer | undefined> {
  try {
    return await startEmbeddedServer({
      nativeDirectory,
      hostBasedAuthentication: ACCESS,
      signal,
    });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

async function createShop(server: EmbeddedServer): Promise<void> {
  await withSuperuser(server, 'postgres', async (client) => {
    await client.query(`CREATE ROLE ${DEMO_ROLE} LOGIN REPLICATION`);
    await client.query(`CREATE DATABASE ${DEMO_DATABASE} OWNER ${DEMO_ROLE}`);
  });
  await withSuperuser(server, DEMO_DATABASE, async (client) => {
    await client.query(`SET ROLE ${DEMO_ROLE}; ${SHOP_SCHEMA}`);
    await client.query(`SELECT pg_create_logical_replication_slot('${DEMO_SLOT}', 'pgoutput')`);
  });
}

async function withSuperuser(
  server: EmbeddedServer,
  database: string,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client({ ...server.connectionConfig(database), host: server.socketDirectory });
  client.on('error', () => undefined); // the query in progress fails too, and tells
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function demoTarget(server: EmbeddedServer, follow: boolean): DemoTarget {
  return {
    host: server.host,
    port: server.port,
    user: DEMO_ROLE,
    database: DEMO_DATABASE,
    slot: DEMO_SLOT,
    publication: DEMO_PUBLICATION,
    follow,
  };
}

async function tailScript(server: EmbeddedServer, environment: DemoEnvironment): Promise<number> {
  await withSuperuser(server, DEMO_DATABASE, async (client) => {
    await client.query(`SET ROLE ${DEMO_ROLE}`);
    for (const event of SHOP_SCRIPT) await client.query(eventText(event));
  });
  return environment.tail(demoTarget(server, false), environment.signal);
}

/** The tail and the workload end each other: whichever stops first. */
async function tailLife(server: EmbeddedServer, environment: DemoEnvironment): Promise<number> {
  announce(server, environment);
  const over = new AbortController();
  const signal = AbortSignal.any([environment.signal, over.signal]);
  const life = withSuperuser(server, DEMO_DATABASE, (client) =>
    live(client, signal, environment.random ?? Math.random),
  ).finally(() => over.abort());
  const tail = environment.tail(demoTarget(server, true), signal).finally(() => over.abort());
  // Both have ended before the server does, whatever happened to either.
  const [tailed, lived] = await Promise.allSettled([tail, life]);
  if (tailed.status === 'rejected') throw tailed.reason;
  if (lived.status === 'rejected' && tailed.value === 0) throw lived.reason;
  return tailed.value;
}

function announce(server: EmbeddedServer, { notice, program }: DemoEnvironment): void {
  const login = `-h ${server.host} -p ${server.port} -U ${DEMO_ROLE} -d ${DEMO_DATABASE}`;
  notice(`PostgreSQL ${server.version} with a small shop runs until you press Ctrl-C`);
  notice('from another terminal:');
  notice(`  psql ${login}`);
  notice(`  ${program} ${login} --publication ${DEMO_PUBLICATION}`);
}

/** First every kind of change, then whatever happens in a shop. */
async function live(client: Client, signal: AbortSignal, random: () => number): Promise<void> {
  await client.query(`SET ROLE ${DEMO_ROLE}`);
  const { shortest, longest } = LIFE_PAUSE_MS;
  for (const event of SHOP_SCRIPT) {
    if (!(await happen(client, event, SCRIPT_PAUSE_MS, signal))) return;
  }
  await client.query(CONTINUE_NUMBERS);
  for (const event of shopLife(random)) {
    const pause = shortest + random() * (longest - shortest);
    if (!(await happen(client, event, pause, signal))) return;
  }
}

/** The script gives its rows numbers of its own; the identity columns go on behind them. */
const CONTINUE_NUMBERS = `
  ALTER TABLE shop.customers ALTER id RESTART WITH 1004;
  ALTER TABLE shop.orders ALTER id RESTART WITH 4;
`;

/** False if it is time to stop. */
async function happen(
  client: Client,
  event: ShopEvent,
  pauseMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return false;
  await client.query(eventText(event));
  return delay(pauseMs, true, { signal }).catch(() => false);
}
