// The findings about a list of tables: what many partitions of one table share is told once.

import { type Finding, worstFirst } from '../findings/finding.ts';
import { qualifiedSqlName } from '../pgoutput/sql-name.ts';
import { type Note, notesOf } from './notes.ts';

import type { TableIdentity } from './table-identity.ts';

interface Told {
  readonly found: TableIdentity;
  readonly note: Note;
}

/** Worst first; else in the order of the tables. */
export function identityFindings(tables: readonly TableIdentity[]): readonly Finding[] {
  const told = tables.flatMap((found) => notesOf(found).map((note) => ({ found, note })));
  return worstFirst(grouped(told).map(findingOf));
}

function grouped(told: readonly Told[]): readonly (readonly Told[])[] {
  const groups = new Map<string, Told[]>();
  for (const each of told) {
    const name = groupOf(each);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [each]);
    else group.push(each);
  }
  return [...groups.values()];
}

/** Partitions of one table that say the same, word for word, are one group. */
function groupOf({ found, note }: Told): string {
  const { table, root } = found;
  return [root?.id ?? table.id, note.id, note.severity, note.fact, note.consequence].join('\n');
}

/** More names than that say nothing more. */
const NAMES_SHOWN = 3;

function findingOf(group: readonly Told[]): Finding {
  const [{ found, note }] = group as [Told, ...Told[]]; // no group is empty
  const { table, root } = found;
  const isOne = group.length === 1 || root === undefined;
  return {
    id: note.id,
    severity: note.severity,
    subject: { kind: 'table', name: qualifiedSqlName(isOne ? table : root) },
    fact: `${isOne ? `table ${qualifiedSqlName(table)}` : partitions(group)} ${note.fact}`,
    consequence: note.consequence,
    fix: [...new Set(group.flatMap((each) => each.note.fix))],
  };
}

/** The verb is that of one, so the subject is too. */
function partitions(group: readonly Told[]): string {
  const names = group.map(({ found }) => qualifiedSqlName(found.table));
  const more = names.length - NAMES_SHOWN;
  const shown = names.slice(0, NAMES_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return `each of ${names.length} partitions (${shown})`;
}
