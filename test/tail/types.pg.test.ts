// Types that the stream says too little of: looked up before the start, or while the stream waits.

import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import { createDatabase, sharedServer, type TestDatabase } from '../support/server.ts';
import { type Line, linesOf } from '../support/tail.ts';

const { major } = sharedServer();

/** Whether new connections can be made to the database; those that are open stay. */
async function allowConnections(database: TestDatabase, allowed: boolean): Promise<void> {
  const client = new Client({ ...database.connection, database: 'postgres' });
  await client.connect();
  await client.query(`ALTER DATABASE ${database.name} WITH ALLOW_CONNECTIONS ${allowed}`);
  await client.end();
}

/** A database with a publication for all tables, and the options that read a slot of it. */
async function shopWith(schema: string): Promise<{ database: TestDatabase; args: string[] }> {
  const database = await createDatabase();
  await database.sql('CREATE SCHEMA shop; CREATE PUBLICATION shop FOR ALL TABLES');
  await database.sql(schema);
  const slot = `${database.name}_slot`;
  await database.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [slot]);
  return { database, args: [...database.options, '-S', slot, '-P', 'shop'] };
}

const newRows = (ndjson: string): unknown[] =>
  linesOf(ndjson).flatMap((line) => (line.op === 'insert' ? [line.new] : []));

const typesOf = (lines: readonly Line[]): unknown[] =>
  lines.flatMap(({ op, columns }) =>
    op === 'relation' ? (columns as { type: string }[]).map(({ type }) => type) : [],
  );

/** What is said of every run with a slot. */
const NOTHING_ODD = /^pgtail: publication .+\n(pgtail: slot .+ stays, .+\n)?$/;

const PLACE = 'CREATE TYPE shop.place AS (street text, number int)';
const VISITS = 'CREATE TABLE shop.visits (id int PRIMARY KEY, place shop.place)';

