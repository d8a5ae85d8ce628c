// Values that have broken somebody's reader, in every place of a row: each line is, byte for byte,
// what the server's own row_to_json prints of that row.

import { DatabaseError, escapeIdentifier } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pinSession } from '../../pgtypes/encoded.ts';
import { members } from '../../support/json-members.ts';
import { type PgtailResult, runPgtail } from '../../support/pgtail.ts';
import { createDatabase, sharedServer, type TestDatabase } from '../../support/server.ts';
import { linesOf } from '../../support/tail.ts';
import { BUILTIN_VALUES } from './builtin-values.ts';
import { USER_TYPE_VALUES } from './user-type-values.ts';
import { caseSql, PLACES, type Place, type ValueCase } from './value-case.ts';

/** Of a server built without it. */
const FEATURE_NOT_SUPPORTED = '0A000';

const { major } = sharedServer();

const CASES: readonly (ValueCase & { readonly table: string; readonly title: string })[] = [
  ...BUILTIN_VALUES,
  ...USER_TYPE_VALUES,
]
  .filter(({ since = 0 }) => major >= since)
  .map((valueCase, i) => ({
    ...valueCase,
    table: `values_${i}`,
    title: `${valueCase.type}: ${valueCase.values[0]!.slice(0, 30)}`,
  }));

/** Changes of a database with a publication, printed to their end. */
class PrintedDatabase {
  readonly database: TestDatabase;

  private constructor(database: TestDatabase) {
    this.database = database;
  }

  static async open(): Promise<PrintedDatabase> {
    const printed = new PrintedDatabase(await createDatabase());
    const { database } = printed;
    await pinSession(database);
    await database.sql('CREATE PUBLICATION shop FOR ALL TABLES');
    await database.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [
      `${database.name}_slot`,
    ]);
    return printed;
  }

  async print(...options: readonly string[]): Promise<PgtailResult> {
    const { database } = this;
    const args = [...database.options, '-S', `${database.name}_slot`, '-P', 'shop', '--no-follow'];
    const result = await runPgtail([...args, ...options]);
    expect(result).toMatchObject({ code: 0 });
    return result;
  }

  /** The rows of a table as lines must show them: a line cannot keep the line breaks of json. */
  async expected(table: string): Promise<string[]> {
    const rows = await this.database.query<{ json: string }>(
      `SELECT row_to_json(t)::text AS json FROM ${escapeIdentifier(table)} AS t ORDER BY ctid`,
    );
    return rows.map(({ json }) => json.replaceAll(/[\r\n]/g, ' '));
  }
}

/** By the table's name as it stands in JSON: the text of each new row. */
function newRows(ndjson: string): Map<string, string[]> {
  const rows = new Map<string, string[]>();
  for (const line of ndjson.split('\n').filter((text) => text.startsWith('{"op":"insert"'))) {
    const parts = members(line);
    const table = parts.get('"table"')!;
    rows.set(table, [...(rows.get(table) ?? []), parts.get('"new"')!]);
  }
  return rows;
}

describe('a value', () => {
  let printed: PrintedDatabase;
  let rows: Map<string, string[]>;
  const unsupported = new Set<string>();

  beforeAll(async () => {
    printed = await PrintedDatabase.open();
    for (const valueCase of CASES) await make(valueCase);
    rows = newRows((await printed.print('-q')).stdout);
  });

  afterAll(() => printed.database.drop());

  async function make(valueCase: (typeof CASES)[number]): Promise<void> {
    try {
      await printed.database.sql(caseSql(valueCase.table, valueCase));
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.code !== FEATURE_NOT_SUPPORTED)
        throw new Error(`${valueCase.title}: ${error.message}`, { cause: error });
      unsupported.add(valueCase.table);
    }
  }

  const inPlace = (json: readonly string[], place: Place): (string | undefined)[] =>
    json.map((row) => members(row).get(JSON.stringify(place)));

  describe.each(PLACES)('%s is what row_to_json prints', (place) => {
    it.for(CASES)('of $title', async ({ table }, { skip }) => {
      skip(unsupported.has(table), 'the server was built without it');
      const ours = rows.get(JSON.stringify(table)) ?? [];
      expect(inPlace(ours, place)).toEqual(inPlace(await printed.expected(table), place));
    });
  });

  it('does not change anything around it: every row is what row_to_json prints', async () => {
    for (const { table, title } of CASES.filter((each) => !unsupported.has(each.table))) {
      const ours = rows.get(JSON.stringify(table));
      expect({ title, rows: ours }).toEqual({ title, rows: await printed.expected(table) });
    }
  });
});

