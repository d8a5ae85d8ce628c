// `--timezone`: values are what row_to_json prints in that zone, and nothing else changes.

import { describe, expect, it } from 'vitest';
import { type PgtailResult, runPgtail } from '../support/pgtail.ts';
import { Publisher } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';
import { linesOf } from '../support/tail.ts';

const SCHEMA = `
  CREATE TYPE visit AS (at timestamptz, note text);
  CREATE TABLE readings (id int PRIMARY KEY, at timestamptz, short timestamptz(0), local timestamp,
    clock timetz, span tstzrange, times timestamptz[]);
  ALTER TABLE readings REPLICA IDENTITY FULL;
  CREATE TABLE visits (id int PRIMARY KEY, seen visit);`;

/** Summer and winter, offsets with minutes and with seconds, both ends of time. */
const TIMES = [
  '2026-11-29 20:36:50.055877+00',
  '2026-07-01 00:00:00+00',
  '2026-03-29 01:00:00+00',
  '1930-06-01 12:00:00+00',
  '1930-01-01 12:00:00.5+00',
  '1800-01-01 00:00:00+00',
  '1883-11-18 16:59:59+00',
  '0001-01-01 00:00:00+00',
  '0044-03-15 12:00:00+00 BC',
  '4713-01-01 12:00:00+00 BC',
  '294276-12-31 00:00:00+00',
  'infinity',
  '-infinity',
];

const ROWS = TIMES.map(
  (time, id) => `INSERT INTO readings VALUES (${id}, '${time}', '${time}', '2026-11-29 20:36:50',
    '20:36:50+05:45', tstzrange('${time}', NULL), ARRAY['${time}', NULL, '2026-07-01 00:00+00']::timestamptz[])`,
);

const ZONES = [
  'UTC',
  'Asia/Kathmandu',
  'Europe/Amsterdam',
  'Africa/Monrovia',
  'America/St_Johns',
  'america/argentina/buenos_aires',
  'Pacific/Kiritimati',
  'Etc/GMT+12',
  'EST5EDT',
  '-3.5',
  '<-0230>+02:30',
  '<A B\\C>-3',
];

const openReadings = (): Promise<Publisher> => Publisher.open({ schema: SCHEMA });

/** The rows as the server writes them in that zone. */
async function oracle({ database }: Publisher, zone: string): Promise<string[]> {
  await database.query(`SELECT set_config('TimeZone', $1, false)`, [zone]);
  const rows = await database.query<{ json: string }>(
    'SELECT row_to_json(r)::text AS json FROM readings AS r ORDER BY id',
  );
  return rows.map(({ json }) => json);
}

/** The text of each new row, byte for byte. */
function newRows({ stdout }: PgtailResult): string[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{"op":"insert"'))
    .map((line) => line.slice(line.indexOf('"new":') + '"new":'.length, -1));
}

describe.concurrent('--timezone', () => {
  it.skipIf(sharedServer().major < 12)('prints what row_to_json prints in that zone', async () => {
    await using publisher = await openReadings();
    await publisher.commit(...ROWS);
    for (const zone of ZONES) {
      const slot = await publisher.copyOfSlot();
      const run = await publisher.run(slot, ['-q', `--timezone=${zone}`]);
      expect({ zone, code: run.code, stderr: run.stderr }).toEqual({ zone, code: 0, stderr: '' });
      expect(newRows(run), zone).toEqual(await oracle(publisher, zone));
      for (const line of linesOf(run.stdout)) {
        if (line.op === 'begin') expect(line.commit_time).toMatch(/\+00:00$/);
      }
    }
  });

  it('reaches old rows and what stands inside composites, whatever PGTZ says', async () => {
    await using publisher = await openReadings();
    await publisher.commit(
      `INSERT INTO readings (id, at) VALUES (1, '2026-11-29 20:36:50+00')`,
      `UPDATE readings SET at = '2026-11-29 21:00:00+00'`,
      `INSERT INTO visits VALUES (1, ROW('2026-11-29 20:36:50+00', 'tea'))`,
    );
    const args = [...publisher.args(), '--no-follow', '-q'];
    const { stdout } = await runPgtail(args, {
      env: { PGTZ: 'UTC', PGOPTIONS: '-c TimeZone=UTC', PGTAIL_TIMEZONE: 'Asia/Kathmandu' },
    });
    const lines = linesOf(stdout);
    expect(lines.find(({ op }) => op === 'update')).toMatchObject({
      old: { at: '2026-11-30T02:21:50+05:45' },
      new: { at: '2026-11-30T02:45:00+05:45' },
    });
    expect(stdout).toMatch(/"seen":.*2026-11-30.02:21:50\+05:45/);
  });

  it.skipIf(sharedServer().major < 14)('leaves --binary off, and pgtail says so', async () => {
    await using publisher = await openReadings();
    await publisher.commit(...ROWS);
    const options = ['--binary', '--timezone', 'Europe/Amsterdam'];
    const run = await publisher.run(publisher.slot, options);
    expect(run.stderr).toContain('--binary is left off: with a --timezone other than UTC');
    expect(newRows(run)).toEqual(await oracle(publisher, 'Europe/Amsterdam'));
  });

  it('that is UTC leaves --binary on', async () => {
    await using publisher = await openReadings();
    const run = await publisher.run(publisher.slot, ['--binary', '--timezone', 'utc']);
    expect(run.stderr).not.toContain('left off');
  });

  it('is the clock of the blocks too', async () => {
    await using publisher = await openReadings();
    await publisher.commit(`INSERT INTO readings (id, at) VALUES (1, '2026-11-29 20:36:50+00')`);
    const options = ['--format', 'pretty', '--timezone', 'Asia/Kathmandu'];
    const { stdout } = await publisher.run(publisher.slot, options);
    expect(stdout).toMatch(/^┌ \d+ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \+05:45 {2}/);
    expect(stdout).toContain('2026-11-30 02:21:50+05:45');
  });
});

describe.concurrent('a time zone that the server does not have', () => {
  const args = [...connectOptions(), '-d', 'postgres'];

  it('is exit code 2 and says what one looks like', async () => {
    const { code, stderr } = await runPgtail([...args, '--timezone', 'Mars/Olympus']);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^pgtail: invalid value for --timezone: .*"Mars\/Olympus" \(.*Europe\/Berlin/,
    );
  });

  it.each([
    'UTC -c search_path=evil',
    'UTC\t-csearch_path=evil',
    '\\ -c search_path=evil',
    "UTC' -c search_path=evil",
  ])('is no way to set something else: %j', async (zone) => {
    const { code, stderr } = await runPgtail([...args, '--timezone', zone]);
    expect(code).toBe(2);
    expect(stderr).toContain('invalid value for --timezone');
  });

  it.each(['', 'Zürich', 'a\nb'])('may not be %j', async (zone) => {
    const { code, stderr } = await runPgtail([...args, `--timezone=${zone}`]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/invalid value for --timezone \(.*Europe\/Berlin/);
  });
});

function connectOptions(): string[] {
  const { host, port, user } = sharedServer();
  return ['-h', host, '-p', String(port), '-U', user];
}