describe('a type that is first met in mid-stream', () => {
  it('is looked up before the first row that has it, and what follows waits its turn', async () => {
    const { database, args } = await shopWith('CREATE TABLE orders (id int PRIMARY KEY)');
    await using _ = database;
    await using child = startPgtail(args);
    await child.started();
    await database.sql(`INSERT INTO orders VALUES (1); ${PLACE}; ${VISITS};
      INSERT INTO shop.visits VALUES (1, '(Rua,5)'), (2, '(,)');
      INSERT INTO orders SELECT generate_series(2, 2000)`);
    await database.sql(`CREATE TYPE shop.mood AS ENUM ('so so');
      CREATE DOMAIN shop.price AS numeric(10,2);
      CREATE TABLE shop.moods (moods shop.mood[], price shop.price, prices shop.price[]);
      INSERT INTO shop.moods VALUES ('{so so}', 1.5, '{2}')`);
    await child.output(/"so so"/);
    const { code, stdout, stderr } = await child.stop();
    expect(code).toBe(0);
    expect(stderr).toMatch(NOTHING_ODD);
    const rows = newRows(stdout);
    expect(rows.slice(0, 4)).toEqual([
      { id: 1 },
      { id: 1, place: { street: 'Rua', number: 5 } },
      { id: 2, place: { street: null, number: null } },
      { id: 2 },
    ]);
    expect(rows).toHaveLength(2003);
    expect(stdout).toContain('"new":{"moods":["so so"],"price":1.50,"prices":[2.00]}');
    expect(typesOf(linesOf(stdout)).slice(-3)).toEqual([
      'shop.mood[]',
      'shop.price',
      'shop.price[]',
    ]);
  });

  it.runIf(major >= 14)('is looked up for a large transaction that was kept, too', async () => {
    const { database, args } = await shopWith('CREATE TABLE orders (id int PRIMARY KEY)');
    await using _ = database;
    const env = { PGOPTIONS: '-c logical_decoding_work_mem=64kB' };
    await using child = startPgtail([...args, '--streaming', 'buffer'], { env });
    await child.started();
    await database.sql(`${PLACE}; ${VISITS};
      INSERT INTO shop.visits SELECT n, row('Rua', n)::shop.place FROM generate_series(1, 3000) n;
      CREATE TYPE shop.other AS (p shop.place); CREATE TABLE shop.others (o shop.other);
      INSERT INTO shop.others VALUES (row(row('x', 1)))`);
    await child.output(/"op":"commit"/);
    const { stdout } = await child.stop();
    const rows = newRows(stdout);
    expect(rows).toHaveLength(3001);
    expect(rows[2999]).toEqual({ id: 3000, place: { street: 'Rua', number: 3000 } });
    expect(rows[3000]).toEqual({ o: { p: { street: 'x', number: 1 } } });
  });

  it('is not looked up for a table that is left out', async () => {
    const { database, args } = await shopWith('CREATE TABLE orders (id int PRIMARY KEY)');
    await using _ = database;
    await using child = startPgtail([...args, '-t', 'orders']);
    await child.started();
    await allowConnections(database, false);
    await database.sql(`${PLACE}; ${VISITS}; INSERT INTO shop.visits VALUES (1, '(Rua,5)')`);
    await database.sql('INSERT INTO orders VALUES (1)');
    await child.output(/"new":\{"id":1\}/);
    const { code, stderr } = await child.stop();
    await allowConnections(database, true);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(NOTHING_ODD) });
  });

  it('is shown as the server’s text if no connection can be made, and that is said once', async () => {
    const { database, args } = await shopWith('CREATE TABLE orders (id int PRIMARY KEY)');
    await using _ = database;
    await using child = startPgtail(args);
    await child.started();
    await allowConnections(database, false);
    await database.sql(`${PLACE}; ${VISITS}; INSERT INTO shop.visits VALUES (1, '(Rua,5)');
      CREATE DOMAIN shop.size AS int; CREATE TABLE shop.sizes (size shop.size);
      INSERT INTO shop.sizes VALUES (44)`);
    await child.output(/"op":"commit"/);
    await allowConnections(database, true);
    // nobody is told that it can be asked again: the next transaction tries
    await database.sql(`INSERT INTO shop.visits VALUES (2, '(Rua,6)')`);
    await child.output(/"id":2/);
    const { code, stdout, stderr } = await child.stop();
    expect(code).toBe(0);
    expect(newRows(stdout)).toEqual([
      { id: 1, place: '(Rua,5)' },
      { size: 44 },
      { id: 2, place: { street: 'Rua', number: 6 } },
    ]);
    expect(typesOf(linesOf(stdout)).slice(0, 3)).toEqual(['integer', 'shop.place', 'integer']);
    expect(stderr.match(/types cannot be looked up/g)).toHaveLength(1);
    expect(stderr).toMatch(
      /^pgtail: types cannot be looked up \(.*\): values of the database's own types are shown/m,
    );
  });
});

describe.runIf(major >= 15)('a type of a transaction that is not over yet', () => {
  it('is shown as the server’s text, told once, and looked up again after it', async () => {
    const { database, args } = await shopWith('CREATE TABLE orders (id int PRIMARY KEY)');
    await using _ = database;
    await using child = startPgtail([...args, '--two-phase', '--yes']);
    await child.started();
    const gid = `${database.name} new type`;
    // not a composite: the server would wait for the lock on it before it sends the row
    await database.sql(`BEGIN; CREATE TYPE shop.mood AS ENUM ('happy');
      CREATE TABLE shop.moods (id int PRIMARY KEY, moods shop.mood[]);
      INSERT INTO shop.moods VALUES (1, '{happy}'); PREPARE TRANSACTION '${gid}'`);
    await child.output(/"op":"prepare"/);
    await database.sql(`COMMIT PREPARED '${gid}'`);
    await database.sql(`INSERT INTO shop.moods VALUES (2, '{happy}')`);
    await child.output(/"id":2/);
    const { stdout, stderr } = await child.stop();
    expect(newRows(stdout)).toEqual([
      { id: 1, moods: '{happy}' },
      { id: 2, moods: ['happy'] },
    ]);
    expect(stderr.match(/is not in the catalog/g)).toHaveLength(1);
  });
});