describe('a name', () => {
  const NAMES: readonly string[] = [
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '1', '0', 'a"b', 'a""b', "it's"],
    ...['line\nbreak', 'return\r', 'tab\t', 'back\\slash', '\x01', '\x7f', '🍵', 'Ünï "q"'],
    ...['n'.repeat(63), `${'é'.repeat(31)}x`, '\u2028', ' ', '\u200b', 'new', 'op', 'null', '{}'],
  ];

  it('of a column may be anything, in the order of the table', async () => {
    const printed = await PrintedDatabase.open();
    await using database = printed.database;
    const columns = NAMES.map((name) => `${escapeIdentifier(name)} text`).join(', ');
    const values = NAMES.map((_, i) => `'${i}'`).join(', ');
    await database.sql(`CREATE TABLE odd (${columns}); INSERT INTO odd VALUES (${values})`);
    const { stdout } = await printed.print('-q');
    expect(newRows(stdout).get('"odd"')).toEqual(await printed.expected('odd'));
    const relation = linesOf(stdout).find(({ op }) => op === 'relation');
    expect(relation).toMatchObject({ columns: NAMES.map((name) => ({ name })) });
  });

  it('of a table may be anything', async () => {
    const printed = await PrintedDatabase.open();
    await using database = printed.database;
    for (const name of NAMES) {
      const table = escapeIdentifier(name);
      await database.sql(`CREATE TABLE ${table} (${table} int); INSERT INTO ${table} VALUES (1)`);
    }
    const rows = newRows((await printed.print('-q')).stdout);
    const [names] = await database.query<{ json: string[] }>(
      'SELECT array_agg(to_json(name)::text) AS json FROM unnest($1::text[]) AS name',
      [NAMES],
    );
    expect([...rows.keys()]).toEqual(names!.json);
    for (const [i, name] of NAMES.entries()) {
      expect(rows.get(names!.json[i]!)).toEqual(await printed.expected(name));
    }
  });

  it('is not needed: a table without columns has empty rows', async () => {
    const printed = await PrintedDatabase.open();
    await using database = printed.database;
    await database.sql('CREATE TABLE nothing (); INSERT INTO nothing DEFAULT VALUES');
    const { stdout } = await printed.print('-q');
    expect(newRows(stdout).get('"nothing"')).toEqual(['{}']);
  });
});

describe('a type that a user casts to json', () => {
  /** A function, and a cast that calls it. */
  const cast = (type: string) => `
    CREATE FUNCTION ${type}_to_json(${type}) RETURNS json LANGUAGE sql IMMUTABLE
      AS $$ SELECT json_build_object('cast', format('%s', $1)) $$;
    CREATE CAST (${type} AS json) WITH FUNCTION ${type}_to_json(${type});`;

  it('is shown as the server’s text, and one notice a type says so', async () => {
    const printed = await PrintedDatabase.open();
    await using database = printed.database;
    await database.sql(`
      CREATE TYPE mood AS ENUM ('calm', 'so "so"');
      CREATE TYPE float_range AS RANGE (subtype = float8);
      CREATE DOMAIN feeling AS mood;
      CREATE TYPE owl AS (name text, mood mood);
      ${cast('mood')} ${cast('float_range')}
      CREATE TABLE owls (mood mood, range float_range, feeling feeling, moods mood[], owl owl);
      CREATE TABLE more_owls (mood mood)`);
    await database.sql(`INSERT INTO owls VALUES
      ('so "so"', '[0.1,2)', 'calm', '{calm,"so \\"so\\"",NULL}', '(Hedwig,"so ""so""")'),
      (NULL, NULL, NULL, NULL, NULL), ('calm', 'empty', 'calm', '{}', '(,)');
      INSERT INTO more_owls VALUES ('calm')`);
    const { stdout, stderr } = await printed.print();
    const rows = newRows(stdout);
    expect(rows.get('"owls"')).toEqual([
      String.raw`{"mood":"so \"so\"","range":"[0.1,2)","feeling":"calm","moods":["calm","so \"so\"",null],"owl":{"name":"Hedwig","mood":"so \"so\""}}`,
      '{"mood":null,"range":null,"feeling":null,"moods":null,"owl":null}',
      '{"mood":"calm","range":"empty","feeling":"calm","moods":[],"owl":{"name":null,"mood":null}}',
    ]);
    expect(rows.get('"more_owls"')).toEqual(['{"mood":"calm"}']);
    const warnings = stderr.split('\n').filter((line) => /\bjson\b/.test(line));
    expect(warnings).toHaveLength(2);
    expect(warnings.join('\n')).toMatch(/\bmood\b/);
    expect(warnings.join('\n')).toMatch(/\bfloat_range\b/);
  });

  it('is no different if the cast has no function or is that of a domain', async () => {
    const printed = await PrintedDatabase.open();
    await using database = printed.database;
    await database.sql(`
      CREATE TYPE mood AS ENUM ('calm', '"so so"');
      CREATE CAST (mood AS json) WITH INOUT;
      CREATE TYPE owl AS (name text);
      CREATE CAST (owl AS json) WITH INOUT;
      CREATE DOMAIN feeling AS text;
      ${cast('feeling')}
      CREATE TABLE owls (mood mood, moods mood[], owl owl, feeling feeling)`);
    await database.sql(`INSERT INTO owls VALUES ('calm', '{"\\"so so\\""}', '(Hedwig)', '1')`);
    const { stdout, stderr } = await printed.print();
    expect(newRows(stdout).get('"owls"')).toEqual(await printed.expected('owls'));
    expect(stderr).not.toMatch(/\bjson\b/);
  });
});
