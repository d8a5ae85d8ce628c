// Special values of the built-in types: ends of their ranges, odd letters, every shape of output.

import { escapeLiteral } from 'pg';
import { texts, type ValueCase } from './value-case.ts';

const CONTROL_CHARACTERS = Array.from({ length: 31 }, (_, i) => String.fromCharCode(i + 1));

const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  'NULL',
  'null',
  '\x7f',
  '\u0080\u009f\u00a0\u2028\u2029\ufeff\ufffe\uffff',
  '🍵 \u{10ffff} \u{1f469}\u200d\u{1f680}',
  'e\u0301 and é',
  `"double" 'single' \\ back\\\\slash / slash`,
  '(a,b) {c,d} [e,f) "" \\"',
  'line\nfeed, return\r, both\r\n',
  '</script>',
  CONTROL_CHARACTERS.join(''),
  ...CONTROL_CHARACTERS.map((character) => `a${character}b`),
];

const ODD_JSON: readonly string[] = [
  'null',
  'true',
  '0',
  '-0',
  '"NULL"',
  '""',
  '{}',
  '[]',
  ' [ ] ',
  '{"a": 1, "a" : 2, "b": {"a": 1, "a": null}}',
  '{"big": 123456789012345678901234567890.123456789012345678901234567890, "e": 1e400, "E": -1E-7}',
  '{\n  "line":\r\n  [1,\t2]\r}',
  '"\\u0041\\ud83c\\udf75\\n\\"\\\\\\/"',
  '{"": "", "\\"": "{", "line\\nbreak": "}"}',
  '"\u2028 \x7f 🍵"',
  `${'['.repeat(500)}${']'.repeat(500)}`,
  `${'{"a": '.repeat(300)}"deep\\n"${'}'.repeat(300)}`,
];

const MOMENTS = ['infinity', '-infinity', '2026-11-29 20:36:50.055877', '1999-12-31 23:59:59.1'];
const DIGITS = '1234567890'.repeat(40);
const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, i) => i)).toString('hex');
const BELOW_63_BYTES = 'é'.repeat(31);

const NUMBERS: readonly ValueCase[] = [
  { type: 'boolean', values: ['true', 'false'] },
  { type: 'smallint', values: texts('-32768', '-1', '0', '32767') },
  { type: 'integer', values: texts('-2147483648', '0', '2147483647') },
  {
    type: 'bigint',
    values: texts('-9223372036854775808', '9223372036854775807', '9007199254740993'),
  },
  {
    type: 'real',
    values: texts(
      ...['NaN', 'Infinity', '-Infinity', '-0', '0', '1e-45', '3.4028235e38', '1.1754944e-38'],
      ...['0.1', '1e15', '1e-5', '0.0001', '16777216', '123456.7', '999999.94', '1e6'],
    ),
  },
  {
    type: 'double precision',
    values: texts(
      ...['NaN', 'Infinity', '-Infinity', '-0', '0', '5e-324', '1.7976931348623157e308'],
      ...['2.2250738585072014e-308', '0.1', '1e14', '1e15', '1e16', '1e-4', '1e-5', '1e22', '1e23'],
      ...['9007199254740993', '999999999999999.9', '123456789012345680'],
    ),
  },
  {
    type: 'numeric',
    values: texts(
      ...[DIGITS, `-${DIGITS}.${DIGITS}`, `0.${'0'.repeat(400)}1`, '1e400', 'NaN', '0', '-0'],
      ...['0.000', '12.50', '1.10e5', '100', '-0.10', '00012', '.5'],
    ),
  },
  { type: 'numeric', since: 14, values: texts('Infinity', '-Infinity') },
  { type: 'numeric(20,4)', values: texts('1', '-1.5', '0', 'NaN', '1234567890123456.7891') },
  { type: 'numeric(20,-3)', since: 15, values: texts('1234567', '-500', '499') },
  { type: 'numeric(3,5)', since: 15, values: texts('0.00999', '-0.001') },
  { type: 'money', values: texts('0', '-92233720368547758.08', '1234.5') },
  { type: 'oid', values: texts('0', '4294967295') },
  { type: 'xid', values: texts('0', '4294967295') },
  { type: 'xid8', values: texts('0', '18446744073709551615') },
  { type: 'cid', values: texts('0', '4294967295') },
  { type: 'tid', values: texts('(0,0)', '(4294967295,65535)') },
  { type: 'pg_lsn', values: texts('0/0', 'FFFFFFFF/FFFFFFFF', '16/B374D848') },
  { type: 'int2vector', values: texts('', '1', '-32768 0 32767') },
  { type: 'oidvector', values: texts('', '1', '0 4294967295') },
  { type: 'txid_snapshot', values: texts('10:20:10,14', '1:1:') },
  { type: 'pg_snapshot', values: texts('10:20:10,14', '1:1:') },
];

