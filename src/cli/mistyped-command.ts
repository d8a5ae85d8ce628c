// `pgtail slot` is a slip of the fingers more often than a database called "slot".

import { EXIT, PgtailError } from '../errors.ts';

/** @throws PgtailError (usage) if the word is nearly, but not quite, one of the commands. */
export function checkNotMistypedCommand(word: string, commands: readonly string[]): void {
  const meant = commands.find((command) => editDistance(word.toLowerCase(), command) <= 2);
  if (meant === undefined || word.length < 3) return;
  throw new PgtailError(EXIT.usage, `unknown command ${JSON.stringify(word)}`, {
    hint: `did you mean "pgtail ${meant}"? A database of that name is -d ${word}`,
  });
}

/** Letters to insert, delete or replace (Levenshtein), one row of the table at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, replaced));
    }
    row = next;
  }
  return row[b.length]!;
}
