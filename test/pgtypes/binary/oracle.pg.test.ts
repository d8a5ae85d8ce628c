// Every value, decoded from its send function's bytes, is its output function's text: the server
// is the judge, for random values of every type with a converter.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBinaryDecoder } from '../../../src/pgtypes/binary/binary-to-text.ts';
import type { BinaryTypeLookup } from '../../../src/pgtypes/binary/type-lookup.ts';
import { createDatabase, sharedServer, type TestDatabase } from '../../support/server.ts';
import { pinSession } from '../encoded.ts';
import { typeIdOf } from './decoded.ts';
import { compareWithServer, serverTypes } from './server-values.ts';
import { anyText, TYPE_VALUES } from './type-values.ts';

const VALUES = 600;
const SEED = Date.now() & 0x7fff_ffff;
const ALL_EQUAL: readonly string[] = [];

const FIRST_MAJOR_WITH_BINARY = 14;

/** What a database may add to the built-in types; each is used in an array too. */
const OWN_TYPES = `
  CREATE TYPE mood AS ENUM ('', 'sad', 'so "so"', 'NULL', 'a,b', 'é☃');
  CREATE DOMAIN amount AS numeric(12,2);
  CREATE DOMAIN tags AS text[];
  CREATE DOMAIN area AS box;
  CREATE TYPE nothing AS ();
  CREATE TYPE place AS (label text, at point, code "char");
  CREATE TYPE delivery AS (
    id int, note text, tags text[], moods mood[], places place[], due timestamptz,
    period tsrange, price amount, payload jsonb, fee money);
  ALTER TYPE delivery DROP ATTRIBUTE fee;
  CREATE DOMAIN checked_place AS place;
  CREATE TYPE textrange AS RANGE (subtype = text, collation = "C"
, multirange_type_name = textmultirange);
  CREATE TYPE placerange AS RANGE (subtype = place);`;

describe.skipIf(sharedServer().major < FIRST_MAJOR_WITH_BINARY)(
  `a binary value (seed ${SEED})`,
  () => {
    let database: TestDatabase;
    let types: BinaryTypeLookup;

    beforeAll(async () => {
      database = await createDatabase();
      await pinSession(database);
      await database.sql(OWN_TYPES);
      await database.query('SELECT setseed($1)', [SEED / 2 ** 31]);
      types = await serverTypes(database);
    });

    afterAll(() => database.drop());

    const compare = (type: string, query: string, parameters?: readonly unknown[]) =>
      compareWithServer(database, types, type, query, parameters);

    const texts = (type: string): string[] => {
      const { edges, random } = TYPE_VALUES[type]!;
      return [...edges, ...fc.sample(random, { numRuns: VALUES, seed: SEED })];
    };

    describe.each(Object.keys(TYPE_VALUES))('of type %s', (type) => {
      it('is the text of the server', async () => {
        const values = texts(type);
        const query = `SELECT t::${sqlName(type)} FROM unnest($1::text[]) t`;
        const { compared, differences } = await compare(sqlName(type), query, [values]);
        expect(differences).toEqual(ALL_EQUAL);
        expect(compared).toBe(values.length);
      });

      it('is the text of the server in arrays', async () => {
        const query = type.endsWith('vector') ? arraysByText(type) : arraysOf(sqlName(type));
        const { compared, differences } = await compare(`${sqlName(type)}[]`, query, [texts(type)]);
        expect(differences).toEqual(ALL_EQUAL);
        expect(compared).toBeGreaterThan(VALUES / 4);
      });
    });

    it.each(Object.entries(SERVER_MADE))('%s made by the server is its text', async (_, made) => {
      const { compared, differences } = await compare(made.type, made.query);
      expect(differences).toEqual(ALL_EQUAL);
      expect(compared).toBeGreaterThanOrEqual(500);
    });

    it.each(OWN_VALUES)('of a type of the database is the text: $type', async (own) => {
      const notes = fc.sample(anyText, { numRuns: VALUES, seed: SEED });
      const { compared, differences } = await compare(own.type, own.query, [notes]);
      expect(differences).toEqual(ALL_EQUAL);
      expect(compared).toBe(VALUES);
    });

    it('of a composite with a column that is NULL is the text', async () => {
      const query = `VALUES (ROW(NULL, NULL, NULL)::place), (ROW('', NULL, '')::place)`;
      expect(await compare('place', query)).toEqual({ compared: 2, differences: [] });
      const empty = await compare('nothing', 'SELECT ROW()::nothing');
      expect(empty).toEqual({ compared: 1, differences: [] });
    });

    it('of type "char" is the text for every byte', async () => {
      const chars = `SELECT i::"char" FROM generate_series(-128, 127) i`;
      expect(await compare('"char"', chars)).toEqual({ compared: 256, differences: [] });
    });

    it('has a converter for each built-in type a table may have, but for those listed', async () => {
      const rows = await database.query<{ name: string; type_id: number }>(
        `SELECT typname AS name, oid AS type_id FROM pg_type
          WHERE typtype IN ('b', 'r', 'm') AND typelem = 0 AND typnamespace = 'pg_catalog'::regnamespace
            AND typtype <> 'p' AND oid < 16384 ORDER BY typname`,
      );
      const without = rows.filter(({ type_id }) => !hasBinaryDecoder(type_id, types));
      expect(without.map(({ name }) => name)).toEqual(WITHOUT_CONVERTER);
    });
  },
);