describe('a composite type that is altered', () => {
  it('is looked up again when its table is announced in another shape', async () => {
    const { database, args } = await shopWith(`${PLACE}; ${VISITS}`);
    await using _ = database;
    await using child = startPgtail(args);
    await child.started();
    await database.sql(`INSERT INTO shop.visits VALUES (1, '(Rua,5)')`);
    await child.output(/"number":5/);
    await database.sql(`ALTER TYPE shop.place RENAME ATTRIBUTE number TO house;
      ALTER TABLE shop.visits ADD COLUMN note text`);
    await database.sql(`INSERT INTO shop.visits VALUES (2, '(Rua,6)')`);
    await child.output(/"id":2/);
    const { stdout } = await child.stop();
    expect(newRows(stdout)[1]).toEqual({ id: 2, place: { street: 'Rua', house: 6 }, note: null });
  });

  it('may be altered back and forth', async () => {
    const { database, args } = await shopWith(`${PLACE}; ${VISITS}`);
    await using _ = database;
    await using child = startPgtail(args);
    await child.started();
    for (let id = 1; id < 6; id += 2) {
      await database.sql(`INSERT INTO shop.visits VALUES (${id}, '(Rua,5)')`);
      await child.output(new RegExp(`"id":${id}\\b`));
      await database.sql('ALTER TYPE shop.place ADD ATTRIBUTE town text');
      await database.sql(`INSERT INTO shop.visits VALUES (${id + 1}, '(Rua,6,Faro)')`);
      await child.output(new RegExp(`"id":${id + 1}\\b`));
      await database.sql('ALTER TYPE shop.place DROP ATTRIBUTE town');
    }
    const { stdout } = await child.stop();
    const [short, long] = [
      { street: 'Rua', number: 5 },
      { street: 'Rua', number: 6, town: 'Faro' },
    ];
    expect(newRows(stdout)).toEqual(
      [1, 2, 3, 4, 5, 6].map((id) => ({ id, place: id % 2 === 1 ? short : long })),
    );
  });

  it('is looked up again when a row does not fit it', async () => {
    const { database, args } = await shopWith(`${PLACE}; ${VISITS}`);
    await using _ = database;
    await using child = startPgtail(args);
    await child.started();
    await database.sql(`INSERT INTO shop.visits VALUES (1, '(Rua,5)')`);
    await child.output(/"number":5/);
    await database.sql('ALTER TYPE shop.place ADD ATTRIBUTE town text');
    await database.sql(`INSERT INTO shop.visits VALUES (2, '(Rua,6,Faro)')`);
    await child.output(/Faro/);
    await database.sql('ALTER TYPE shop.place DROP ATTRIBUTE number');
    await database.sql(`INSERT INTO shop.visits VALUES (3, '(Rua,Faro)')`);
    await child.output(/"id":3/);
    const { stdout } = await child.stop();
    expect(newRows(stdout)).toEqual([
      { id: 1, place: { street: 'Rua', number: 5 } },
      { id: 2, place: { street: 'Rua', number: 6, town: 'Faro' } },
      { id: 3, place: { street: 'Rua', town: 'Faro' } },
    ]);
  });

  it('leaves rows from before as the server’s text, in old rows and keys too', async () => {
    const { database, args } = await shopWith(`${PLACE}; ${VISITS};
      ALTER TABLE shop.visits REPLICA IDENTITY FULL`);
    await using _ = database;
    await database.sql(`INSERT INTO shop.visits VALUES (1, '(Rua,5)')`);
    await database.sql(`UPDATE shop.visits SET id = 2`);
    await database.sql('ALTER TYPE shop.place ADD ATTRIBUTE town text');
    await database.sql(`UPDATE shop.visits SET place.town = 'Faro'`);
    const { code, stdout } = await runPgtail([...args, '--no-follow']);
    expect(code).toBe(0);
    const rows = linesOf(stdout).flatMap(({ op, old, new: row }) =>
      op === 'insert' || op === 'update' ? [{ ...(old ? { old } : {}), new: row }] : [],
    );
    const now = (number: number, town: string | null) => ({ street: 'Rua', number, town });
    expect(rows).toEqual([
      { new: { id: 1, place: '(Rua,5)' } },
      { old: { id: 1, place: '(Rua,5)' }, new: { id: 2, place: '(Rua,5)' } },
      { old: { id: 2, place: now(5, null) }, new: { id: 2, place: now(5, 'Faro') } },
    ]);
  });
});

