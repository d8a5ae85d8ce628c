// Special values of types that a user or an extension made, and of what is made of these.

import { escapeLiteral } from 'pg';
import { texts, type ValueCase } from './value-case.ts';

const ODD_LABELS: readonly string[] = [
  ...['', ' ', 'calm', 'in a hurry', 'so "so"', "it's", 'a,b', '(a,b)', '{}', 'back\\slash'],
  ...['NULL', 'null', 'line\nbreak', 'Zoë ☃ 🍵', 'l'.repeat(63)],
];

const labels = ODD_LABELS.map(escapeLiteral).join(', ');

const ENUMS: readonly ValueCase[] = [
  { type: 'mood', setup: `CREATE TYPE mood AS ENUM (${labels})`, values: texts(...ODD_LABELS) },
  { type: 'mood[]', values: texts('{}', '{NULL,"NULL","null",""}', '[0:0]={calm}', '{{calm}}') },
  {
    type: '"odd ""mood"""',
    setup: `CREATE TYPE "odd ""mood""" AS ENUM ('1', 'true')`,
    values: texts('1', 'true'),
  },
];

/** A domain of `base` with these values. */
const domain = (name: string, base: string, ...values: readonly string[]): ValueCase => ({
  type: name,
  setup: `CREATE DOMAIN ${name} AS ${base}`,
  values: texts(...values),
});

const DOMAINS: readonly ValueCase[] = [
  domain('quantity', 'int CHECK (VALUE >= 0)', '0', '2147483647'),
  domain('price', 'numeric(10,2)', '0', '12.5', '-0.001'),
  domain('label', 'text', '', 'NULL', '"\n\\'),
  domain('document', 'json', '{"a":\n1}', 'null'),
  domain('documentb', 'jsonb', '{"a": 1.50}', 'null'),
  domain('moment', 'timestamptz', '2026-11-29 20:36:50+02', 'infinity'),
  domain('yes_no', 'boolean', 't', 'f'),
  domain('feeling', 'mood', 'calm', 'NULL', ''),
  domain('few', 'quantity CHECK (VALUE < 10)', '7'),
  domain('fewer', 'few', '7'),
  domain('code', 'char(4)', 'ab'),
  domain('sizes', 'int[]', '{}', '{{1,NULL}}', '[0:0]={7}'),
  domain('feelings', 'mood[]', '{calm,"NULL",NULL}'),
  domain('prices', 'price[]', '{1,2.5}'),
  domain('more_sizes', 'sizes', '{1}'),
  domain('period', 'tstzrange', '["2026-01-01 00:00+00",)', 'empty'),
];

const COMPOSITES: readonly ValueCase[] = [
  {
    type: 'address',
    setup: 'CREATE TYPE address AS (street text, zip char(6), moved date)',
    values: texts('(,,)', '("","",)', '("Elm St. 1, ""B"" (\\\\)",ab,infinity)', '(" x ",NULL,)'),
  },
  { type: 'address[]', values: texts('{}', '{"(a,b,2026-01-01)",NULL,"(,,)"}', '[0:0]={"(,,)"}') },
  domain('home', 'address', '(a,b,)', '(,,)'),
  domain('homes', 'address[]', '{"(a,b,)"}'),
  { type: 'nothing', setup: 'CREATE TYPE nothing AS ()', values: ['ROW()::nothing'] },
  {
    type: 'lone',
    setup: 'CREATE TYPE lone AS (value text)',
    values: texts('()', '("")', '(" ")', '("()")', '(NULL)'),
  },
  {
    type: 'lone_number',
    setup: 'CREATE TYPE lone_number AS (value int)',
    values: texts('()', '(1)'),
  },
  {
    type: 'person',
    setup:
      'CREATE TYPE person AS (name text, home address, lone lone, nothing nothing, more address[])',
    values: [
      `ROW('"Zoë"', ROW('a "b", (c) \\', 'x', NULL), ROW(''), ROW(), ARRAY[ROW('{', '}', NULL)::address])`,
      `ROW(NULL, ROW(NULL, NULL, NULL), ROW(NULL), ROW(), '{}')`,
      'ROW(NULL, NULL, NULL, NULL, NULL)',
    ].map((row) => `${row}::person`),
  },
  {
    type: 'odd_attributes',
    setup: `CREATE TYPE odd_attributes AS
      ("a""b" int, "ä ö" int, "line\nbreak" int, "__proto__" int, "constructor" int, "1" int,
       "0" int, "back\\slash" int, " " int, "tab\t" int, "🍵\u2028" int, "a,b:c{}" int)`,
    values: texts('(1,2,3,4,5,6,7,8,9,10,11,12)', '(,,,,,,,,,,,)'),
  },
  {
    type: 'shrunk',
    setup: `CREATE TYPE shrunk AS (a text, gone int, b bool, last text);
      ALTER TYPE shrunk DROP ATTRIBUTE gone, DROP ATTRIBUTE last, ADD ATTRIBUTE c timestamptz`,
    values: texts('(x,t,"2026-11-29 20:36:50+00")', '(,,)'),
  },
  {
    type: 'emptied',
    setup: 'CREATE TYPE emptied AS (a int); ALTER TYPE emptied DROP ATTRIBUTE a',
    values: texts('()'),
  },
  {
    type: 'mixed',
    setup: `CREATE TYPE mixed AS (doc json, docb jsonb, at timestamptz, local timestamp, yes bool,
      exact numeric, ratio float8, bytes bytea, numbers int[], words text[], price price,
      mood mood, moods mood[], sizes sizes, span int4range, vector int2vector, boxes box[])`,
    values: [
      `ROW(E'{"a":\\n\\r [1,  "\\\\n"]}', '{"a": 1.50}', '2026-11-29 20:36:50+02', '0044-03-15 BC', true,
        0.000, '-Infinity', '\\x00ff5c22', '{1,NULL}', ARRAY['a,"b"\\', NULL, 'NULL', '', E'\\n'], 5,
        'NULL', '{NULL,"NULL",""}', '[0:0]={1}', '[1,5)', '1 2', '{(1,1),(0,0);(2,2),(0,0)}')`,
      `ROW('null', 'null', 'infinity', '-infinity', false, 'NaN', 'NaN', '', '{}', '{}', 0, '', '{}',
        '{}', 'empty', '', '{}')`,
    ].map((row) => `${row}::mixed`),
  },
  {
    type: 'shelf',
    setup: `CREATE TABLE shelf (id int, gone text, note text, at timestamptz);
      ALTER TABLE shelf DROP COLUMN gone, ADD COLUMN tags text[]`,
    values: texts('(1,"a ""note""","2026-11-29 20:36:50+00","{a,b}")', '(,,,)'),
  },
];

