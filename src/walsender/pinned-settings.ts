// The session settings that change the text of values, pinned so that nobody's defaults reach a row,
// and those that would end the session.
// https://www.postgresql.org/docs/current/runtime-config-client.html

import { type MoneyLocale, setMoneyLocale } from './money-locale.ts';

/**
 * search_path is pg_catalog while the catalogs are read, so that nothing a user made can stand in
 * for a system object; `streamSettings` come before the stream starts.
 * lc_monetary must never stand here: it decides what an amount of money means, see MoneyLocale.
 */
const PINNED: readonly (readonly [name: string, value: string])[] = [
  ['DateStyle', 'ISO'],
  ['IntervalStyle', 'postgres'],
  ['extra_float_digits', '3'],
  ['bytea_output', 'hex'],
  ['quote_all_identifiers', 'off'],
  ['client_encoding', 'UTF8'],
  ['statement_timeout', '0'],
  ['search_path', 'pg_catalog'],
];

const STREAM_SEARCH_PATH = 'SET search_path = public;';

/** To a client in SQL_ASCII the server sends text as it stands in the database. */
const STREAM_UNCONVERTED = "SET client_encoding = 'SQL_ASCII';";

/**
 * The session waits for the catalog, for a slot to be made and for its reader. As startup options
 * these would be refused by servers that do not have them yet.
 */
export const NO_SESSION_TIMEOUTS = `
SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings
WHERE name IN ('idle_session_timeout', 'transaction_timeout');`;

export interface StreamSettings {
  /** Text comes as it stands in the database. */
  readonly unconverted: boolean;
  readonly money: MoneyLocale;
}

/** What is set right before the stream starts. */
export function streamSettings({ unconverted, money }: StreamSettings): string {
  const settings = [NO_SESSION_TIMEOUTS];
  if (money.kind === 'to be set') settings.push(setMoneyLocale(money.name));
  settings.push(STREAM_SEARCH_PATH);
  if (unconverted) settings.push(STREAM_UNCONVERTED);
  return settings.join(' ');
}

/**
 * The startup packet's `options`: the user's own first, since the last `-c` of a name wins, and a
 * startup option wins over ALTER DATABASE and ALTER ROLE.
 */
export function startupOptions(userOptions: string, timeZone: string): string {
  const settings = [...PINNED, ['TimeZone', timeZone] as const];
  const pinned = settings.map(([name, value]) => `-c ${name}=${escaped(value)}`).join(' ');
  return userOptions === '' ? pinned : `${userOptions} ${pinned}`;
}

/** A space would end the value, and a backslash takes the next character as it is. */
function escaped(value: string): string {
  return value.replaceAll(/[\s\\]/g, '\\$&');
}
