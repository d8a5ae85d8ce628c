// Values of every built-in type as texts that its input function takes: the edges, and random ones.

import fc from 'fast-check';

export interface TypeValues {
  readonly edges: readonly string[];
  readonly random: fc.Arbitrary<string>;
}

const int = (min: number, max: number) => fc.integer({ min, max });
const bigint = (bits: bigint, signed: boolean) =>
  // small ones as often as large ones: a random count of bits
  fc
    .tuple(fc.bigInt({ min: 0n, max: 2n ** bits - 1n }), fc.bigInt({ min: 0n, max: bits }))
    .map(([value, shift]) => (signed ? BigInt.asIntN(Number(bits), value) : value) >> shift)
    .map(String);

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value) => Buffer.from(value).toString('hex'));

/** Whatever quoting rules look at, between letters of one to four bytes. */
const awkward = fc
  .array(
    fc.constantFrom(
      ...['"', '\\', '{', '}', '(', ')', '[', ']', ',', ';', "'", ' ', '\t', '\n', '\r', '\v'],
      ...['\f', 'a', 'é', '☃', '🍵', '\u00a0', '\u2028', '\x01', '\x7f', 'NULL', 'null', ':', '%'],
    ),
    { maxLength: 9 },
  )
  .map((parts) => parts.join(''));

export const anyText = fc.oneof(
  { weight: 3, arbitrary: awkward },
  {
    weight: 1,
    arbitrary: fc
      .string({ unit: 'binary', maxLength: 50 })
      .map((text) => text.replaceAll('\0', '')),
  },
);

const float8Bits = hex(8).map((bits) => Buffer.from(bits, 'hex').readDoubleBE());
const float4Bits = hex(4).map((bits) => Buffer.from(bits, 'hex').readFloatBE());
const decimal = fc
  .tuple(int(-9_999_999, 9_999_999), int(-9, 12))
  .map(([digits, exponent]) => Number(`${digits}e${exponent}`));
const sixteenDigits = fc
  .tuple(fc.bigInt({ min: 2n ** 52n, max: 2n ** 53n }), int(-60, 80))
  .map(([mantissa, exponent]) => Number(mantissa) * 2 ** exponent);
const powerOfTen = int(-20, 30).map((exponent) => Number(`1e${exponent}`));
const powerOfTwo = int(-140, 127).map((exponent) => 2 ** exponent);

const float8 = fc
  .oneof(float8Bits, decimal, sixteenDigits, powerOfTen, powerOfTwo, int(-99_999, 99_999))
  .map(floatText);
const float4 = fc
  .oneof(float4Bits, decimal, powerOfTen, powerOfTwo, int(-20_000_000, 20_000_000))
  // its input function refuses what would become zero or infinity
  .filter((value) => Math.fround(value) !== 0 && Number.isFinite(Math.fround(value)))
  .map((value) => floatText(Math.fround(value)));
/** Ordinary enough for the checks of boxes and circles. */
const coordinate = fc.oneof(decimal, int(-99, 99)).map(floatText);

function floatText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

const numeric = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 30 }),
    fc.string({ unit: fc.constantFrom(...'0000123456789'), maxLength: 25 }),
    int(-60, 60),
  )
  .map(([sign, whole, fraction, exponent]) => `${sign}${whole}.${fraction}e${exponent}`);

const twoDigits = (value: number) => String(value).padStart(2, '0');
const clock = fc
  .tuple(int(0, 23), int(0, 59), int(0, 59), fc.oneof(fc.constant(0), int(0, 999_999)))
  .map(([hours, minutes, seconds, micros]) => {
    const time = [hours, minutes, seconds].map(twoDigits).join(':');
    return `${time}.${String(micros).padStart(6, '0')}`;
  });
