// Databases that are not in UTF8: what the server converts, and what `--encoding` reads unconverted.

import { describe, expect, it } from 'vitest';
import { runPgtail } from '../support/pgtail.ts';
import { Publisher } from '../support/publisher.ts';
import { createDatabase, sharedServer } from '../support/server.ts';
import { type Line, linesOf, lsnOf } from '../support/tail.ts';

const inEncoding = (encoding: string): string =>
  `ENCODING '${encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`;

/** `words` are what the table, a column, a type and everything else is called. */
const schemaOf = ([table, column, type]: readonly [string, string, string]): string => `
  CREATE TYPE "${type}" AS ENUM ('${column}', 'x');
  CREATE TABLE "${table}" (id text PRIMARY KEY, "${column}" text, tags text[], feeling "${type}",
    doc jsonb, parts "${type}"[]);
  ALTER TABLE "${table}" REPLICA IDENTITY FULL;
  CREATE TABLE "${column}" (id text PRIMARY KEY, note text);`;

const changesOf = ([table, column, type]: readonly [string, string, string]): string[] => [
  `INSERT INTO "${table}" VALUES ('${table}1', '${column} "a" \\', '{${table},"b c",NULL,"${type}"}',
     '${column}', '{"${column}": ["${table}"]}', '{${column},x}')`,
  `UPDATE "${table}" SET "${column}" = '${type}', tags = NULL`,
  `INSERT INTO "${column}" VALUES ('${table}', repeat('${type}, ', 1000)), ('ascii', 'only')`,
  `UPDATE "${column}" SET id = '${type}' WHERE id = '${table}'`,
  `DELETE FROM "${column}"; DELETE FROM "${table}"`,
];

const WORDS = {
  LATIN1: ['Größe', 'côté', 'ÿþ×'],
  LATIN9: ['Größe€', 'cœur', 'Šž'],
  WIN1251: ['заказы', 'цвет', 'Щёголь№'],
  EUC_JP: ['注文', '品名ｱ', '髙﨑丸'],
  EUC_KR: ['주문', '이름', '값'],
  EUC_CN: ['订单', '名称―', '・价'],
  UTF8: ['Größe', '注文', '🐘'],
} as const;

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const saidOf = ({ code, stdout, stderr }: Run) => ({ code, lines: stdout, said: stderr });

/** Logical messages came with 14. */
const hasMessages = sharedServer().major >= 14;
const hasTwoPhase = sharedServer().major >= 15;
const hasAdvance = sharedServer().major >= 11;
/** A slot can be copied from 12 on. */
const hasCopies = sharedServer().major >= 12;

