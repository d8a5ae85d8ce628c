// An identifier in double quotes: SQL, the replication grammar and pgoutput's options quote alike.
// https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
