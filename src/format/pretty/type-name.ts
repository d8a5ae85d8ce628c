// The SQL names of the built-in types, to say what a column's type was and is.
// https://www.postgresql.org/docs/current/datatype.html

import type { RelationColumn } from '../../pgoutput/relation.ts';

const NAMES: ReadonlyMap<number, string> = new Map([
  [16, 'boolean'],
  [17, 'bytea'],
  [18, '"char"'],
  [19, 'name'],
  [20, 'bigint'],
  [21, 'smallint'],
  [23, 'integer'],
  [25, 'text'],
  [26, 'oid'],
  [114, 'json'],
  [700, 'real'],
  [701, 'double precision'],
  [790, 'money'],
  [869, 'inet'],
  [1007, 'integer[]'],
  [1009, 'text[]'],
  [1016, 'bigint[]'],
  [1042, 'character'],
  [1043, 'character varying'],
  [1082, 'date'],
  [1083, 'time'],
  [1114, 'timestamp'],
  [1184, 'timestamptz'],
  [1186, 'interval'],
  [1266, 'timetz'],
  [1560, 'bit'],
  [1562, 'bit varying'],
  [1700, 'numeric'],
  [2950, 'uuid'],
  [3802, 'jsonb'],
]);

const CHARACTER_TYPES = new Set([1042, 1043]);
const NUMERIC = 1700;
/** What character types and numeric add to their modifier: the size of a length word. */
const VARHDRSZ = 4;

/** `numeric(10,2)`, `text`; `type 16999` for one that is not built in. */
export function typeName({ typeId, typmod }: RelationColumn): string {
  return (NAMES.get(typeId) ?? `type ${typeId}`) + typeModifier(typeId, typmod);
}

function typeModifier(typeId: number, typmod: number): string {
  if (typmod < 0) return '';
  if (CHARACTER_TYPES.has(typeId)) return `(${typmod - VARHDRSZ})`;
  if (typeId !== NUMERIC) return '';
  const packed = typmod - VARHDRSZ;
  // 11 bits of scale, which may be negative since 15
  return `(${(packed >> 16) & 0xffff},${((packed & 0x7ff) ^ 1024) - 1024})`;
}
