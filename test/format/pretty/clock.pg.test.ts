// A zone's name means to the clock what it means to the server.

import { expect, it } from 'vitest';
import { clockIn } from '../../../src/format/pretty/clock.ts';
import { timestampFromUnixMs } from '../../../src/wire/timestamp.ts';
import { createDatabase, sharedServer, type TestDatabase } from '../../support/server.ts';

/** Long ago enough for all to know what the rules were. */
const TIMES = [
  '1971-01-01T12:00:00Z',
  '1985-07-01T12:00:00Z',
  '2000-01-01T12:00:00Z',
  '2007-03-20T12:00:00Z',
  '2015-07-01T12:00:00Z',
  '2020-01-01T12:00:00Z',
];

/** What a server might take for a name, or for an offset with a sign the other way round. */
const NO_NAMES = [
  ...['EST5', 'UTC3', 'UTC0', 'GMT+3', 'GMT-3', 'UTC+3', 'UTC-01:00', 'GMT+00:30', 'GMT01'],
  ...['PST', 'IST', 'ACT', 'BST', 'JST', 'CST', 'AET', 'Z', 'A', 'AAA', 'ABC3DEF', 'CET-1CEST'],
  ...['localtime', 'Factory', 'Etc/GMT05', 'europe/berlin', 'japan', 'w-su', 'est5edt'],
];

const ZONE_OFFSETS = `
  CREATE FUNCTION local_times(zone text, times text[]) RETURNS text LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM set_config('TimeZone', zone, true);
    RETURN (SELECT string_agg(to_char(t::timestamptz, 'YYYY-MM-DD HH24:MI:SS.MS'), ',' ORDER BY i)
            FROM unnest(times) WITH ORDINALITY AS u (t, i));
  EXCEPTION WHEN OTHERS THEN RETURN NULL;
  END $$`;

/** What the server's clock shows in each zone; a zone that it refuses is left out. */
async function serverTimes(
  database: TestDatabase,
  zones: readonly string[],
): Promise<Map<string, string>> {
  await database.sql(ZONE_OFFSETS);
  const rows = await database.query<{ zone: string; times: string | null }>(
    'SELECT zone, local_times(zone, $2) AS times FROM unnest($1::text[]) AS zone',
    [zones, TIMES],
  );
  return new Map(rows.flatMap(({ zone, times }) => (times === null ? [] : [[zone, times]])));
}

function clockTimes(zone: string): string {
  const clock = clockIn(zone);
  const shown = TIMES.map((time) => clock(timestampFromUnixMs(Date.parse(time))));
  return shown.map(({ day, time }) => `${day} ${time}`).join(',');
}

const UTC_TIMES = clockTimes('UTC');

// older servers have older rules for the past
it.skipIf(sharedServer().major < 18)('the clock shows what the server would show', async () => {
  await using database = await createDatabase();
  const named = await database.query<{ name: string }>('SELECT name FROM pg_timezone_names');
  const names = named.map(({ name }) => name);
  const times = await serverTimes(database, [...names, ...NO_NAMES]);
  const shown = [...times.keys()].filter((zone) => clockTimes(zone) !== UTC_TIMES);
  for (const zone of shown)
    expect(`${zone}: ${clockTimes(zone)}`).toBe(`${zone}: ${times.get(zone)}`);
  expect(shown.length).toBeGreaterThan(500);
});
