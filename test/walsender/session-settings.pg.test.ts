// Settings of a database, a role or a user that change the text of values: none reaches a row.

import { describe, expect, it } from 'vitest';
import { runPgtail } from '../support/pgtail.ts';
import { createDatabase, type TestDatabase } from '../support/server.ts';

const HOSTILE: Readonly<Record<string, string>> = {
  DateStyle: 'German, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kathmandu',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  client_encoding: 'LATIN1',
  search_path: 'evil, public',
  quote_all_identifiers: 'on',
  standard_conforming_strings: 'off',
  xmlbinary: 'hex',
};

const TABLE = `
  CREATE TYPE mood AS ENUM ('fine', 'so so');
  CREATE TABLE measurements (
    id bigint PRIMARY KEY, at timestamptz, local timestamp, day date, lasted interval,
    f4 float4, f8 float8, exact numeric, raw bytea, name text, tags text[], feeling mood,
    times timestamptz[], raws bytea[], floats float8[], reg regclass, doc jsonb, doc_text json,
    price money, flag boolean, span tstzrange, ip inet, id2 uuid, bits bit(5), vector int2vector
  );
  CREATE PUBLICATION shop FOR TABLE measurements;`;

const ROWS = `
  INSERT INTO measurements VALUES
  (9007199254740993, '2026-11-29 20:36:50.055877+00', '2026-11-29 20:36:50.1', '294276-12-31',
   '1 year 2 mons -3 days 04:05:06.789', 0.3, 0.1::float8 + 0.2, 1234567890.12345678901234567890,
   '\\x00ff5c27', 'Zürich "a" \\ ''b'' 🐘', '{a,"b c",NULL,"NULL","\\"x\\""}', 'so so',
   '{"2026-01-01 00:00:00+05:45",infinity}', '{"\\\\x00ff"}', '{NaN,1e300,-0}', 'measurements',
   '{"b":1.50,"a":[true,null]}', '{ "k" :  1 }', '12.34', true,
   '["2026-01-01 00:00+00","2026-06-01 00:00+02")', '10.1.0.0/16',
   '5f0c6cf5-1d07-4d2a-9d3c-5d3fbb0b1f0a', B'10110', '1 2 3'),
  (2, '-infinity', 'infinity', '0044-03-15 BC', '-00:00:01', 'NaN', '-Infinity', 'NaN', '', '', '{}',
   NULL, NULL, NULL, NULL, NULL, 'null', '[]', NULL, false, 'empty', '::1', NULL, NULL, ''),
  (3, '0001-01-01 00:00:00+00', '4713-01-01 00:00:00 BC', '1999-12-31', '100 years', 1e-45, 5e-324,
   0.000000000000000000001, 'abc', E'tab\\tnewline\\nend\\u2028', '{{a,b},{c,d}}', NULL, NULL, NULL,
   NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);`;

async function prepare(database: TestDatabase): Promise<string> {
  await database.sql(TABLE);
  const slot = `${database.name}_slot`;
  await database.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [slot]);
  return slot;
}

/** Each row as the server itself writes it, with all settings as pgtail promises. */
async function oracle(database: TestDatabase): Promise<string[]> {
  const client = await database.connect();
  await client.query(`SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres';
    SET extra_float_digits = 3; SET bytea_output = 'hex'; SET client_encoding = 'UTF8';
    SET search_path = public; SET quote_all_identifiers = off`);
  const { rows } = await client.query<{ json: string }>(
    'SELECT row_to_json(m)::text AS json FROM public.measurements m ORDER BY ctid',
  );
  await client.end();
  return rows.map(({ json }) => json);
}

/** The text of each new row, byte for byte. */
function newRows(ndjson: string): string[] {
  return ndjson
    .split('\n')
    .filter((line) => line.startsWith('{"op":"insert"'))
    .map((line) => line.slice(line.indexOf('"new":') + '"new":'.length, -1));
}

async function printed(
  database: TestDatabase,
  slot: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const args = [...database.options, '-S', slot, '-P', 'shop', '--no-follow', '-q'];
  const { code, stdout, stderr } = await runPgtail(args, { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return newRows(stdout);
}

describe.concurrent('a row is what row_to_json prints under UTC', () => {
  it('whatever the settings of the database', async () => {
    await using database = await createDatabase();
    const slot = await prepare(database);
    for (const [name, value] of Object.entries(HOSTILE)) {
      const list = name === 'search_path' ? value : `'${value}'`;
      await database.sql(`ALTER DATABASE ${database.name} SET ${name} = ${list}`);
    }
    await database.sql(ROWS);
    expect(await printed(database, slot)).toEqual(await oracle(database));
  });

  it('whatever the settings of the role in this database', async () => {
    await using database = await createDatabase();
    const slot = await prepare(database);
    for (const [name, value] of Object.entries(HOSTILE)) {
      const list = name === 'search_path' ? value : `'${value}'`;
      await database.sql(
        `ALTER ROLE ${database.user} IN DATABASE ${database.name} SET ${name} = ${list}`,
      );
    }
    await database.sql(ROWS);
    expect(await printed(database, slot)).toEqual(await oracle(database));
  });

  it('whatever PGOPTIONS and the variables of libpq say', async () => {
    await using database = await createDatabase();
    const slot = await prepare(database);
    await database.sql(ROWS);
    const options = Object.entries(HOSTILE).map(
      ([name, value]) => `-c ${name}=${value.replaceAll(/([\\ ])/g, '\\$1')}`,
    );
    const env = {
      PGOPTIONS: options.join(' '),
      PGTZ: 'Asia/Kathmandu',
      PGDATESTYLE: 'German',
      PGCLIENTENCODING: 'LATIN1',
      TZ: 'America/New_York',
    };
    expect(await printed(database, slot, env)).toEqual(await oracle(database));
  });

  it('in a database of another encoding', async () => {
    await using database = await createDatabase(
      `ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`,
    );
    const slot = await prepare(database);
    await database.sql(`INSERT INTO measurements (id, name) VALUES (1, 'Zürich, Größe ÿ')`);
    const rows = await printed(database, slot);
    expect(rows).toEqual(await oracle(database));
    expect(rows[0]).toContain('Zürich, Größe ÿ');
  });

  it('and nothing a user made stands in for a system catalog', async () => {
    await using database = await createDatabase();
    const slot = await prepare(database);
    await database.sql(`
      CREATE SCHEMA evil;
      CREATE TABLE evil.pg_publication (pubname name);
      CREATE TABLE evil.pg_replication_slots (slot_name name);
      CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql AS $$SELECT 'evil'$$;
      CREATE FUNCTION evil.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS $$SELECT true$$;
      ALTER DATABASE ${database.name} SET search_path = evil, pg_catalog, public`);
    await database.sql(
      `INSERT INTO public.measurements (id, reg) VALUES (1, 'evil.pg_publication')`,
    );
    const env = { PGOPTIONS: '-c search_path=evil,pg_catalog' };
    expect(await printed(database, slot, env)).toEqual(await oracle(database));
  });
});
