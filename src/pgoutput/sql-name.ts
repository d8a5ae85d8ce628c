// Names in statements to be copied into psql: in quotes only where they need them.
// https://www.postgresql.org/docs/current/sql-keywords-appendix.html

import { quoteIdentifier } from './quote-identifier.ts';

/** Those that cannot be the name of a table or a column, of any version from 10 on. */
const RESERVED: ReadonlySet<string> = new Set(
  `
all analyse analyze and any array as asc asymmetric authorization binary both case cast
check collate collation column concurrently constraint create cross current_catalog
current_date current_role current_schema current_time current_timestamp current_user
default deferrable desc distinct do else end except false fetch for foreign freeze from
full grant group having ilike in initially inner intersect into is isnull join lateral
leading left like limit localtime localtimestamp natural not notnull null offset on only or
order outer overlaps placing primary references returning right select session_user similar
some symmetric system_user table tablesample then to trailing true union unique user using
variadic verbose when where window with
`
    .trim()
    .split(/\s+/),
);

const PLAIN = /^[a-z_][a-z0-9_]*$/;

/** `order_lines`, `"order"`, `"Order Lines"` */
export function sqlName(name: string): string {
  return PLAIN.test(name) && !RESERVED.has(name) ? name : quoteIdentifier(name);
}

/** `shop.order_lines` */
export function qualifiedSqlName(table: {
  readonly schema: string;
  readonly name: string;
}): string {
  return `${sqlName(table.schema)}.${sqlName(table.name)}`;
}