describe('a type that was dropped since', () => {
  it('is shown as the server’s text, and its relation by what the stream says of it', async () => {
    const { database, args } = await shopWith(`${PLACE}; ${VISITS};
      CREATE TYPE shop.mood AS ENUM ('happy'); CREATE DOMAIN shop.size AS int;
      CREATE TABLE shop.gone (mood shop.mood, moods shop.mood[], size shop.size, place shop.place)`);
    await using _ = database;
    await database.sql(`INSERT INTO shop.gone VALUES ('happy', '{happy}', 44, '(Rua,5)')`);
    await database.sql('DROP SCHEMA shop CASCADE');
    const { code, stdout, stderr } = await runPgtail([...args, '--no-follow', '-q']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(newRows(stdout)).toEqual([
      { mood: 'happy', moods: '{happy}', size: 44, place: '(Rua,5)' },
    ]);
    expect(typesOf(linesOf(stdout))).toEqual(['shop.mood', 'shop._mood', 'integer', 'shop.place']);
  });
});

describe('the names of types', () => {
  it('are those of format_type, with modifiers that only the type itself can print', async () => {
    const { database, args } = await shopWith(`
      CREATE TYPE shop.amount;
      CREATE FUNCTION shop.amount_in(cstring, oid, int) RETURNS shop.amount
        LANGUAGE internal STRICT IMMUTABLE AS 'numeric_in';
      CREATE FUNCTION shop.amount_out(shop.amount) RETURNS cstring
        LANGUAGE internal STRICT IMMUTABLE AS 'numeric_out';
      CREATE TYPE shop.amount (INPUT = shop.amount_in, OUTPUT = shop.amount_out, LIKE = numeric,
        TYPMOD_IN = numerictypmodin, TYPMOD_OUT = numerictypmodout);
      CREATE TYPE "Mood ""x""" AS ENUM ('a');
      CREATE DOMAIN shop."select" AS int;
      CREATE TABLE shop.things (a shop.amount(7,3), b shop.amount, c shop.amount(7,3)[],
        d numeric(10,2)[], e "Mood ""x""", f "Mood ""x"""[], g shop."select", h varchar(7), i text[],
        j information_schema.cardinal_number, k pg_class[])`);
    await using _ = database;
    await database.sql(`INSERT INTO shop.things (a, j) VALUES ('1.5', 7)`);
    await database.sql(`SET search_path = public`);
    const expected = await database.query<{ type: string }>(
      `SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute
        WHERE attrelid = 'shop.things'::regclass AND attnum > 0 ORDER BY attnum`,
    );
    const { stdout } = await runPgtail([...args, '--no-follow', '-q']);
    expect(typesOf(linesOf(stdout))).toEqual(expected.map(({ type }) => type));
    expect(newRows(stdout)).toEqual([expect.objectContaining({ a: '1.5', j: 7, k: null })]);
  });

  it('stand in the header of the pretty view', async () => {
    const { database, args } = await shopWith(`CREATE DOMAIN shop.price AS numeric(10,2);
      CREATE TABLE shop.things (id int PRIMARY KEY)`);
    await using _ = database;
    await database.sql('INSERT INTO shop.things VALUES (1)');
    await database.sql(`ALTER TABLE shop.things ADD price shop.price, ADD notes varchar(5)[];
      INSERT INTO shop.things VALUES (2, 1.5)`);
    const { stdout } = await runPgtail([...args, '--no-follow', '-q', '--format', 'pretty']);
    expect(stdout).toContain('price shop.price');
    expect(stdout).toContain('notes character varying(5)[]');
  });
});

describe('the pretty view', () => {
  it('shows a domain as it shows its base type', async () => {
    const { database, args } = await shopWith(`CREATE DOMAIN shop.flag AS boolean;
      CREATE DOMAIN shop.flag2 AS shop.flag; CREATE TABLE shop.things (flag shop.flag2)`);
    await using _ = database;
    await database.sql('INSERT INTO shop.things VALUES (true)');
    const { stdout } = await runPgtail([...args, '--no-follow', '-q', '--format', 'pretty']);
    expect(stdout).toContain('flag true');
  });
});

describe('a cast to json', () => {
  it('that only the server can run leaves the server’s text, and is told once a type', async () => {
    const { database, args } = await shopWith(`
      CREATE TYPE shop.heat AS ENUM ('hot', 'cold');
      CREATE FUNCTION shop.heat_json(shop.heat) RETURNS json LANGUAGE sql
        AS $$SELECT json_build_object('heat', $1::text)$$;
      CREATE CAST (shop.heat AS json) WITH FUNCTION shop.heat_json(shop.heat);
      CREATE TYPE shop.room AS (name text, heat shop.heat);
      CREATE TABLE shop.rooms (id int PRIMARY KEY, heat shop.heat, heats shop.heat[], room shop.room);
      CREATE TABLE shop.others (heat shop.heat)`);
    await using _ = database;
    await database.sql(`INSERT INTO shop.rooms VALUES (1, 'hot', '{cold}', '(hall,hot)');
      INSERT INTO shop.others VALUES ('cold')`);
    const { stdout, stderr } = await runPgtail([...args, '--no-follow']);
    expect(newRows(stdout)).toEqual([
      { id: 1, heat: 'hot', heats: ['cold'], room: { name: 'hall', heat: 'hot' } },
      { heat: 'cold' },
    ]);
    expect(stderr.split('\n').filter((line) => line.includes('cast to json'))).toEqual([
      "pgtail: values of type shop.heat are shown as the server's text: only the server can run their cast to json",
    ]);
  });
});

describe('--numbers string', () => {
  it('quotes bigint and numeric wherever they stand, and no other number', async () => {
    const { database, args } = await shopWith(`CREATE DOMAIN shop.price AS numeric(10,2);
      CREATE TYPE shop.line AS (n bigint, price shop.price, small int);
      CREATE TABLE shop.things (id bigint PRIMARY KEY, n numeric, price shop.price, ns bigint[],
        line shop.line, small int, f float8, doc jsonb);
      ALTER TABLE shop.things REPLICA IDENTITY FULL`);
    await using _ = database;
    await database.sql(`INSERT INTO shop.things VALUES
      (9007199254740993, 'NaN', 1.5, '{1,NULL}', '(1,2,3)', 7, 0.5, '{"n": 12}')`);
    await database.sql('UPDATE shop.things SET small = 8');
    const { stdout } = await runPgtail([...args, '--no-follow', '-q', '--numbers', 'string']);
    const row = {
      id: '9007199254740993',
      n: 'NaN',
      price: '1.50',
      ns: ['1', null],
      line: { n: '1', price: '2.00', small: 3 },
      small: 7,
      f: 0.5,
      doc: { n: 12 },
    };
    expect(newRows(stdout)).toEqual([row]);
    const update = linesOf(stdout).find(({ op }) => op === 'update');
    expect(update).toMatchObject({ old: row, new: { ...row, small: 8 }, changed: ['small'] });
  });
});

describe('--raw-values', () => {
  const SCHEMA = `${PLACE}; CREATE TABLE shop.things (id int PRIMARY KEY, ok boolean, n numeric,
    at timestamptz, doc json, ns int[], place shop.place, body bytea, note text)`;
  const ROW = `INSERT INTO shop.things VALUES (1, true, 1.50, '2026-11-29 20:36:50+00',
    E'{"a":\\n 1}', '{1,NULL}', '(Rua,5)', '\\x00ff', NULL)`;

  it('gives the text that the server sent, as strings', async () => {
    const { database, args } = await shopWith(SCHEMA);
    await using _ = database;
    await database.sql(ROW);
    const { stdout } = await runPgtail([...args, '--no-follow', '-q', '--raw-values']);
    expect(newRows(stdout)).toEqual([
      {
        id: '1',
        ok: 't',
        n: '1.50',
        at: '2026-11-29 20:36:50+00',
        doc: '{"a":\n 1}',
        ns: '{1,NULL}',
        place: '(Rua,5)',
        body: '\\x00ff',
        note: null,
      },
    ]);
  });

  it('gives them in the pretty view too', async () => {
    const { database, args } = await shopWith(SCHEMA);
    await using _ = database;
    await database.sql(ROW);
    const options = ['--no-follow', '-q', '--raw-values', '--format', 'pretty'];
    const { stdout } = await runPgtail([...args, ...options]);
    expect(stdout).toContain('ok t');
    expect(stdout).toContain('at 2026-11-29 20:36:50+00');
    expect(stdout).toContain('body \\x00ff');
  });
});
