// Connection strings as libpq reads them: `key=value` pairs and URIs, into named parameters.
// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING

import { EXIT, PgtailError } from '../errors.ts';

/** libpq's parameter names with their values as text. */
export type ConninfoParameters = Readonly<Record<string, string>>;

/** What pgtail acts on. */
const SUPPORTED = new Set([
  'host',
  'hostaddr',
  'port',
  'dbname',
  'user',
  'password',
  'passfile',
  'options',
  'application_name',
  'fallback_application_name',
  'connect_timeout',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
]);

/** What can be left out without anything becoming wrong or less safe. */
const IGNORED = new Set([
  'client_encoding',
  'replication',
  'gssencmode',
  'krbsrvname',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'tcp_user_timeout',
  'sslcompression',
  'sslsni',
]);

export const isConnectionUri = (text: string): boolean => /^postgres(ql)?:\/\//.test(text);

/** A database name may stand where a connection string may: this tells the two apart as psql does. */
export const isConnectionString = (text: string): boolean =>
  isConnectionUri(text) || text.includes('=');

/** @throws PgtailError (usage) that never shows the string itself, which may hold a password. */
export function parseConninfo(text: string): ConninfoParameters {
  const parameters = isConnectionUri(text) ? parseUri(text) : parsePairs(text);
  for (const name of Object.keys(parameters)) {
    if (!SUPPORTED.has(name) && !IGNORED.has(name)) {
      throw usage(`connection parameter "${name}" is not supported`);
    }
  }
  return parameters;
}

// user, password, host list, database, query
const URI =
  /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?([^/?#]*)(?:\/([^?#]*))?(?:\?(.*))?$/;

function parseUri(text: string): ConninfoParameters {
  const match = URI.exec(text);
  if (match === null) throw usage('the connection URI cannot be read');
  const [, user, password, authority, dbname, query] = match;
  const parameters: Record<string, string> = {};
  const set = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') parameters[name] = percentDecoded(value);
  };
  set('user', user);
  set('password', password);
  set('dbname', dbname);
  const { host, port } = splitHostAndPort(authority!);
  // a password with a bare "/" or "?" ends up here: it must not be shown
  if (!/^\d*$/.test(percentDecoded(port))) {
    throw usage('the port in the connection URI is no number; a password must be percent-encoded');
  }
  set('host', host);
  set('port', port);
  for (const pair of query === undefined || query === '' ? [] : query.split('&')) {
    const equals = pair.indexOf('=');
    if (equals === -1) throw usage('a parameter of the connection URI has no "="');
    parameters[percentDecoded(pair.slice(0, equals))] = percentDecoded(pair.slice(equals + 1));
  }
  return parameters;
}

function splitHostAndPort(authority: string): { host: string; port: string } {
  if (authority.includes(',')) throw usage('several hosts in one connection URI are not supported');
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(authority);
  if (bracketed) return { host: bracketed[1]!, port: bracketed[2] ?? '' };
  if (authority.startsWith('[')) throw usage('an address in the connection URI has no "]"');
  const colon = authority.lastIndexOf(':');
  if (colon === -1) return { host: authority, port: '' };
  return { host: authority.slice(0, colon), port: authority.slice(colon + 1) };
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw usage('the connection URI has a "%" that two hexadecimal digits must follow');
  }
}

// name = value, where the value may be quoted with '…' and backslash escapes count in both forms
const PAIR = /\s*([A-Za-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)/gy;

function parsePairs(text: string): ConninfoParameters {
  const parameters: Record<string, string> = {};
  PAIR.lastIndex = 0;
  const trimmed = text.trimEnd();
  while (PAIR.lastIndex < trimmed.length) {
    const match = PAIR.exec(trimmed);
    if (match === null) throw usage('the connection string cannot be read: expected name=value');
    parameters[match[1]!] = (match[2] ?? match[3] ?? '').replaceAll(/\\(.)/g, '$1');
  }
  return parameters;
}

function usage(message: string): PgtailError {
  return new PgtailError(EXIT.usage, message, {
    hint: 'write it as postgresql://user@host:port/dbname or "host=… port=… user=… dbname=…"',
  });
}
