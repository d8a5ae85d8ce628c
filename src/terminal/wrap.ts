// Text of a paragraph in lines of a width, broken between words.

import { fitText, safeText } from './safe-text.ts';
import { displayWidth } from './width.ts';

/** Narrower than this nothing can be read: lines are then longer than asked. */
const NARROWEST = 20;

/** Lines that are safe to print; at least one. */
export function wrapText(text: string, columns: number): string[] {
  const width = Math.max(columns, NARROWEST);
  const lines: string[] = [];
  let line = '';
  for (const word of safeText(text).split(' ')) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line);
      line = '';
    }
    const [last, ...full] = broken(word, width).reverse();
    if (full.length > 0 && line !== '') lines.push(line);
    lines.push(...full.reverse());
    line = line === '' || full.length > 0 ? last! : `${line} ${last}`;
  }
  return [...lines, line];
}

/** A word that is wider than a line, in parts. */
function broken(word: string, width: number): string[] {
  const { text, whole } = fitText(word, width);
  return whole || text === '' ? [word] : [text, ...broken(word.slice(text.length), width)];
}