describe.concurrent('a database the server can convert', () => {
  const encodings = Object.keys(WORDS) as (keyof typeof WORDS)[];

  it.skipIf(!hasCopies).each(encodings)(
    'in %s is read with --encoding as without',
    async (encoding) => {
      const words = WORDS[encoding];
      await using publisher = await Publisher.open({
        schema: schemaOf(words),
        database: inEncoding(encoding),
      });
      await publisher.commit(
        `ALTER DATABASE ${publisher.database.name} SET client_encoding = '${encoding}'`,
        ...changesOf(words),
        ...(hasMessages ? [`SELECT pg_logical_emit_message(true, '${words[0]}', 'hello')`] : []),
      );
      const copies = [await publisher.copyOfSlot(), await publisher.copyOfSlot()];
      const converted = await publisher.run(publisher.slot, ['-q']);
      expect(converted).toMatchObject({ code: 0, stderr: '' });
      for (const word of words) expect(converted.stdout).toContain(word);
      for (const [index, slot] of copies.entries()) {
        const args = [...publisher.args(slot), '--no-follow', '--encoding', encoding];
        const env = { PGCLIENTENCODING: 'LATIN2', PGOPTIONS: '-c client_encoding=LATIN2' };
        const unconverted = await runPgtail([...args, ...(index === 0 ? [] : ['--binary'])], {
          env,
        });
        expect(unconverted.stdout).toBe(converted.stdout);
        expect(unconverted.code).toBe(0);
        const saysTextOnly = unconverted.stderr.includes('--binary is left off: with --encoding');
        expect(saysTextOnly).toBe(index === 1);
      }
    },
  );

  it.skipIf(!hasTwoPhase)('has its gids read as that encoding', async () => {
    await using publisher = await Publisher.open({
      schema: 'CREATE TABLE orders (id int PRIMARY KEY)',
      database: inEncoding('EUC_JP'),
    });
    const gid = `注文_${publisher.database.name}`;
    const slot = `${publisher.slot}_two_phase`;
    await publisher.createSlot(slot, true);
    await publisher.commit('BEGIN; INSERT INTO orders VALUES (1);', `PREPARE TRANSACTION '${gid}'`);
    await publisher.commit(`COMMIT PREPARED '${gid}'`);
    const { code, stdout } = await publisher.run(slot, ['--encoding', 'EUC_JP', '--two-phase']);
    expect(code).toBe(0);
    const named = linesOf(stdout).filter(({ op }) => op === 'prepare' || op === 'commit_prepared');
    expect(named.map((line) => line.gid)).toEqual([gid, gid]);
  });

  it('has its origins read as that encoding', async () => {
    await using publisher = await Publisher.open({
      schema: 'CREATE TABLE orders (id int PRIMARY KEY)',
      database: inEncoding('LATIN1'),
    });
    const { database } = publisher;
    const origin = `größe_${database.name}`;
    await database.query('SELECT pg_replication_origin_create($1)', [origin]);
    try {
      await database.query('SELECT pg_replication_origin_session_setup($1)', [origin]);
      await publisher.commit('INSERT INTO orders VALUES (1)');
      await database.query('SELECT pg_replication_origin_session_reset()');
      const { code, stdout } = await publisher.run(publisher.slot, ['--encoding', 'latin-1']);
      expect(code).toBe(0);
      expect(linesOf(stdout).find(({ op }) => op === 'origin')).toMatchObject({ origin });
    } finally {
      await database.query('SELECT pg_replication_origin_drop($1)', [origin]);
    }
  });

  it('is read as another encoding if one says so, and pgtail tells', async () => {
    await using publisher = await Publisher.open({
      schema: 'CREATE TABLE orders (id int PRIMARY KEY, note text)',
      database: inEncoding('LATIN1'),
    });
    await publisher.commit(`INSERT INTO orders VALUES (1, E'12 \\x80')`);
    const run = await publisher.run(publisher.slot, ['--encoding', 'WIN1252']);
    expect(run.code).toBe(0);
    expect(run.stderr).toContain('the database is in LATIN1, its text is read as WIN1252');
    expect(linesOf(run.stdout)[2]?.new).toEqual({ id: 1, note: '12 €' });
  });
});

/** A database in SQL_ASCII, where text is any bytes; `schema` may write them as E'\xe9'. */
function inSqlAscii(schema: string, publications?: Record<string, string>): Promise<Publisher> {
  return Publisher.open({
    schema,
    database: inEncoding('SQL_ASCII'),
    ...(publications === undefined ? {} : { publications }),
  });
}

const ORDERS = 'CREATE TABLE orders (id int PRIMARY KEY, note text)';

/** Names cannot be written with escapes, so that they are put together. */
const FRENCH = `DO $$ BEGIN
  EXECUTE format('CREATE TYPE %I AS ENUM (%L)', E'humeur\\xe9', E'f\\xe2ch\\xe9');
  EXECUTE format('CREATE TABLE %I (id text PRIMARY KEY, %I text, tags text[], feeling %I)',
    E'commandes_\\xe9', E'libell\\xe9', E'humeur\\xe9');
  EXECUTE format('ALTER TABLE %I REPLICA IDENTITY FULL', E'commandes_\\xe9');
END $$`;

const FRENCH_CHANGES = `DO $$ BEGIN
  EXECUTE format('INSERT INTO %I VALUES (%L, %L, %L, %L)', E'commandes_\\xe9', E'cl\\xe9',
    E'\\x80 na\\xefve "\\xab"', E'{\\xe0,"b \\xe7",NULL}', E'f\\xe2ch\\xe9');
  EXECUTE format('UPDATE %I SET %I = %L', E'commandes_\\xe9', E'libell\\xe9', E'\\xff');
  EXECUTE format('DELETE FROM %I', E'commandes_\\xe9');
END $$`;

