// The session settings that change the text of values, pinned so that nobody's defaults reach a row.
// https://www.postgresql.org/docs/current/runtime-config-client.html

/**
 * search_path is pg_catalog while the catalogs are read, so that nothing a user made can stand in
 * for a system object; `STREAM_SEARCH_PATH` is set before the stream starts.
 * lc_monetary must never stand here: it decides what an amount of money means.
 */
const PINNED: readonly (readonly [name: string, value: string])[] = [
  ['DateStyle', 'ISO'],
  ['IntervalStyle', 'postgres'],
  ['TimeZone', 'UTC'],
  ['extra_float_digits', '3'],
  ['bytea_output', 'hex'],
  ['quote_all_identifiers', 'off'],
  ['client_encoding', 'UTF8'],
  ['statement_timeout', '0'],
  ['search_path', 'pg_catalog'],
];

export const STREAM_SEARCH_PATH = 'SET search_path = public';

/**
 * The startup packet's `options`: the user's own first, since the last `-c` of a name wins, and a
 * startup option wins over ALTER DATABASE and ALTER ROLE.
 */
export function startupOptions(userOptions: string): string {
  const pinned = PINNED.map(([name, value]) => `-c ${name}=${value}`).join(' ');
  return userOptions === '' ? pinned : `${userOptions} ${pinned}`;
}
