// How a column's values are best shown, by the OID of its type; only built-in types have fixed ones.
// https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat

/** `word` is text of a known form, such as a uuid, that cannot be mistaken for anything else. */
export type ValueKind = 'boolean' | 'number' | 'time' | 'json' | 'bytea' | 'word' | 'text';

const KINDS: ReadonlyMap<number, ValueKind> = new Map<number, ValueKind>([
  [16, 'boolean'],
  [17, 'bytea'],
  [20, 'number'], // bigint
  [21, 'number'], // smallint
  [23, 'number'], // integer
  [26, 'number'], // oid
  [28, 'number'], // xid
  [700, 'number'], // real
  [701, 'number'], // double precision
  [790, 'number'], // money
  [1700, 'number'], // numeric
  [5069, 'number'], // xid8
  [114, 'json'],
  [3802, 'json'], // jsonb
  [1082, 'time'], // date
  [1083, 'time'], // time
  [1114, 'time'], // timestamp
  [1184, 'time'], // timestamptz
  [1266, 'time'], // timetz
  [829, 'word'], // macaddr
  [869, 'word'], // inet
  [650, 'word'], // cidr
  [2950, 'word'], // uuid
  [3220, 'word'], // pg_lsn
]);

/** Enums, composites, arrays and extension types are shown as text; a domain as its base type. */
export function valueKind(typeId: number): ValueKind {
  return KINDS.get(typeId) ?? 'text';
}