const TEXTS: readonly ValueCase[] = [
  { type: 'text', values: texts(...ODD_TEXTS, 'long '.repeat(5000)) },
  { type: 'varchar', values: texts('', 'tea  ', '"') },
  { type: 'varchar(3)', values: texts('', '🍵é\n', 'tea') },
  { type: 'char(5)', values: texts('', 'tea', ' é', '"\n\\') },
  { type: 'bpchar', values: texts('', 'tea  ') },
  { type: '"char"', values: texts('', 'x', ' ', '"', '\\', '\x01', '\x7f', '\\200', '\\377') },
  { type: 'name', values: texts('', 'a "name"', `${BELOW_63_BYTES}x`, 'n'.repeat(63)) },
  { type: 'refcursor', values: texts('', 'my "cursor"') },
  { type: 'bytea', values: texts('\\x', `\\x${ALL_BYTES}`, '\\x00') },
  { type: 'bit(5)', values: ["B'10110'", "B'00000'"] },
  { type: 'bit', values: ["B'1'"] },
  { type: 'varbit', values: ["B''", "B'10011'", `B'${'10'.repeat(100)}'`] },
  { type: 'uuid', values: texts('C0FFEE00-1234-4abc-8def-0123456789AB') },
  { type: 'json', values: texts(...ODD_JSON, '"\\u0000"') },
  { type: 'jsonb', values: texts(...ODD_JSON) },
  { type: 'jsonpath', values: texts('$', 'strict $."a \\"b\\n"[*] ? (@ > 1.50)') },
  { type: 'xml', values: texts('<a b="1">&amp;\n</a>', 'text', '') },
  { type: 'tsvector', values: texts('', "'fat':2A,3 'it''s':1 '\"':4B", "'back\\\\slash'") },
  { type: 'tsquery', values: texts('', "'fat' & !('rat':*A | 'it''s') <3> b") },
];

const TIMES: readonly ValueCase[] = [
  {
    type: 'date',
    values: texts(
      ...['infinity', '-infinity', '4714-11-24 BC', '0001-01-01 BC', '0001-01-01'],
      ...['2026-02-28', '5874897-12-31', '294276-12-31', '12345-06-07'],
    ),
  },
  { type: 'time', values: texts('00:00', '24:00:00', '23:59:59.999999', '01:02:03.1') },
  { type: 'time(0)', values: texts('23:59:59.6') },
  {
    type: 'timetz',
    values: texts(
      ...['24:00:00-15:59:59', '00:00:00+15:59:59', '20:36:50+00', '12:00+05:30', '12:00-00:00:01'],
    ),
  },
  {
    type: 'timestamp',
    values: texts(
      ...[...MOMENTS, '4714-11-24 00:00:00 BC', '0044-03-15 12:00 BC', '0001-01-01 00:00'],
      ...['294276-12-31 23:59:59.999999', '12345-06-07 00:00', '2000-01-01'],
    ),
  },
  { type: 'timestamp(2)', values: texts('2026-01-01 00:00:00.126') },
  {
    type: 'timestamptz',
    values: texts(
      ...[...MOMENTS, '4714-11-24 00:00:00+00 BC', '0044-03-15 12:00+01 BC', '0001-01-01 00:00+00'],
      ...['294276-12-31 23:59:59.999999+00', '12345-06-07 00:00+05:45', '2026-03-29 02:30+01'],
    ),
  },
  {
    type: 'interval',
    values: texts(
      ...['0', '1 year', '-1 year', '1 mon', '2 days', '-1 day', '04:05:06.7', '-00:00:00.000001'],
      ...[
        '1 year 2 mons -3 days 04:05:06.7',
        '-1 year -2 mons +3 days -04:05:06.7',
        '1 mon -1 day',
      ],
      ...[
        '-178956970 years -8 mons',
        '2147483647 days',
        '100 hours',
        '1 year -1 mon 1 microsecond',
      ],
    ),
  },
  { type: 'interval', since: 17, values: texts('infinity', '-infinity') },
  { type: 'interval year to month', values: texts('1 year 2 mons') },
];

const PLACES_AND_NETWORKS: readonly ValueCase[] = [
  {
    type: 'inet',
    values: texts(
      ...['192.168.0.1', '192.168.0.1/24', '0.0.0.0/0', '::', '::1/64', '::ffff:1.2.3.4'],
      '1:0:0:2:0:0:0:3/127',
    ),
  },
  { type: 'cidr', values: texts('10.0.0.0/8', '10.1.2.3', '::/0', '2001:db8::/32') },
  { type: 'macaddr', values: texts('08:00:2b:01:02:FF') },
  { type: 'macaddr8', values: texts('08:00:2b:01:02:03:04:FF') },
  { type: 'point', values: texts('(1.5,-2)', '(NaN,Infinity)', '(-0,5e-324)', '(1e15,1e300)') },
  { type: 'line', values: texts('{1,-1,0}', '{0,1,2.5}') },
  { type: 'lseg', values: texts('[(0,0),(1e300,0.1)]') },
  { type: 'box', values: texts('(2,2),(1,1)', '(Infinity,0),(-Infinity,-0)') },
  { type: 'path', values: texts('[(0,0),(1,2)]', '((0,0),(1,2))', '[(1,1)]') },
  { type: 'polygon', values: texts('((0,0),(1,0),(0.1,1))') },
  { type: 'circle', values: texts('<(0,0),0>', '<(1,2),Infinity>') },
];