function changesOnly(stdout: string): Line[] {
  return linesOf(stdout).filter(({ op }) => op === 'insert' || op === 'update' || op === 'delete');
}

describe.concurrent('a database in SQL_ASCII', () => {
  it('with bytes in LATIN1 is read as LATIN1: values, keys, old rows and names', async () => {
    await using publisher = await inSqlAscii(FRENCH);
    await publisher.commit(FRENCH_CHANGES);
    const { code, stdout } = await publisher.run(publisher.slot, ['--encoding', 'LATIN1']);
    expect(code).toBe(0);
    const first = {
      id: 'clé',
      libellé: '\x80 naïve "«"',
      tags: ['à', 'b ç', null],
      feeling: 'fâché',
    };
    const second = { ...first, libellé: 'ÿ' };
    expect(changesOnly(stdout)).toMatchObject([
      { table: 'commandes_é', new: first },
      { table: 'commandes_é', old: first, new: second, changed: ['libellé'] },
      { table: 'commandes_é', old: second },
    ]);
    const lines = linesOf(stdout);
    expect(lines.find(({ op }) => op === 'type')).toMatchObject({ name: 'humeuré' });
  });

  it.skipIf(!hasMessages)(
    'has message prefixes in its bytes, and contents as they are',
    async () => {
      await using publisher = await inSqlAscii(ORDERS);
      await publisher.commit(
        `SELECT pg_logical_emit_message(true, E'caf\\xe9', E'\\xe9'),
              pg_logical_emit_message(true, 'b', E'\\xc3\\xa9')`,
      );
      const { stdout } = await publisher.run(publisher.slot, ['--encoding', 'LATIN1']);
      expect(linesOf(stdout).filter(({ op }) => op === 'message')).toMatchObject([
        { prefix: 'café', content_base64: '6Q==' },
        { prefix: 'b', content: 'é' },
      ]);
    },
  );

  it('with bytes in UTF-8 needs no --encoding', async () => {
    await using publisher = await inSqlAscii(ORDERS);
    await publisher.commit(`INSERT INTO orders VALUES (1, 'Größe 🐘')`);
    const { code, stdout } = await publisher.run(publisher.slot);
    expect(code).toBe(0);
    expect(changesOnly(stdout)[0]?.new).toEqual({ id: 1, note: 'Größe 🐘' });
  });

  it('with bytes in UTF-8 is read as UTF8', async () => {
    await using publisher = await inSqlAscii(ORDERS);
    await publisher.commit(`INSERT INTO orders VALUES (1, 'Größe 🐘')`);
    const { code, stdout } = await publisher.run(publisher.slot, ['--encoding', 'utf-8']);
    expect(code).toBe(0);
    expect(changesOnly(stdout)[0]?.new).toEqual({ id: 1, note: 'Größe 🐘' });
  });

  it('with other bytes ends as exit code 1, with the LSN and what to do', async () => {
    await using publisher = await inSqlAscii(ORDERS);
    await publisher.commit(
      `INSERT INTO orders VALUES (1, 'fine')`,
      `INSERT INTO orders VALUES (2, E'secret \\xe9t\\xe9')`,
    );
    const { code, lines, said } = saidOf(await publisher.run(publisher.slot));
    expect(code).toBe(1);
    expect(said).toMatch(/cannot send text at [0-9A-F]+\/[0-9A-F]+ as UTF8/);
    expect(said).toMatch(/HINT: .*SQL_ASCII.*--encoding LATIN1/);
    expect(said).not.toContain('secret');
    expect(changesOnly(lines).map((line) => line.new?.id)).toEqual([1]);
  });

  it('with bytes that are not in the encoding named ends with what to do, and loses nothing', async () => {
    await using publisher = await inSqlAscii(ORDERS);
    await publisher.commit(
      `INSERT INTO orders VALUES (1, 'fine')`,
      `INSERT INTO orders VALUES (2, 'half'), (3, E'secret \\xff\\xfe'), (4, 'more')`,
    );
    const { code, lines, said } = saidOf(
      await publisher.run(publisher.slot, ['--encoding', 'UTF8']),
    );
    expect(code).toBe(1);
    expect(said).toMatch(
      /insert at [0-9A-F]+\/[0-9A-F]+: column "note" of "public.orders" holds bytes that are not valid in UTF8\n.*HINT: .*LATIN1/,
    );
    expect(said).not.toContain('secret');
    expect(lines).not.toContain('\ufffd');
    const [{ confirmed }] = (await publisher.database.query<{ confirmed: string }>(
      'SELECT confirmed_flush_lsn::text AS confirmed FROM pg_replication_slots WHERE slot_name = $1',
      [publisher.slot],
    )) as [{ confirmed: string }];
    const firstEnd = linesOf(lines).find(({ op }) => op === 'commit')!.end_lsn!;
    expect(lsnOf(confirmed)).toBeLessThanOrEqual(lsnOf(firstEnd));
    const again = await publisher.run(publisher.slot, ['--encoding', 'LATIN1']);
    expect(again.code).toBe(0);
    const rows = changesOnly(again.stdout).map((line) => line.new);
    expect(rows.slice(-3)).toEqual([
      { id: 2, note: 'half' },
      { id: 3, note: 'secret ÿþ' },
      { id: 4, note: 'more' },
    ]);
  });

  it.skipIf(!hasMessages)(
    'is read so in a transaction kept until it commits, and in one shown live',
    async () => {
      await using publisher = await inSqlAscii(ORDERS);
      await publisher.commit(
        `INSERT INTO orders SELECT i, E'\\xe9' || repeat('x', 100) FROM generate_series(1, 3000) AS i`,
      );
      const copy = await publisher.copyOfSlot();
      for (const [slot, streaming] of [
        [publisher.slot, 'buffer'],
        [copy, 'on'],
      ] as const) {
        const options = ['--encoding', 'LATIN1', '--streaming', streaming];
        const { code, stdout } = await publisher.run(slot, options, 'memory');
        expect(code).toBe(0);
        const notes = new Set(changesOnly(stdout).map((line) => line.new?.note));
        expect([...notes]).toEqual([`é${'x'.repeat(100)}`]);
        expect(changesOnly(stdout)).toHaveLength(3000);
      }
    },
  );

  it('with a name that is not in the encoding named ends with the transaction it is in', async () => {
    await using publisher = await inSqlAscii(FRENCH);
    await publisher.commit(FRENCH_CHANGES);
    const { code, lines, said } = saidOf(
      await publisher.run(publisher.slot, ['--encoding', 'UTF8']),
    );
    expect({ code, lines }).toEqual({ code: 1, lines: '' });
    expect(said).toMatch(/type in the transaction at [0-9A-F]+\/[1-9A-F]/);
    expect(said).toContain('type name holds bytes that are not valid in UTF8');
  });

  it('is read although another publication has a name that is not UTF-8', async () => {
    await using publisher = await inSqlAscii(ORDERS);
    await publisher.commit(
      `DO $$ BEGIN
         EXECUTE format('CREATE PUBLICATION %I', E'\\xe9');
         EXECUTE format('CREATE SCHEMA %I', E'\\xe9');
       END $$`,
      `INSERT INTO orders VALUES (1, 'tea')`,
    );
    const { code, stdout } = await publisher.run(publisher.slot);
    expect({ code, rows: changesOnly(stdout).length }).toEqual({ code: 0, rows: 1 });
    const { options } = publisher.database;
    const unnamed = saidOf(await runPgtail([...options, '-S', publisher.slot]));
    expect(unnamed.code).toBe(4);
    expect(unnamed.said).toMatch(/cannot read the catalogs: .*\n.*HINT: .*-P/);
    const missing = saidOf(await runPgtail([...options, '-S', publisher.slot, '-P', 'shpo']));
    expect(missing.code).toBe(4);
    expect(missing.said).toMatch(/publication "shpo" does not exist.*\n.*-P: "shop"$/m);
  });
});