const zone = fc
  .tuple(fc.constantFrom('+', '-'), int(0, 15), fc.oneof(fc.constant(0), int(0, 59)), int(0, 59))
  .map(([sign, hours, minutes, seconds]) => {
    const zone = `${sign}${twoDigits(hours)}:${twoDigits(minutes)}`;
    return seconds < 30 ? zone : `${zone}:${seconds}`;
  });

const day = (lastYear: number) =>
  fc
    .tuple(fc.oneof(int(1970, 2040), int(1, lastYear), int(-4712, -1)), int(1, 12), int(1, 28))
    .map(([year, month, day]) => ({
      date: `${String(Math.abs(year)).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`,
      era: year < 0 ? ' BC' : '',
    }));
const date = day(5_874_896).map(({ date, era }) => `${date}${era}`);
const timestamp = fc
  .tuple(day(294_276), clock)
  .map(([{ date, era }, time]) => `${date} ${time}${era}`);
const timestamptz = fc
  .tuple(day(294_275), clock, zone)
  .filter(([{ date, era }]) => !(era !== '' && date.startsWith('4712')))
  .map(([{ date, era }, time, zone]) => `${date} ${time}${zone}${era}`);

const smallPart = fc.oneof(fc.constantFrom(0, 1, -1, 12, -12), int(-50, 50));
const interval = fc
  .tuple(
    fc.oneof(smallPart, int(-2_000_000_000, 2_000_000_000)),
    fc.oneof(smallPart, int(-2_000_000_000, 2_000_000_000)),
    fc.oneof(
      smallPart,
      int(-(2 ** 52), 2 ** 52),
      smallPart.map((hours) => hours * 3_600_000_000),
    ),
  )
  .map(([months, days, micros]) => `${months} mons ${days} days ${hours(micros)}`);

/** Before 15 the input function takes no more than 2^31 of a unit. */
function hours(micros: number): string {
  const seconds = Math.trunc(Math.abs(micros) / 1e6);
  const fraction = String(Math.abs(micros) % 1e6).padStart(6, '0');
  const clock = [Math.trunc(seconds / 3600), Math.trunc(seconds / 60) % 60, seconds % 60];
  return `${micros < 0 ? '-' : '+'}${clock.map(twoDigits).join(':')}.${fraction}`;
}

const ipv4 = fc.ipV4();
const ipv6 = fc
  .array(fc.constantFrom('0', '0', '0', '0', 'ffff', 'a', '1', '20b'), {
    minLength: 8,
    maxLength: 8,
  })
  .map((words) => words.join(':'));
const inet = fc.oneof(
  ipv4,
  fc.tuple(ipv4, int(0, 32)).map(([address, bits]) => `${address}/${bits}`),
  ipv6,
  fc.tuple(ipv6, int(0, 128)).map(([address, bits]) => `${address}/${bits}`),
);
/** Networks must have no bits set beyond their own. */
const cidr = fc.oneof(
  ipv4,
  ipv6,
  fc.tuple(int(0, 255), int(0, 255), int(16, 32)).map(([a, b, bits]) => `${a}.${b}.0.0/${bits}`),
  fc.tuple(hex(2), int(16, 128)).map(([word, bits]) => `${word}::/${bits}`),
);

const bits = fc.string({ unit: fc.constantFrom('0', '1'), maxLength: 70 });
const jsonText = fc.jsonValue().map((value) =>
  JSON.stringify(value)
    .replaceAll('\\u0000', '')
    .replaceAll(/\\ud[89a-f]../g, ''),
);

const point = fc.tuple(coordinate, coordinate).map(([x, y]) => `(${x},${y})`);
const points = fc.array(point, { minLength: 1, maxLength: 5 }).map((points) => points.join(','));
const distinctPoints = fc
  .tuple(int(-999, 999), int(-999, 999), int(1, 999))
  .map(([x, y, width]) => `(${x / 8},${y}),(${x / 8 + width},${y / 3})`);

const lexeme = awkward
  .filter((text) => text !== '')
  .map((text) => `'${text.replaceAll(/['\\]/g, '$&$&')}'`);