/** Their text depends on the database or its locale, they have no send function, or no columns. */
const WITHOUT_CONVERTER = [
  'aclitem',
  'gtsvector',
  'money',
  'pg_brin_bloom_summary',
  'pg_brin_minmax_multi_summary',
  'pg_dependencies',
  'pg_mcv_list',
  'pg_ndistinct',
  'pg_node_tree',
  'regclass',
  'regcollation',
  'regconfig',
  'regdictionary',
  'regnamespace',
  'regoper',
  'regoperator',
  'regproc',
  'regprocedure',
  'regrole',
  'regtype',
  'xml',
];

/** As SQL must write it: "char" is not char, and bit without a length is not bit(1). */
function sqlName(type: string): string {
  if (type === 'char') return '"char"';
  return type === 'bit' || type === 'bpchar' ? `pg_catalog."${type}"` : type;
}

/** Of one and two dimensions, with NULLs, empty ones, and with lower bounds other than 1. */
function arraysOf(type: string): string {
  return `
    WITH elements AS (
      SELECT CASE WHEN n % 11 = 0 THEN NULL ELSE t END::${type} AS e, n
        FROM unnest($1::text[]) WITH ORDINALITY u(t, n)),
    rows AS (SELECT array_agg(e ORDER BY n) AS v, n / 3 AS n FROM elements GROUP BY n / 3)
    SELECT v FROM rows
    UNION ALL SELECT array_agg(v) FROM rows WHERE cardinality(v) = 3 GROUP BY n / 4
    UNION ALL SELECT array_fill(e, ARRAY[2, 1, 2], ARRAY[-3, 1, 2147483640]) FROM elements
               WHERE n < 40
    UNION ALL SELECT array_fill(e, ARRAY[1 + n % 4], ARRAY[n - 20]::int[])
                FROM (SELECT e, n::int AS n FROM elements WHERE n < 40) s
    UNION ALL SELECT ARRAY[]::${type}[]`;
}

/** Vectors and domains over arrays do not go into the array functions. */
function arraysByText(type: string, text = 't'): string {
  return `SELECT format('{"%s",NULL}', replace(replace(${text}, '\\', '\\\\'), '"', '\\"'))::${type}[]
            FROM unnest($1::text[]) t`;
}

interface ServerMade {
  readonly type: string;
  readonly query: string;
}