/** Beside types that can be named in any encoding, some that are in LATIN1. */
const FRENCH_TYPES = `
  CREATE TYPE price AS (amount int, per numeric);
  CREATE DOMAIN discount AS numeric(5,2);
  CREATE TABLE orders (id int PRIMARY KEY, price price, prices price[], off discount);
  DO $$ BEGIN
    EXECUTE format('CREATE TYPE %I AS (%I text, n int)', E'lieu\\xe9', E'caf\\xe9');
    EXECUTE format('CREATE DOMAIN %I AS text', E'nom\\xe9');
    EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, place %I, places %I[], name %I)',
      E'caf\\xe9s', E'lieu\\xe9', E'lieu\\xe9', E'nom\\xe9');
    EXECUTE format('CREATE TABLE mixed (id int PRIMARY KEY, price price, place %I)', E'lieu\\xe9');
  END $$;`;

const FRENCH_VALUES = `DO $$ BEGIN
  EXECUTE format('INSERT INTO %I VALUES (1, %L, %L, %L)', E'caf\\xe9s', E'(\\xe9t\\xe9,1)',
    E'{"(\\xe9,2)"}', E'\\xe9');
  EXECUTE format('INSERT INTO mixed VALUES (1, %L, %L)', '(1,2.50)', E'(\\xe9,2)');
END $$`;

