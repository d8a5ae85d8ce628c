// `pgtail slot` is a slip of the fingers more often than a database called "slot".

import { EXIT, PgtailError } from '../errors.ts';

/** Names that are kept for commands, whether they exist yet or not. */
export const RESERVED_COMMANDS: readonly string[] = [
  'demo',
  'slots',
  'doctor',
  'identity',
  'decode',
  'completion',
];

/**
 * @param commands those that exist
 * @param reserved those that are kept for commands
 * @param program what stands before it
 * @throws PgtailError (usage) if the word is a command's name but for one slip, or a reserved one
 */
export function checkNotMistypedCommand(
  word: string,
  commands: readonly string[],
  reserved: readonly string[],
  program: string,
): void {
  const meant = reserved.find((name) => isSlipOf(name, word.toLowerCase()));
  if (meant === undefined) return;
  const suggestion = commands.includes(meant) ? `did you mean "${program} ${meant}"? ` : '';
  throw new PgtailError(EXIT.usage, `unknown command ${JSON.stringify(word)}`, {
    hint: `${suggestion}a database of that name is -d ${word}`,
  });
}

/** The same, or one letter is missing, too much or wrong, or two neighbours have changed places. */
function isSlipOf(name: string, word: string): boolean {
  const start = commonLength([...name], [...word]);
  const end = commonLength([...name.slice(start)].reverse(), [...word.slice(start)].reverse());
  const nameRest = name.slice(start, name.length - end);
  const wordRest = word.slice(start, word.length - end);
  const swapped = nameRest.length === 2 && nameRest === [...wordRest].reverse().join('');
  return swapped || (nameRest.length <= 1 && wordRest.length <= 1);
}

/** How many first items are the same. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  const difference = a.findIndex((item, i) => item !== b[i]);
  return difference === -1 ? a.length : difference;
}
