// Table patterns as psql writes them: `orders`, `shop.*`, `"Odd.Name"`, `!audit_*`.
// https://www.postgresql.org/docs/current/app-psql.html#APP-PSQL-PATTERNS

import type { Relation } from '../pgoutput/relation.ts';

/** What a pattern looks at. */
export type NamedTable = Pick<Relation, 'schema' | 'name'>;

export interface TablePattern {
  readonly excludes: boolean;
  /** Undefined: in whichever schema. */
  readonly schema: RegExp | undefined;
  readonly table: RegExp;
}

/** Undefined if the text is not a pattern. */
export function parseTablePattern(text: string): TablePattern | undefined {
  const excludes = text.startsWith('!');
  const parts = splitParts(excludes ? text.slice(1) : text);
  if (parts === undefined || parts.length > 2) return undefined;
  const table = parts.at(-1)!;
  const schema = parts.length === 2 ? parts[0]! : undefined;
  return {
    excludes,
    schema: schema === undefined ? undefined : wholeName(schema),
    table: wholeName(table),
  };
}

/** Without a pattern that includes, every table is; one that excludes always wins. */
export function isSelected(relation: NamedTable, patterns: readonly TablePattern[]): boolean {
  const fitting = patterns.filter((pattern) => fits(relation, pattern));
  if (fitting.some((pattern) => pattern.excludes)) return false;
  return fitting.length > 0 || patterns.every((pattern) => pattern.excludes);
}

function fits(relation: NamedTable, { schema, table }: TablePattern): boolean {
  return table.test(relation.name) && (schema === undefined || schema.test(relation.schema));
}

const wholeName = (source: string): RegExp => new RegExp(`^${source}$`, 'su');

/** The regular expressions of the parts between dots; quotes keep a part as it is written. */
function splitParts(text: string): string[] | undefined {
  const parts = [''];
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (quoted && char === '"' && text[i + 1] === '"') {
      parts[parts.length - 1] += '"';
      i++;
    } else if (char === '"') quoted = !quoted;
    else if (!quoted && char === '.') parts.push('');
    else parts[parts.length - 1] += quoted ? literally(char) : unquoted(char);
  }
  return quoted || parts.includes('') ? undefined : parts;
}

function unquoted(char: string): string {
  if (char === '*') return '.*';
  if (char === '?') return '.';
  return literally(/[A-Z]/.test(char) ? char.toLowerCase() : char); // the server folds ASCII only
}

const literally = (char: string): string => char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