const position = fc
  .tuple(int(1, 16_383), fc.constantFrom('', 'A', 'B', 'C', 'D'))
  .map(([position, weight]) => `${position}${weight}`);
const tsvector = fc
  .array(
    fc
      .tuple(lexeme, fc.array(position, { maxLength: 3 }))
      .map(([lexeme, positions]) =>
        positions.length === 0 ? lexeme : `${lexeme}:${positions.join(',')}`,
      ),
    { maxLength: 5 },
  )
  .map((lexemes) => lexemes.join(' '));
const weightedLexeme = fc
  .tuple(lexeme, fc.constantFrom('', '', ':*', ':A', ':BC', ':*ABCD'))
  .map((parts) => parts.join(''));
const { query } = fc.letrec<{ query: string }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small' },
    weightedLexeme,
    tie('query').map((inner) => `!(${inner})`),
    fc
      .tuple(tie('query'), fc.constantFrom('&', '|', '<->', '<3>', '<0>'), tie('query'))
      .map(([left, operator, right]) => `(${left}) ${operator} (${right})`),
  ),
}));

const ordered = (value: fc.Arbitrary<number>, text: (value: number) => string) =>
  fc
    .tuple(value, value, fc.constantFrom('[', '('), fc.constantFrom(']', ')'), int(0, 9))
    .map(([a, b, open, close, infinite]) => {
      const lower = infinite === 1 ? '' : `"${text(Math.min(a, b))}"`;
      const upper = infinite === 2 ? '' : `"${text(Math.max(a, b))}"`;
      return infinite === 3 ? 'empty' : `${open}${lower},${upper}${close}`;
    });
const isoTime = (ms: number) => new Date(ms).toISOString().replace('T', ' ').slice(0, -1);
const RANGE_VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  int4: ordered(int(-2_000_000_000, 2_000_000_000), String),
  int8: ordered(int(-(2 ** 53) + 1, 2 ** 53 - 2), String),
  num: ordered(fc.oneof(decimal, int(-9, 9)), String),
  ts: ordered(int(-2e13, 8e13), isoTime),
  tstz: ordered(int(-2e13, 8e13), (ms) => `${isoTime(ms)}+02`),
  date: ordered(int(-2e13, 8e13), (ms) => isoTime(ms).slice(0, 10)),
};
const ranges = Object.fromEntries(
  Object.entries(RANGE_VALUES).flatMap(([name, random]) => [
    [`${name}range`, { edges: ['empty', '(,)'], random }],
    [
      `${name}multirange`,
      {
        edges: ['{}', '{(,)}'],
        random: fc.array(random, { maxLength: 4 }).map((ranges) => `{${ranges.join(',')}}`),
      },
    ],
  ]),
);

const DATES = ['2000-01-01', '1999-12-31', '2000-02-29', '0001-01-01', '0001-12-31 BC'];
const TIMESTAMPS = ['infinity', '-infinity', '2026-11-29 20:36:50.055877', '1999-12-31 23:59:59.1'];