describe.concurrent('names of types that are in no encoding the server knows of', () => {
  it('do not spoil the other types of the table', async () => {
    await using publisher = await inSqlAscii(`
      DO $$ BEGIN EXECUTE format('CREATE TYPE spot AS (%I text)', E'caf\\xe9'); END $$;
      CREATE TYPE price AS (amount int, per numeric);
      CREATE TABLE orders (id int PRIMARY KEY, price price, prices price[], spot spot, spots spot[])`);
    await publisher.commit(
      `INSERT INTO orders VALUES (1, '(1,2.50)', '{"(3,4)"}', '(Rua)', '{"(5)",NULL}')`,
    );
    const { code, stdout, stderr } = await publisher.run(publisher.slot, ['-q']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(changesOnly(stdout)[0]?.new).toEqual({
      id: 1,
      price: { amount: 1, per: 2.5 },
      prices: [{ amount: 3, per: 4 }],
      spot: '(Rua)',
      spots: ['(5)', null],
    });
  });

  it('are read as the encoding that --encoding names', async () => {
    await using publisher = await inSqlAscii(FRENCH_TYPES);
    await publisher.commit(FRENCH_VALUES);
    const { code, stdout } = await publisher.run(publisher.slot, ['--encoding', 'LATIN1']);
    expect(code).toBe(0);
    expect(changesOnly(stdout).map((line) => line.new)).toEqual([
      { id: 1, place: { café: 'été', n: 1 }, places: [{ café: 'é', n: 2 }], name: 'é' },
      { id: 1, price: { amount: 1, per: 2.5 }, place: { café: 'é', n: 2 } },
    ]);
    const types = linesOf(stdout).flatMap(({ columns }) =>
      ((columns ?? []) as { type: string }[]).map(({ type }) => type),
    );
    expect(types).toEqual([
      ...['integer', '"lieué"', '"lieué"[]', '"nomé"'],
      ...['integer', 'price', '"lieué"'],
    ]);
  });

  it('are met in mid-stream, too', async () => {
    await using publisher = await inSqlAscii(ORDERS);
    const child = await publisher.follow(publisher.slot, ['--encoding', 'LATIN1']);
    await using _ = child;
    await publisher.commit(FRENCH_TYPES.replaceAll('orders', 'purchases'), FRENCH_VALUES);
    await child.output(/"mixed",.*"new"/);
    const { stdout } = await child.stop();
    expect(stdout).toContain('"place":{"café":"été","n":1}');
    expect(stdout).toContain('"price":{"amount":1,"per":2.50}');
  });
});

describe.concurrent('characters without an equivalent in Unicode', () => {
  it('are exit code 1 with what to do, and --encoding says which column', async () => {
    await using publisher = await Publisher.open({
      schema: ORDERS,
      database: inEncoding('WIN1252'),
    });
    await publisher.commit(`INSERT INTO orders VALUES (1, E'secret \\x81')`);
    const converted = saidOf(await publisher.run(publisher.slot));
    expect(converted.code).toBe(1);
    expect(converted.said).toMatch(/cannot send text at [0-9A-F/]+ as UTF8: .*0x81/);
    expect(converted.said).toMatch(/HINT: .*--encoding WIN1252 says which table and column/);
    expect(converted.said).toContain(`pgtail slots advance ${publisher.slot} LSN`);
    const strict = saidOf(await publisher.run(publisher.slot, ['--encoding', 'WIN1252']));
    expect(strict.code).toBe(1);
    expect(strict.said).toContain('column "note" of "public.orders"');
    const any = await publisher.run(publisher.slot, ['--encoding', 'LATIN1']);
    expect(changesOnly(any.stdout)[0]?.new).toEqual({ id: 1, note: 'secret \x81' });
  });

  it.skipIf(!hasAdvance)('can be skipped as the hint says, with the transaction', async () => {
    await using publisher = await Publisher.open({
      schema: ORDERS,
      database: inEncoding('WIN1252'),
    });
    await publisher.commit(`INSERT INTO orders VALUES (1, E'secret \\x81')`);
    const { said } = saidOf(await publisher.run(publisher.slot));
    const [, command] = /pgtail (slots advance \w+) LSN/.exec(said)!;
    const [end] = await publisher.database.query<{ lsn: string }>(
      'SELECT pg_current_wal_lsn()::text AS lsn',
    );
    const words = [...command!.split(' '), end!.lsn, '--yes', ...publisher.database.options];
    expect((await runPgtail(words)).code).toBe(0);
    await publisher.commit(`INSERT INTO orders VALUES (2, 'tea')`);
    const { code, stdout } = await publisher.run(publisher.slot);
    expect(code).toBe(0);
    expect(changesOnly(stdout).map((line) => line.new?.id)).toEqual([2]);
  });

  it('a database in MULE_INTERNAL cannot be read, and pgtail says so', async () => {
    await using database = await createDatabase();
    const name = `${database.name}_mule`;
    await database.sql(`CREATE DATABASE ${name} ${inEncoding('MULE_INTERNAL')}`);
    try {
      const { host, port, user } = database;
      const args = ['-h', host, '-p', String(port), '-U', user, '-d', name];
      const { code, said } = saidOf(await runPgtail(args));
      expect(code).toBe(4);
      expect(said).toMatch(/MULE_INTERNAL.*\n.*HINT: .*cannot be read/);
    } finally {
      await database.sql(`DROP DATABASE ${name}`);
    }
  });
});

describe.concurrent('a publication whose name is not ASCII', () => {
  const publications = { größe: 'FOR ALL TABLES' };

  it('is exit code 4 with --encoding where the server would not know it again', async () => {
    await using publisher = await Publisher.open({
      schema: ORDERS,
      database: inEncoding('LATIN1'),
      publications,
    });
    const { code, said } = saidOf(await publisher.run(publisher.slot, ['--encoding', 'LATIN1']));
    expect(code).toBe(4);
    expect(said).toContain('publication "größe": its name is not ASCII');
  });

  it('works in SQL_ASCII if it is UTF-8', async () => {
    await using publisher = await inSqlAscii(ORDERS, publications);
    await publisher.commit(`INSERT INTO orders VALUES (1, E'\\xe9')`);
    const { code, stdout } = await publisher.run(publisher.slot, ['--encoding', 'LATIN1']);
    expect(code).toBe(0);
    expect(changesOnly(stdout)[0]?.new).toEqual({ id: 1, note: 'é' });
  });
});

it('an encoding that cannot be read is exit code 2, with those that can', async () => {
  const { code, said } = saidOf(await runPgtail(['-d', 'shop', '--encoding', 'EBCDIC']));
  expect(code).toBe(2);
  expect(said).toMatch(/invalid value for --encoding \(must be one of UTF8, LATIN1, .*EUC_CN\)/);
});
