// Where to connect and as whom: command line over environment over defaults, as libpq decides it.
// https://www.postgresql.org/docs/current/libpq-envars.html

import { EXIT, PgtailError } from '../errors.ts';
import { type ConninfoParameters, isConnectionString, parseConninfo } from './conninfo.ts';

export const SSL_MODES = [
  'disable',
  'allow',
  'prefer',
  'require',
  'verify-ca',
  'verify-full',
] as const;

export type SslMode = (typeof SSL_MODES)[number];

export interface ConnectionSettings {
  /** A host name, an address, or the folder of a Unix socket if it starts with a slash. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: string | undefined;
  /** Where passwords are kept, if not in ~/.pgpass. */
  readonly passwordFile: string | undefined;
  /** The user's own `-c name=value` options for the server. */
  readonly options: string;
  /** The session's TimeZone: what values that depend on one are shown in. */
  readonly timeZone: string;
  readonly applicationName: string;
  /** Milliseconds; 0 waits for ever. */
  readonly connectTimeout: number;
  readonly sslMode: SslMode;
  /** Paths of PEM files. */
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
}

/** What the command line says; each may be missing. */
export interface ConnectionFlags {
  readonly conninfo?: string | undefined;
  readonly dbname?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly username?: string | undefined;
  readonly timezone?: string | undefined;
}

/** What only the machine knows; passed in. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userName: string;
  readonly exists: (path: string) => boolean;
}

const DEFAULT_PORT = 5432;
const DEFAULT_TIME_ZONE = 'UTC';
const SOCKET_DIRECTORIES = ['/var/run/postgresql', '/tmp'];

export function connectionSettings(flags: ConnectionFlags, machine: Machine): ConnectionSettings {
  refuseUnsupported(machine.env);
  const given = { ...flagParameters(flags), ...conninfoParameters(flags) };
  const { env } = machine;
  const pick = (name: string, variable: string): string | undefined =>
    given[name] || env[variable] || undefined;
  const port = portNumber(pick('port', 'PGPORT'));
  const user = pick('user', 'PGUSER') ?? machine.userName;
  return Object.freeze({
    host: pick('hostaddr', 'PGHOSTADDR') ?? pick('host', 'PGHOST') ?? defaultHost(port, machine),
    port,
    user,
    database: pick('dbname', 'PGDATABASE') ?? user,
    password: pick('password', 'PGPASSWORD'),
    passwordFile: pick('passfile', 'PGPASSFILE'),
    options: pick('options', 'PGOPTIONS') ?? '',
    timeZone: flags.timezone ?? DEFAULT_TIME_ZONE,
    applicationName:
      pick('application_name', 'PGAPPNAME') ?? given.fallback_application_name ?? 'pgtail',
    connectTimeout: timeout(pick('connect_timeout', 'PGCONNECT_TIMEOUT')),
    sslMode: sslMode(pick('sslmode', 'PGSSLMODE')),
    sslRootCert: pick('sslrootcert', 'PGSSLROOTCERT'),
    sslCert: pick('sslcert', 'PGSSLCERT'),
    sslKey: pick('sslkey', 'PGSSLKEY'),
  });
}

/** What libpq would act on and we cannot: without it we might connect elsewhere, or less safely. */
const UNSUPPORTED_VARIABLES: Readonly<Record<string, (value: string) => boolean>> = {
  PGSERVICE: () => true,
  PGSSLCRL: () => true,
  PGREQUIREAUTH: () => true,
  PGCHANNELBINDING: (value) => value === 'require',
  PGTARGETSESSIONATTRS: (value) => value !== 'any',
};

function refuseUnsupported(env: Machine['env']): void {
  for (const [name, matters] of Object.entries(UNSUPPORTED_VARIABLES)) {
    const value = env[name];
    if (!value || !matters(value)) continue;
    throw new PgtailError(EXIT.usage, `the variable ${name} is not supported`, {
      hint: 'unset it, and say where to connect by options, a URI or PGHOST and its like',
    });
  }
}

/** `host:port`, or the path of the Unix socket: for messages. */
export function serverAddress(settings: ConnectionSettings): string {
  const { host, port } = settings;
  if (host.startsWith('/')) return `${host}/.s.PGSQL.${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function flagParameters(flags: ConnectionFlags): ConninfoParameters {
  const given = { host: flags.host, port: flags.port, user: flags.username };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function conninfoParameters({ conninfo, dbname }: ConnectionFlags): ConninfoParameters {
  if (conninfo !== undefined && dbname !== undefined) {
    throw new PgtailError(EXIT.usage, 'the database is named twice', {
      hint: 'give either CONNINFO or -d, --dbname',
    });
  }
  const text = conninfo ?? dbname;
  if (text === undefined) return {};
  return isConnectionString(text) ? parseConninfo(text) : { dbname: text };
}

/** psql's way: the local socket if there is one; and localhost where there is none. */
function defaultHost(port: number, machine: Machine): string {
  const socket = (directory: string): string => `${directory}/.s.PGSQL.${port}`;
  return SOCKET_DIRECTORIES.find((path) => machine.exists(socket(path))) ?? 'localhost';
}

function portNumber(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new PgtailError(EXIT.usage, `invalid port number: ${JSON.stringify(text)}`, {
    hint: 'a port is a number from 1 to 65535',
  });
}

function timeout(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^-?\d{1,7}$/.test(text)) {
    throw new PgtailError(EXIT.usage, `invalid connect_timeout: ${JSON.stringify(text)}`, {
      hint: 'connect_timeout is a number of seconds',
    });
  }
  return Math.max(0, Number(text)) * 1000;
}

function sslMode(text: string | undefined): SslMode {
  if (text === undefined) return 'prefer';
  const mode = SSL_MODES.find((known) => known === text);
  if (mode !== undefined) return mode;
  throw new PgtailError(EXIT.usage, `invalid sslmode: ${JSON.stringify(text)}`, {
    hint: `sslmode is one of ${SSL_MODES.join(', ')}`,
  });
}
