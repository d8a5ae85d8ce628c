// What the server itself says of each change, written down by triggers as it happens, and whether a
// line says just that: nothing else, nothing less.

import { escapeIdentifier, escapeLiteral } from 'pg';
import { members } from './json-members.ts';
import type { RandomTable } from './random-tables.ts';
import type { TestDatabase } from './server.ts';

export interface WitnessedChange {
  readonly op: string;
  readonly table: string;
  /** row_to_json of the new row and of the old one. */
  readonly new: string | null;
  readonly old: string | null;
  /** The texts of all columns: an array's bounds are not in its JSON. */
  readonly new_texts: readonly string[];
  readonly old_texts: readonly string[];
}

/** Unlogged tables are in no publication. */
export const WITNESS_TABLE = `
  CREATE UNLOGGED TABLE public.witnessed (id bigint GENERATED ALWAYS AS IDENTITY, op text,
    "table" text, new text, old text, new_texts text[], old_texts text[])`;

/** The statements that have all changes of a table written down. */
export function witnessTriggers({ sql, columns }: RandomTable): string {
  const writer = escapeIdentifier(`witness of ${sql}`);
  const texts = (row: string) =>
    `ARRAY[${columns.map((column) => `format('%s', ${row}.${column.sql})`).join(', ')}]`;
  const body = `BEGIN
    INSERT INTO public.witnessed (op, "table", new, old, new_texts, old_texts) VALUES
      (lower(TG_OP), TG_TABLE_NAME, row_to_json(NEW), row_to_json(OLD), ${texts('NEW')}, ${texts('OLD')});
    RETURN NULL;
  END`;
  return `
    CREATE FUNCTION ${writer}() RETURNS trigger LANGUAGE plpgsql AS ${escapeLiteral(body)};
    CREATE TRIGGER rows AFTER INSERT OR UPDATE OR DELETE ON ${sql}
      FOR EACH ROW EXECUTE FUNCTION ${writer}();
    CREATE TRIGGER truncates AFTER TRUNCATE ON ${sql}
      FOR EACH STATEMENT EXECUTE FUNCTION witness_truncate()`;
}

export const WITNESS_TRUNCATE = `
  CREATE FUNCTION witness_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.witnessed (op, "table") VALUES ('truncate', TG_TABLE_NAME); RETURN NULL;
  END $$`;

/** All that was witnessed since the last time, in order. */
export async function takeWitnessed(database: TestDatabase): Promise<WitnessedChange[]> {
  const changes = await database.query<WitnessedChange & Record<string, unknown>>(
    'SELECT * FROM public.witnessed ORDER BY id',
  );
  await database.sql('TRUNCATE public.witnessed');
  return changes;
}

/** One line's name and text of each part that is about the row: what comes behind its place. */
export function rowParts(line: string): [string, string][] {
  const parts = [...members(line)].map(([name, text]): [string, string] => [
    JSON.parse(name) as string,
    text,
  ]);
  return parts.slice(parts.findIndex(([name]) => name === 'commit_time') + 1);
}

/** What `rowParts` of the line of this change must be. `unchanged` is what the line leaves out. */
export function expectedParts(
  { op, new: newJson, old: oldJson, ...texts }: WitnessedChange,
  { identity, columns }: RandomTable,
  unchanged: readonly string[],
): [string, string][] {
  const newRow = rowMembers(newJson);
  const oldRow = rowMembers(oldJson);
  const whole = identity === 'full';
  const key = oldRow.filter((_, i) => columns[i]!.key);
  const differing = newRow.filter(
    ([, text], i) => text !== oldRow[i]?.[1] || texts.new_texts[i] !== texts.old_texts[i],
  );
  const changed = differing.map(([name]) => name).join(',');
  const before: [string, string] = whole ? ['old', object(oldRow)] : ['key', object(key)];
  const sent = newRow.filter(([name]) => !unchanged.includes(name));
  if (op === 'insert') return [['new', object(newRow)]];
  if (op === 'delete') return [['identity', `"${identity}"`], before];
  return [
    ['identity', `"${identity}"`],
    before,
    ['new', object(sent)],
    ...(unchanged.length > 0
      ? [['unchanged', `[${unchanged.join(',')}]`] as [string, string]]
      : []),
    ...(whole ? [['changed', `[${changed}]`] as [string, string]] : []),
  ];
}

/** Smaller values always stay in the row. */
const LEAST_TOASTED = 20;

/** The names, as they stand in JSON, that a line may and does list as unchanged. */
export function unchangedIn(
  line: string,
  { op, new: newJson, old: oldJson }: WitnessedChange,
  { identity }: RandomTable,
): string[] {
  // a whole old row has every value
  if (op !== 'update' || identity === 'full') return [];
  const listed = members(line).get('"unchanged"') ?? '[]';
  const oldRow = new Map(rowMembers(oldJson));
  return rowMembers(newJson)
    .filter(([name]) => (JSON.parse(listed) as string[]).includes(JSON.parse(name) as string))
    .filter(([name, text]) => oldRow.get(name) === text && text.length > LEAST_TOASTED)
    .map(([name]) => name);
}

/** A line cannot keep the line breaks of json. */
const rowMembers = (json: string | null): [string, string][] =>
  json === null ? [] : [...members(json.replaceAll(/[\r\n]/g, ' '))];

const object = (row: readonly (readonly [string, string])[]): string =>
  `{${row.map(([name, text]) => `${name}:${text}`).join(',')}}`;