/** Ranges bring their multiranges along from 14 on, each with a name that the server makes. */
const RANGES: readonly ValueCase[] = [
  {
    type: 'float_range',
    setup: 'CREATE TYPE float_range AS RANGE (subtype = float8)',
    values: texts('empty', '(,)', '[-Infinity,NaN)', '(0.1,0.3)'),
  },
  { type: 'float_multirange', values: texts('{}', '{[0.1,0.3),(7,)}') },
  {
    type: 'textrange',
    setup: `CREATE TYPE textrange AS RANGE
      (subtype = text, collation = "C", multirange_type_name = textmultirange)`,
    values: texts('["",)', '["a ""b"", [c) \\\\",z]', '(NULL,null)'),
  },
  { type: 'textmultirange', values: texts('{["a,b",c),(d,"e""")}') },
  {
    type: 'pricerange',
    setup: 'CREATE TYPE pricerange AS RANGE (subtype = price)',
    values: texts('[1,2.5)'),
  },
  {
    type: 'moodrange',
    setup: 'CREATE TYPE moodrange AS RANGE (subtype = mood)',
    values: texts('[calm,"so ""so""")', '["",NULL]'),
  },
  { type: 'moodmultirange', values: texts('{[calm,calm]}') },
  { type: 'moodrange[]', values: texts('{"[calm,calm]",NULL,"[\\"\\",\\"so \\"\\"so\\"\\"\\")"}') },
];

const HSTORES = texts(
  '',
  'a=>1, b=>NULL, "c d"=>"", ""=>"NULL"',
  '"\\"q\\"\\n"=>"back\\\\slash\n🍵"',
);

const EXTENSIONS: readonly ValueCase[] = [
  { type: 'hstore', setup: 'CREATE EXTENSION hstore', values: HSTORES },
  { type: 'hstore[]', values: texts('{}', '{"\\"a\\"=>\\"1\\"",NULL,""}') },
  { type: 'settings', setup: 'CREATE DOMAIN settings AS hstore', values: HSTORES },
  {
    type: 'device',
    setup: 'CREATE TYPE device AS (id int, more hstore, settings settings, all_of_them hstore[])',
    values: [`ROW(1, 'a=>"x y", b=>NULL', '"n"=>"1"', ARRAY['k=>v'::hstore, NULL, ''])::device`],
  },
  { type: 'citext', setup: 'CREATE EXTENSION citext', values: texts('', 'Tea "X"\n') },
  { type: 'ltree', setup: 'CREATE EXTENSION ltree', values: texts('', 'Top.Shelf.tea_1') },
  { type: 'lquery', values: texts('Top.*{1,2}.!a|b@') },
  { type: 'ltxtquery', values: texts('Top & !b@') },
  { type: 'cube', setup: 'CREATE EXTENSION cube', values: texts('(1, 2),(3, 4.5)', '(0)') },
  { type: 'seg', setup: 'CREATE EXTENSION seg', values: texts('1.50 .. 2', '~5', '< 0.1', '..3') },
  { type: 'isbn13', setup: 'CREATE EXTENSION isn', values: texts('978-0-393-04002-9') },
  { type: 'issn', values: texts('1436-4522') },
  { type: 'query_int', setup: 'CREATE EXTENSION intarray', values: texts('1&(2|!3)') },
  { type: 'lo', setup: 'CREATE EXTENSION lo', values: texts('4294967295') },
];

/** Later ones use the types of earlier ones. */
export const USER_TYPE_VALUES: readonly ValueCase[] = [
  ...ENUMS,
  ...DOMAINS,
  ...COMPOSITES,
  ...RANGES,
  ...EXTENSIONS,
];