/** By pg_type.typname. */
export const TYPE_VALUES: Readonly<Record<string, TypeValues>> = {
  bool: { edges: ['t', 'f'], random: fc.constantFrom('t', 'f') },
  int2: { edges: ['-32768', '32767', '0'], random: bigint(16n, true) },
  int4: { edges: ['-2147483648', '2147483647', '0'], random: bigint(32n, true) },
  int8: {
    edges: [
      ...['-9223372036854775808', '9223372036854775807', '-4294967296', '4294967296', '0'],
      ...['9007199254740993', '-9007199254740993', '999999', '1000000', '-1000000'],
      ...['4294967295999999', '4294967296000000', '-4294967296000000', '1000000000000000000'],
    ],
    random: bigint(64n, true),
  },
  oid: { edges: ['0', '4294967295'], random: bigint(32n, false) },
  xid: { edges: ['0', '4294967295'], random: bigint(32n, false) },
  cid: { edges: ['0', '4294967295'], random: bigint(32n, false) },
  xid8: { edges: ['0', '18446744073709551615'], random: bigint(64n, false) },
  tid: {
    edges: ['(0,0)', '(4294967295,65535)'],
    random: fc.tuple(int(0, 4_294_967_295), int(0, 65_535)).map((parts) => `(${parts.join(',')})`),
  },
  float4: {
    edges: [
      ...['NaN', 'Infinity', '-Infinity', '-0', '0', '1e-45', '1.1754944e-38', '3.4028235e38'],
      ...['0.0001', '0.00009999999', '999999.94', '1e6', '1000000.1', '16777216', '33554432'],
      ...['8.5899346e+09', '1.1754942e-38', '0.1', '123456.7', '0.5', '1e15', '2e10', '9.5e-7'],
    ],
    random: float4,
  },
  float8: {
    edges: [
      ...['NaN', 'Infinity', '-Infinity', '-0', '0', '5e-324', '2.2250738585072014e-308'],
      ...['1.7976931348623157e308', '0.0001', '0.00009999999999999999', '1e15', '1e14'],
      ...['999999999999999.9', '123456789012345', '1234567890123456', '1e22', '1e23', '2e23'],
      ...['9007199254740993', '9223372036854775807', '0.1', '0.3', '1e-5', '18014398509481984'],
    ],
    random: float8,
  },
  numeric: {
    edges: [
      ...['NaN', 'Infinity', '-Infinity', '0', '-0', '0.00', '12.50', '1e1000', '1e-1000', '10000'],
      ...['9999', '0.0001', '0.00001', '1e131071', '100000000', '-0.5', '99999999.99999999'],
    ],
    random: numeric,
  },
  text: { edges: ['', 'NULL', 'café'], random: anyText },
  varchar: { edges: [''], random: anyText },
  bpchar: { edges: ['', 'tea  '], random: anyText },
  name: { edges: ['', 'order "lines"'], random: anyText.map((text) => text.slice(0, 15)) },
  refcursor: { edges: [''], random: anyText },
  char: { edges: ['', '"', '\\'], random: int(1, 127).map((code) => String.fromCharCode(code)) },
  json: { edges: ['null', ' { "a" : 1.0 } '], random: jsonText },
  jsonb: { edges: ['null', '{"b": 1.50, "a": [true, null]}', '1e400'], random: jsonText },
  jsonpath: {
    edges: ['$', 'strict $.a[*] ? (@ > 1)'],
    random: awkward.map((text) => `$.${JSON.stringify(text)}[*]`),
  },
  bytea: { edges: ['\\x'], random: fc.oneof(hex(3), hex(40)).map((digits) => `\\x${digits}`) },
  uuid: { edges: ['00000000-0000-0000-0000-000000000000'], random: hex(16) },
  date: {
    edges: [...DATES, 'infinity', '-infinity', '4714-11-24 BC', '5874897-12-31'],
    random: date,
  },
  time: { edges: ['24:00:00', '00:00:00', '23:59:59.999999', '01:02:03.1'], random: clock },
  timetz: {
    edges: ['24:00:00-15:59:59', '00:00:00+15:59:59', '20:36:50+00', '12:00:00+05:30'],
    random: fc.tuple(clock, zone).map((parts) => parts.join('')),
  },
  timestamp: {
    edges: [...DATES, ...TIMESTAMPS, '4714-11-24 00:00:00 BC', '294276-12-31 23:59:59.999999'],
    random: timestamp,
  },
  timestamptz: {
    edges: [
      ...DATES,
      ...TIMESTAMPS,
      '4714-11-24 00:00:00+00 BC',
      '294276-12-31 23:59:59.999999+00',
    ],
    random: timestamptz,
  },
  interval: {
    edges: [
      ...['0', '1 year', '-1 year', '1 mon', '1 day', '-1 day +1 hour', '1 mon -1 day 1 hour'],
      ...['-178956970 years', '2147483647 mons 2147483647 days', '2147483647:59:59.999999'],
      ...['-00:00:00.000001', '1 year -1 mon', '-1 year 1 mon 1 day', '100 hours', '-1 mon 1 day'],
    ],
    random: interval,
  },
  inet: {
    edges: [
      ...['::', '::1', '::2', '::ffff:1.2.3.4', '::1.2.3.4', '1::', '::/0', '0.0.0.0/0', '::10:2'],
      ...['::ffff:0:0', '1:0:0:2:0:0:0:3', '1:0:0:2:0:0:3:4', '0:1:0:1:0:1:0:1', '::fffe:1.2.3.4'],
    ],
    random: inet,
  },
  cidr: { edges: ['10.0.0.0/8', '::/0', '0.0.0.0/0', '::ffff:1.2.3.4/128'], random: cidr },
  macaddr: { edges: [], random: hex(6) },
  macaddr8: { edges: [], random: hex(8) },
  bit: { edges: ['', '1'], random: bits },
  varbit: { edges: ['', '10011'], random: bits },
  pg_lsn: {
    edges: ['0/0', 'FFFFFFFF/FFFFFFFF'],
    random: fc
      .tuple(int(0, 0xffff_ffff), int(0, 0xffff_ffff), int(0, 31))
      .map(
        ([high, low, shift]) => `${(high >>> shift).toString(16)}/${(low >>> shift).toString(16)}`,
      ),
  },
  pg_snapshot: { edges: ['1:1:', '10:20:10,14'], random: snapshot() },
  txid_snapshot: { edges: ['1:1:'], random: snapshot() },
  tsvector: { edges: ['', "'fat':2A,3 'rat'"], random: tsvector },
  tsquery: { edges: ['', 'a | b & c <-> d & !(e | f)', 'a <-> (b <-> c)'], random: query },
  point: {
    edges: ['(NaN,Infinity)', '(-0,1e300)'],
    random: fc.tuple(float8, float8).map(([x, y]) => `(${x},${y})`),
  },
  lseg: { edges: [], random: fc.tuple(point, point).map((ends) => `[${ends.join(',')}]`) },
  box: { edges: [], random: fc.tuple(point, point).map((corners) => corners.join(',')) },
  path: {
    edges: [],
    random: fc
      .tuple(points, fc.boolean())
      .map(([points, closed]) => (closed ? `(${points})` : `[${points}]`)),
  },
  polygon: { edges: [], random: points.map((points) => `(${points})`) },
  line: { edges: ['{0,-1,2}', '{1,0,-0}'], random: distinctPoints.map((points) => `[${points}]`) },
  circle: {
    edges: ['<(0,0),0>'],
    random: fc.tuple(point, int(0, 999)).map(([center, size]) => `<${center},${size / 7}>`),
  },
  int2vector: { edges: [''], random: vector(-32_768, 32_767) },
  oidvector: { edges: [''], random: vector(0, 4_294_967_295) },
  ...ranges,
};

function snapshot(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.bigInt({ min: 1n, max: 2n ** 54n }), fc.uniqueArray(int(0, 99), { maxLength: 5 }))
    .map(([high, running]) => {
      // an xid whose lower half is 0 is not valid
      const xmin = high * 256n + 1n;
      const inProgress = running.sort((a, b) => a - b).map((offset) => xmin + BigInt(offset));
      return `${xmin}:${xmin + 100n}:${inProgress.join(',')}`;
    });
}

function vector(min: number, max: number): fc.Arbitrary<string> {
  return fc.array(int(min, max), { maxLength: 6 }).map((elements) => elements.join(' '));
}

/** Without a length, SQL's own names of two types would mean length 1. */
export function sqlName(type: string): string {
  if (type === 'char') return '"char"';
  return type === 'bit' || type === 'bpchar' ? `pg_catalog."${type}"` : type;
}
