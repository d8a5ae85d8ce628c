// From connection settings to what pg wants: TLS as libpq's sslmode means it, and our options.
// https://www.postgresql.org/docs/current/libpq-ssl.html

import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { filePassword, ignoredPasswordFile } from '../connection/password-file.ts';
import { type ConnectionSettings, serverAddress } from '../connection/settings.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { startupOptions } from './pinned-settings.ts';
import { hasSqlState } from './server-error.ts';

/** What to hand to pg: always everything, so that it decides nothing by itself. */
export function clientConfig(
  settings: ConnectionSettings,
  ssl: ConnectionOptions | false,
): ClientConfig {
  const { host, port, user, database, applicationName, connectTimeout } = settings;
  return {
    host,
    port,
    user,
    database,
    ssl,
    password: () => askedPassword(settings),
    application_name: applicationName,
    options: startupOptions(settings.options, settings.timeZone),
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
  };
}

/** Called only if the server asks for a password. */
function askedPassword(settings: ConnectionSettings): string {
  const password = settings.password ?? filePassword(settings);
  if (password !== undefined) return password;
  const who = `${settings.user}@${serverAddress(settings)}`;
  throw new PgtailError(EXIT.connection, `the server asks for a password for ${who}`, {
    hint: ignoredPasswordFile(settings) ?? 'set PGPASSWORD or write it to ~/.pgpass',
  });
}

export type SslAttempt = ConnectionOptions | false;

/** What to try, in order, for each sslmode of libpq. A Unix socket never uses TLS. */
export function sslAttempts(settings: ConnectionSettings): readonly [SslAttempt, ...SslAttempt[]] {
  const { sslMode, host } = settings;
  if (host.startsWith('/') || sslMode === 'disable') return [false];
  const encrypted = tlsOptions(settings);
  if (sslMode === 'allow') return [false, encrypted];
  if (sslMode === 'prefer') return [encrypted, false];
  return [encrypted];
}

function tlsOptions(settings: ConnectionSettings): ConnectionOptions {
  const { sslMode, sslRootCert, sslCert, sslKey } = settings;
  // libpq: with a root certificate at hand, `require` verifies like `verify-ca`
  const verifies = sslMode.startsWith('verify') || (sslMode === 'require' && sslRootCert);
  return {
    rejectUnauthorized: Boolean(verifies),
    ...(sslMode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    ...(sslRootCert && sslRootCert !== 'system' && { ca: readPem(sslRootCert) }),
    ...(sslCert && { cert: readPem(sslCert) }),
    ...(sslKey && { key: readPem(sslKey) }),
  };
}

function readPem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new PgtailError(EXIT.connection, `cannot read ${path}`, { cause });
  }
}

/**
 * Opens with the first attempt that the server takes.
 * @throws what the last one that was made failed with
 */
export async function openWithSsl<T>(
  settings: ConnectionSettings,
  open: (ssl: SslAttempt) => Promise<T>,
): Promise<T> {
  let failure: unknown;
  for (const ssl of sslAttempts(settings)) {
    try {
      return await open(ssl);
    } catch (error) {
      failure = error;
      if (!mayRetryWithOtherSsl(error)) break;
    }
  }
  throw failure;
}

/** A server without TLS, or a pg_hba.conf that wants it the other way. */
function mayRetryWithOtherSsl(error: unknown): boolean {
  const noTls = error instanceof Error && /does not support SSL/.test(error.message);
  return noTls || hasSqlState(error, '28000');
}
