// Type names as format_type() prints them: `numeric(10,2)`, `timestamp(3) with time zone`, `text[]`.
// https://www.postgresql.org/docs/current/functions-info.html (format_type)

import { quoteIdentifier } from '../pgoutput/quote-identifier.ts';
import { builtinArrayElement, builtinType, OID } from './builtin-types.ts';

const SQL_NAMES: Readonly<Record<string, string>> = {
  bool: 'boolean',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float4: 'real',
  float8: 'double precision',
  varchar: 'character varying',
  varbit: 'bit varying',
  time: 'time without time zone',
  timetz: 'time with time zone',
  timestamp: 'timestamp without time zone',
  timestamptz: 'timestamp with time zone',
  // without a length these two are not the SQL types of that name, which mean length 1
  char: '"char"',
  bit: '"bit"',
};

/** The name of a built-in type or array of one; undefined for any other OID. */
export function builtinTypeName(typeId: number, typmod: number): string | undefined {
  const element = builtinArrayElement(typeId);
  if (element !== undefined) return `${scalarName(element.typeId, element.name, typmod)}[]`;
  const type = builtinType(typeId);
  return type && scalarName(type.typeId, type.name, typmod);
}

/** `schema.name` with each part quoted where SQL would need it. */
export function qualifiedTypeName(schema: string, name: string): string {
  const sqlName = schema === 'pg_catalog' ? (SQL_NAMES[name] ?? identifier(name)) : undefined;
  return sqlName ?? `${identifier(schema)}.${identifier(name)}`;
}

function identifier(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : quoteIdentifier(name);
}

const LENGTH_HEADER = 4;

function scalarName(typeId: number, name: string, typmod: number): string {
  if (typmod < 0) return SQL_NAMES[name] ?? name;
  switch (typeId) {
    case OID.varchar:
      return `character varying(${typmod - LENGTH_HEADER})`;
    case OID.bpchar:
      return `character(${typmod - LENGTH_HEADER})`;
    case OID.bit:
      return `bit(${typmod})`;
    case OID.varbit:
      return `bit varying(${typmod})`;
    case OID.numeric:
      return numericName(typmod);
    case OID.time:
      return `time(${typmod}) without time zone`;
    case OID.timetz:
      return `time(${typmod}) with time zone`;
    case OID.timestamp:
      return `timestamp(${typmod}) without time zone`;
    case OID.timestamptz:
      return `timestamp(${typmod}) with time zone`;
    case OID.interval:
      return intervalName(typmod);
    default:
      return SQL_NAMES[name] ?? name;
  }
}

/** Precision stands in the upper half; the scale is an 11-bit signed number (negative since 15). */
function numericName(typmod: number): string {
  const packed = typmod - LENGTH_HEADER;
  const precision = (packed >> 16) & 0xffff;
  const scale = ((packed & 0x7ff) ^ 1024) - 1024;
  return `numeric(${precision},${scale})`;
}

const INTERVAL_FULL_PRECISION = 0xffff;

// bits of the field mask: month 2, year 4, day 8, hour 1024, minute 2048, second 4096
const INTERVAL_FIELDS: Readonly<Record<number, string>> = {
  2: ' month',
  4: ' year',
  6: ' year to month',
  8: ' day',
  1024: ' hour',
  1032: ' day to hour',
  2048: ' minute',
  3072: ' hour to minute',
  3080: ' day to minute',
  4096: ' second',
  6144: ' minute to second',
  7168: ' hour to second',
  7176: ' day to second',
};

function intervalName(typmod: number): string {
  const precision = typmod & INTERVAL_FULL_PRECISION;
  const fields = INTERVAL_FIELDS[(typmod >> 16) & 0x7fff] ?? '';
  return `interval${fields}${precision === INTERVAL_FULL_PRECISION ? '' : `(${precision})`}`;
}
