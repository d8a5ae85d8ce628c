// After 002_types: values of every type arrive as the server's own row_to_json shows them.

import { expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';

const { major } = sharedServer();

const SCHEMA = `
  CREATE TYPE mood AS ENUM ('calm', 'in a hurry', 'Zoë''s');
  CREATE TYPE address AS (street text, zip char(6), moved date);
  CREATE TYPE float_range AS RANGE (subtype = float8);
  CREATE DOMAIN positive AS numeric(12,4) CHECK (value > 0);
  CREATE DOMAIN tag AS text COLLATE "C";
  CREATE TABLE numbers (id int PRIMARY KEY, small smallint, big bigint, exact numeric,
    scaled numeric(20,6), single real, double double precision, price positive, "object" oid,
    many int[], grid numeric[], prices ${major >= 11 ? 'positive[]' : 'text'}, vector int2vector);
  CREATE TABLE texts (id int PRIMARY KEY, body text, code varchar(20), padded char(8), "name" name,
    letter "char", bytes bytea, doc json, docb jsonb, labels text[], docs jsonb[], tag tag,
    feeling mood, feelings mood[], search tsvector, pattern tsquery, mark xml);
  CREATE TABLE moments (id int PRIMARY KEY, day date, at time, at_zone timetz, stamp timestamp,
    stamp_zone timestamptz, span interval, days date[], stamps timestamptz[], precise timestamp(2));
  CREATE TABLE places (id int PRIMARY KEY, flag bool, flags bool[], uuid uuid, host inet,
    net cidr, mac macaddr, mac8 macaddr8, bits bit(5), varbits bit varying, spot point, seg lseg,
    frame box, way path, area polygon, straight line, round circle, lsn pg_lsn);
  CREATE TABLE made (id int PRIMARY KEY, home address, homes address[], years int4range,
    stays daterange, slots tstzrange[], weights numrange, shares float_range);`;

const ROWS = [
  `INSERT INTO numbers VALUES
    (1, -32768, 9223372036854775807, 123456789012345678901234567890.12345678901234567890,
     1.5, 0.1, 0.1, 3.2, 4294967295, '{1,NULL,-3}', '{{1.10,2},{NaN,4}}', '{0.5}', '1 2 3'),
    (2, 0, -9223372036854775808, 'NaN', 0, 'Infinity', '-Infinity', 0.0001, 0, '{}',
     '[0:1]={1,2}', NULL, ''),
    (3, NULL, NULL, 1e-30, -0.000001, 1e37, 1.7976931348623157e308, NULL, NULL, NULL, NULL, NULL,
     NULL),
    (4, 1, 1, 0.00, 1000000, '-0', 5e-324, 12345678.1234, 1, '{{{1}}}', '{}', '{1,2}', '7')`,
  `INSERT INTO texts VALUES
    (1, E'tab\\t, line\\nbreak, quote " and back\\\\slash \\x01', 'Ünïcode ✓', 'ab', 'a name', 'x',
     '\\x00ff10', '{"a": [1, 2.50],\n "b" : null}', '{"n": 1.10, "t": "\\u00e9"}',
     '{"a, b","c \\"d\\"",NULL,"NULL",""}', '{"{\\"k\\": 1}"}', 'sale', 'in a hurry',
     '{calm,"in a hurry","Zoë''s"}', 'a:1A fat:2B,4', '(fat & !cat) | rat:*', '<a>&amp;</a>'),
    (2, '', '', '', '', '', '', 'null', 'null', '{}', '{}', '', 'Zoë''s', '{}', '', '', NULL),
    (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
     NULL),
    (4, repeat('🦉 ', 300), 'NULL', 'pad', repeat('n', 63), E'\\'', convert_to(md5('owl'), 'UTF8'), '[]',
     '{"z": {"y": ["x"]}}', '{{a,b},{c,d}}', '{"[1]",null}', 'Ω', 'calm', '{NULL}', 'owl',
     'owl <-> eats', '<p/>')`,
  `INSERT INTO moments VALUES
    (1, '2026-02-28', '12:34:56.789', '23:59:59.999999+05:30', '2026-03-29 02:30:00.5',
     '2026-03-29 02:30:00.000001+01', '1 year 2 mons -3 days 04:05:06.7', '{2026-01-01,NULL}',
     '{"2026-07-01 00:00:00+00"}', '2026-01-01 00:00:00.126'),
    (2, 'infinity', '24:00:00', '00:00:00-12', '-infinity', 'infinity', '-00:00:01', '{}', '{}',
     '0044-03-15 BC'),
    (3, '4713-01-01 BC', '00:00', NULL, '294276-12-31 23:59:59.999999', '0001-12-31 BC', '0',
     '{infinity}', NULL, NULL)`,
  `INSERT INTO places VALUES
    (1, true, '{t,f,NULL}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '192.168.0.1/24',
     '10.0.0.0/8', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', '10110', '1', '(1.5,-2)',
     '[(0,0),(1,1)]', '(2,2),(1,1)', '((0,0),(1,2))', '((0,0),(1,0),(0.1,1))', '{1,-1,0}',
     '<(1,2),3>', 'AB/CD00'),
    (2, false, '{}', '00000000-0000-0000-0000-000000000000', '2001:db8::1', '2001:db8::/32',
     'ff:ff:ff:ff:ff:ff', '00:00:00:00:00:00:00:00', '00000', '', '(Infinity,NaN)',
     '[(0.1,0.2),(1e300,1)]', '(0,0),(0,0)', '[(0,0),(1,1)]', '((1,1))', '{0,1,2}', '<(0,0),0>',
     '0/0'),
    (3, NULL, NULL, NULL, '::ffff:1.2.3.4', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
     NULL, NULL, NULL, NULL)`,
  `INSERT INTO made VALUES
    (1, '("Elm St. 1, ""B""",ab,2026-01-01)', '{"(a,b,2026-01-01)",NULL,"(,,)"}', '[1,10)',
     '[2026-01-01,2026-02-01)', '{"[2026-01-01 00:00+00,)",empty}', '[1.10,2.200]', '(0.1,0.3)'),
    (2, NULL, '{}', 'empty', '(,)', '{}', '(,5)', 'empty'),
    (3, '(,,)', NULL, '(,5]', 'empty', NULL, '[1,)', '[-Infinity,NaN)')`,
];

const CHANGES = `
  UPDATE numbers SET big = big - 1, exact = exact * 2 WHERE id <> 2;
  UPDATE texts SET labels = '{more}', docb = docb || '{"more": true}' WHERE id IN (1, 4);
  UPDATE moments SET span = span * -1, day = day - 1 WHERE id <> 3;
  UPDATE places SET host = host + 1, uuid = NULL;
  UPDATE made SET home.street = 'Oak', years = '[3,4]'`;

const TABLES = ['numbers', 'texts', 'moments', 'places', 'made'];

it('values of every type are what row_to_json says', async () => {
  await using shop = await Publisher.open({ schema: SCHEMA });
  await shop.commit(...ROWS, CHANGES);
  const tables = wholeTables(...TABLES.map((table) => `public.${table}`));
  const { plain } = await shop.readInEveryMode({ tables });
  const types = plain.filter(({ op }) => op === 'type').map(({ name }) => name);
  expect(types).toEqual(expect.arrayContaining(['mood', 'address', '_address', 'float_range']));
});

it.runIf(major >= 14)('multiranges too', async () => {
  await using shop = await Publisher.open({
    schema: `CREATE TYPE float_range AS RANGE (subtype = float8);
      CREATE TABLE opening_hours (id int PRIMARY KEY, days datemultirange, hours tstzmultirange,
        sizes nummultirange[], shares float_multirange)`,
  });
  await shop.commit(`INSERT INTO opening_hours VALUES
    (1, '{[2026-01-01,2026-01-03),[2026-02-01,)}', '{}',
     '{"{[1.0,2.50],(7,)}",NULL,"{}"}', '{[0.1,0.3)}'),
    (2, NULL, '{(,"2026-01-01 12:00:00.5+02")}', '{}', '{}')`);
  await shop.readInEveryMode({ tables: wholeTables('public.opening_hours') });
});

it('settings of the database do not show in the values', async () => {
  await using shop = await Publisher.open({
    schema: `CREATE TABLE readings (id int PRIMARY KEY, at timestamptz, span interval, level real,
      raw bytea, bill xml)`,
  });
  const { name } = shop.database;
  for (const setting of [
    `DateStyle = 'SQL, DMY'`,
    `IntervalStyle = sql_standard`,
    `TimeZone = 'Asia/Kathmandu'`,
    'extra_float_digits = 0',
    'bytea_output = escape',
    'quote_all_identifiers = on',
  ]) {
    await shop.commit(`ALTER DATABASE ${name} SET ${setting}`);
  }
  await shop.commit(`INSERT INTO readings VALUES
    (1, '2026-12-31 23:59:59.5+00', '1 day -02:00', 0.1::real + 0.2::real, '\\x00ff', NULL)`);
  await shop.readInEveryMode({ tables: wholeTables('public.readings') });
});

it('an amount of money comes as text in every mode, in the currency of the database', async () => {
  await using shop = await Publisher.open({
    schema: 'CREATE TABLE invoices (id int PRIMARY KEY, amount money, owner regrole)',
  });
  await shop.commit(
    `INSERT INTO invoices VALUES (1, 12.5, 'postgres'), (2, -92233720368547758.08, NULL)`,
  );
  await shop.readInEveryMode({ tables: wholeTables('public.invoices') });
});
