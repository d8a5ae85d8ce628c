// Names as one would write them in SQL: quoted when they need it, so that each ends where it seems to.
// https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS

import { quoteIdentifier } from '../../pgoutput/quote-identifier.ts';

const NEEDS_NO_QUOTES = /^[\p{Ll}\p{Lo}_][\p{Ll}\p{Lo}\p{M}\p{Nd}_$]*$/u;

/** `order_lines`, `"Order Lines"`. Not yet safe to print. */
export function identifier(name: string): string {
  return NEEDS_NO_QUOTES.test(name) ? name : quoteIdentifier(name);
}

/** `shop.order_lines`. Not yet safe to print. */
export function qualifiedName(table: { readonly schema: string; readonly name: string }): string {
  return `${identifier(table.schema)}.${identifier(table.name)}`;
}

/** A text in single quotes, as a literal in SQL. Not yet safe to print. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
