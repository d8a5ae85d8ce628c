// The server's own row_to_json is the judge of what a value must look like.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/server.ts';
import { encoded, pinSession, serverJson } from './encoded.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await pinSession(database);
});

afterAll(() => database.drop());

/** Each with values that have broken somebody's reader. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  bool: ['true', 'false'],
  int2: ['-32768', '0', '32767'],
  int4: ['-2147483648', '7'],
  int8: ['-9223372036854775808', '9223372036854775807', '9007199254740993'],
  float4: ['NaN', 'Infinity', '-Infinity', '-0', '0.1', '1e-37', '3.4028235e38', '16777216'],
  float8: [
    'NaN',
    'Infinity',
    '-Infinity',
    '-0',
    '0.1',
    '1e-300',
    '1.7976931348623157e308',
    '5e-324',
  ],
  numeric: ['NaN', '-0', '0.00', '12.50', '1e40', '-1e-30', '123456789012345678901234567890.0001'],
  money: ['12.34', '-1234567.89'],
  oid: ['0', '4294967295'],
  xid: ['745'],
  cid: ['1'],
  tid: ['(0,1)'],
  pg_lsn: ['16/B374D848', '0/0'],
  text: [
    '',
    'NULL',
    '"quoted"',
    'back\\slash',
    'tab\tline\nreturn\r',
    '\x01\x1f\x7f',
    '\u2028 \u{1F375}',
  ],
  varchar: ['tea'],
  'char(6)': ['tea'],
  '"char"': ['x', '', '"', '\\'],
  name: ['a "name"'],
  bytea: ['\\x', '\\x00ff10'],
  date: ['2026-11-29', 'infinity', '-infinity', '4713-01-01 BC', '5874897-12-31'],
  time: ['00:00', '24:00:00', '20:36:50.055877'],
  timetz: ['24:00:00-15:59', '00:00:00+15:59:59', '20:36:50+00', '12:00:00+05:30'],
  timestamp: [
    '2026-11-29 20:36:50.055877',
    'infinity',
    '-infinity',
    '0044-03-15 12:00:00 BC',
    '4713-01-01 00:00:00 BC',
    '294276-12-31 23:59:59.999999',
  ],
  timestamptz: [
    '2026-11-29 20:36:50.055877+00',
    '2026-11-29 20:36:50+05:30',
    'infinity',
    '-infinity',
    '0044-03-15 12:00:00+00 BC',
    '4713-01-01 00:00:00+00 BC',
    '294276-12-31 23:59:59.999999+00',
  ],
  interval: ['1 year 2 mons -3 days 04:05:06.7', '0', '-178000000 years', '-00:00:00.000001'],
  uuid: ['c0ffee00-1234-4abc-8def-0123456789ab'],
  json: ['null', '{"a":  1.50, "a": "\\u0041"}', ' [ ] ', '"NULL"'],
  jsonb: ['null', '{"b": 1.50, "a": [true, null]}', '1e400', '"\\n\\u2028"'],
  inet: ['192.168.0.1/24', '::1'],
  cidr: ['10.0.0.0/8'],
  macaddr: ['08:00:2b:01:02:03'],
  macaddr8: ['08:00:2b:01:02:03:04:05'],
  'bit(3)': ['101'],
  varbit: ['', '10011'],
  point: ['(1.5,-2)', '(NaN,Infinity)'],
  line: ['{1,2,3}'],
  lseg: ['[(0,0),(1,1)]'],
  box: ['(1,1),(0,0)'],
  path: ['[(0,0),(1,1)]', '((0,0),(1,1))'],
  polygon: ['((0,0),(1,1),(1,0))'],
  circle: ['<(0,0),1>'],
  int4range: ['[1,5)', 'empty', '(,)'],
  numrange: ['[1.5,)'],
  tstzrange: ['["2026-11-29 00:00:00+00",infinity)'],
  int4multirange: ['{}', '{[1,2),[5,7)}'],
  tsvector: ["'a':1 'fat':2A", ''],
  tsquery: ["'fat' & !'rat'"],
  int2vector: ['', '1', '1 -2 3'],
  oidvector: ['', '26 4294967295'],
  regclass: ['pg_class', '4294967295'],
  regtype: ['integer'],
  jsonpath: ['$."a b"[*]'],
  txid_snapshot: ['10:20:10,14'],
  xid8: ['18446744073709551615'],
  'int2vector[]': ['{"1 2",NULL,"3"}'],
  'oidvector[]': ['{"26 27"}'],
  'bool[]': ['{t,f,NULL}', '{}'],
  'json[]': ['{"{\\"a\\": \\"b, {c}\\"}",1,"null",NULL}'],
  'timestamp[]': ['{"2026-11-29 20:36:50",infinity,"0044-03-15 12:00:00 BC"}'],
  'timestamptz[]': ['{"2026-11-29 20:36:50+00",-infinity,"0044-03-15 12:00:00+00 BC"}'],
  'box[]': ['{(1,1),(0,0);(3,3),(2,2);NULL}'],
  'point[]': ['{"(1,2)","(3,4)"}'],
  '"char"[]': ['{a,"\\\\",NULL," "}'],
  'bytea[]': ['{"\\\\x00ff",NULL}'],
  'xid8[]': ['{1}'],
  'char(3)[]': ['{a,NULL}'],
};

describe('the JSON of a value', () => {
  it('is what row_to_json makes of it', async () => {
    const values = Object.entries(VALUES).flatMap(([type, texts]) =>
      texts.map((text): [string, string] => [type, text]),
    );
    const rows = await serverJson(database, values);
    expect(rows).toHaveLength(values.length);
    const ours = rows.map(({ type, type_id, text }) => [type, text, encoded(type_id, text)]);
    expect(ours).toEqual(rows.map(({ type, text, json }) => [type, text, json]));
  });

  it('has numeric infinities as strings (14 and later)', async () => {
    const rows = await serverJson(database, [
      ['numeric', 'Infinity'],
      ['numeric', '-Infinity'],
    ]);
    for (const { type_id, text, json } of rows) expect(encoded(type_id, text)).toBe(json);
  });
});