const CATALOG_NAMES: readonly ValueCase[] = [
  { type: 'regclass', values: texts('pg_class', '4294967295', '0', 'information_schema.tables') },
  {
    type: 'regclass',
    setup: 'CREATE TABLE "odd ""table""" ()',
    values: texts('"odd ""table"""', 'public."odd ""table"""'),
  },
  { type: 'regtype', values: texts('integer', 'text[]', 'timestamptz', '"char"', '0') },
  { type: 'regproc', values: texts('pg_catalog.now', '0') },
  { type: 'regprocedure', values: texts('abs(bigint)', '0') },
  { type: 'regoper', values: texts('pg_catalog.||/', '0') },
  { type: 'regoperator', values: texts('+(integer,integer)', '-(NONE,bigint)', '0') },
  { type: 'regnamespace', values: texts('pg_catalog', '0') },
  { type: 'regrole', values: ['10', '0'] },
  { type: 'regconfig', values: texts('simple', '0') },
  { type: 'regdictionary', values: texts('simple', '0') },
  { type: 'regcollation', values: texts('"C"', '0') },
  {
    type: 'aclitem',
    values: [
      `makeaclitem(10, 10, 'SELECT', true)`,
      `makeaclitem(0, 10, 'INSERT', false)`,
      `makeaclitem(4294967295, 10, 'UPDATE', false)`,
    ],
  },
];

const ARRAYS: readonly ValueCase[] = [
  {
    type: 'integer[]',
    values: texts(
      ...[
        '{}',
        '{NULL}',
        '{{{{{{1,2},{3,NULL}}}}}}',
        '[0:1]={7,8}',
        '[-2147483648:-2147483647]={1,2}',
      ],
      '[5:5][-1:0]={{1,2}}',
    ),
  },
  {
    type: 'text[]',
    values: [
      ...texts(
        ...['{}', '{NULL,"NULL","null",null}', '{""," ","\\"","\\\\"}', '{"a,b","{c}","d;e"}'],
        ...['[0:0]={"[0:0]={"}', '{{a,"b c"},{NULL,""}}', '{"line\nbreak","tab\t"}', '{🍵,é}'],
      ),
      `ARRAY[${ODD_TEXTS.map((text) => escapeLiteral(text)).join(', ')}]`,
    ],
  },
  {
    type: 'json[]',
    values: [
      ...texts('{"null","\\"NULL\\"",NULL,"[1, 2]"}', '{{"{}"},{"[]"}}'),
      `ARRAY[${ODD_JSON.map((text) => `${escapeLiteral(text)}::json`).join(', ')}]`,
    ],
  },
  { type: 'box[]', values: texts('{(1,1),(0,0);(3,3),(2,2);NULL}', '{{(1,1),(0,0)}}', '{}') },
  { type: 'bool[]', values: texts('{t,f,NULL}', '{{t},{f}}') },
  { type: 'timestamptz[]', values: texts('{infinity,"0044-03-15 12:00+00 BC",NULL}') },
];

const RANGES: readonly ValueCase[] = [
  { type: 'int4range', values: texts('empty', '(,)', '[1,10)', '(1,5]', '[,5)') },
  { type: 'int8range', values: texts('[-9223372036854775808,9223372036854775807)') },
  { type: 'numrange', values: texts('[1.10,2.200]', '(-Infinity,NaN)', '[0.00,)') },
  { type: 'tsrange', values: texts('["2026-01-01 00:00",infinity)', '[-infinity,)') },
  { type: 'tstzrange', values: texts('["2026-01-01 00:00+02","2026-01-01 00:00+00"]') },
  { type: 'daterange', values: texts('[2026-01-01,2026-02-01]', '["0044-03-15 BC",infinity]') },
  { type: 'int4multirange', values: texts('{}', '{[1,2),[5,7)}', '{(,)}') },
  { type: 'int8multirange', values: texts('{[1,2)}') },
  { type: 'nummultirange', values: texts('{[1.0,2.50],(7,)}') },
  { type: 'tsmultirange', values: texts('{["2026-01-01 00:00","2026-01-02 00:00")}') },
  { type: 'tstzmultirange', values: texts('{(,"2026-01-01 12:00:00.5+02")}') },
  { type: 'datemultirange', values: texts('{[2026-01-01,2026-01-03),[2026-02-01,)}') },
];

export const BUILTIN_VALUES: readonly ValueCase[] = [
  ...NUMBERS,
  ...TEXTS,
  ...TIMES,
  ...PLACES_AND_NETWORKS,
  ...CATALOG_NAMES,
  ...ARRAYS,
  ...RANGES,
];