const SERVER_MADE: Readonly<Record<string, ServerMade>> = {
  'a random double precision': {
    type: 'float8',
    query: `SELECT (random() - 0.5) * 10 ^ (random() * 60 - 30)::int FROM generate_series(1, 3000)`,
  },
  'a random real': {
    type: 'float4',
    query: `SELECT ((random() - 0.5) * 10 ^ (random() * 40 - 20)::int)::real
              FROM generate_series(1, 3000)`,
  },
  'every power of two as a double precision': {
    type: 'float8',
    query: `SELECT 2::float8 ^ i FROM generate_series(-1022, 1023) i`,
  },
  'every power of two as a real': {
    type: 'float4',
    query: `SELECT (2::float8 ^ (i / 2.0))::real FROM generate_series(-290, 255) i`,
  },
  'a whole number as a real': {
    type: 'float4',
    query: `SELECT (random() * 2 ^ (random() * 40))::int8::real FROM generate_series(1, 1000)`,
  },
  'a quotient': {
    type: 'numeric',
    query: `SELECT trunc((random() * 1e9)::numeric, 2) / (1 + i) FROM generate_series(1, 1000) i`,
  },
  'a rounded numeric': {
    type: 'numeric',
    query: `SELECT round((random() * 1e12)::numeric * 10::numeric ^ (i % 20 - 10), i % 25 - 5)
              FROM generate_series(1, 1000) i`,
  },
  'a product': {
    type: 'numeric',
    query: `SELECT (random() - 0.5)::numeric * 1e-5 * 10::numeric ^ i FROM generate_series(1, 500) i`,
  },
  'a moment of any time': {
    type: 'timestamptz',
    query: `SELECT '4714-11-24 00:00:00+00 BC'::timestamptz
                   + (random() * 109203526)::int * interval '1 day'
                   + (random() * 86399e6)::int8 * interval '1 us' FROM generate_series(1, 2000)`,
  },
  'a day of this era': {
    type: 'timestamp',
    query: `SELECT '1890-01-01'::timestamp + i * interval '29 days 03:04:05.678'
              FROM generate_series(1, 2000) i`,
  },
  'every day of some years': {
    type: 'date',
    query: `SELECT d::date FROM generate_series('1999-01-01'::timestamp, '2001-12-31', '1 day') d
            UNION ALL SELECT '0001-12-31 BC'::date + i FROM generate_series(-1500, 1500) i`,
  },
  'a random date': {
    type: 'date',
    query: `SELECT '4714-11-24 BC'::date + (random() * 2147483493)::int
              FROM generate_series(1, 1000)`,
  },
  'a difference': {
    type: 'interval',
    query: `SELECT (i - 500) * (now() - '2000-01-01'::timestamptz) - i * interval '1 mon'
              FROM generate_series(1, 1000) i`,
  },
  'a long difference': {
    type: 'interval',
    query: `SELECT (i - 500) * (interval '4294966 hours') - interval '1 us'
              FROM generate_series(1, 1000) i`,
  },
  'an age': {
    type: 'interval',
    query: `SELECT age(now(), '1700-01-01'::timestamptz + i * interval '301 days 7 hours')
              FROM generate_series(1, 1000) i`,
  },
  'a union of ranges': {
    type: 'int4multirange',
    query: `SELECT range_agg(int4range(n, n + (random() * 10)::int)) FROM
              (SELECT i, (random() * 99)::int AS n FROM generate_series(1, 3000) i) s GROUP BY i % 600`,
  },
  'a document': {
    type: 'tsvector',
    query: `SELECT setweight(to_tsvector('simple', md5(i::text) || ' it''s ' || i), 'B')
              FROM generate_series(1, 500) i`,
  },
};

/** A delivery around each text of the parameter. */
const DELIVERY = `ROW(n, t, ARRAY[t, NULL, 'x'], enum_range('so "so"'::mood, NULL),
  ARRAY[ROW(t, point(n, 0.1), substr(t, 1, 1)::"char")::place, NULL],
  '2026-11-29 20:36:50+00'::timestamptz - n * interval '1 hour',
  tsrange(NULL, '2026-11-29'::timestamp + n * interval '1 us'), n / 3.0,
  jsonb_build_object('note', t))::delivery`;

const fromNotes = (value: string): string =>
  `SELECT ${value} FROM unnest($1::text[]) WITH ORDINALITY u(t, n)`;

const OWN_VALUES: readonly ServerMade[] = [
  { type: 'mood', query: fromNotes('(enum_range(NULL::mood))[1 + n % 6]') },
  { type: 'mood[]', query: fromNotes('(enum_range(NULL::mood))[1:n % 7]') },
  { type: 'amount', query: fromNotes('(n / 7.0)::amount') },
  { type: 'amount[]', query: fromNotes('ARRAY[n / 7.0, NULL]::amount[]') },
  { type: 'tags', query: fromNotes('ARRAY[t, NULL]::tags') },
  { type: 'tags[]', query: arraysByText('tags', 'ARRAY[t, NULL]::text') },
  { type: 'area[]', query: fromNotes('ARRAY[box(point(n, 0), point(0, n)), NULL]::area[]') },
  { type: 'place', query: fromNotes(`ROW(t, point(n, -n), NULL)::place`) },
  { type: 'checked_place', query: fromNotes(`ROW(t, NULL, 'x')::place::checked_place`) },
  {
    type: 'checked_place[]',
    query: fromNotes(`ARRAY[ROW(t, point(n, 0.5), '(')::place::checked_place, NULL]`),
  },
  { type: 'delivery', query: fromNotes(DELIVERY) },
  { type: 'delivery[]', query: fromNotes(`ARRAY[${DELIVERY}, NULL, ${DELIVERY}]`) },
  { type: 'textrange', query: fromNotes(`textrange(t, t || 'z', '[]')`) },
  { type: 'textrange[]', query: fromNotes(`ARRAY[textrange(t, NULL), textrange('', t)]`) },
  { type: 'textmultirange', query: fromNotes(`textmultirange(textrange(t, t || 'z', '(]'))`) },
  { type: 'placerange', query: fromNotes(`placerange(NULL, ROW(t, NULL, NULL)::place)`) },
];

it('is compared for every built-in type with a converter', () => {
  const covered = Object.keys(TYPE_VALUES).filter((type) => hasBinaryDecoder(typeIdOf(type)));
  expect(covered).toEqual(Object.keys(TYPE_VALUES));
});
