// The session settings that change the text of values, pinned so that nobody's defaults reach a row.
// https://www.postgresql.org/docs/current/runtime-config-client.html

/**
 * search_path is pg_catalog while the catalogs are read, so that nothing a user made can stand in
 * for a system object; `streamSettings` come before the stream starts.
 * lc_monetary must never stand here: it decides what an amount of money means.
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

/** What is set right before the stream starts. */
export function streamSettings(unconverted: boolean): string {
  return unconverted ? `${STREAM_SEARCH_PATH} ${STREAM_UNCONVERTED}` : STREAM_SEARCH_PATH;
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
