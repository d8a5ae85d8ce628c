// The last header line of a file, where there is more than the first: one for each new timeline.

import { type FileHeader, HEADER_START, LONGEST_HEADER, parseHeader } from './file-header.ts';
import type { FileTail } from './file-tail.ts';

/** A line feed never stands inside a line: what follows one begins a line. */
const LATER_HEADER = Buffer.concat([Buffer.from('\n'), HEADER_START]);

/**
 * Reads backwards from `end`, an end of a line, until one is found: the whole file, if only its
 * first line is one. Undefined: there is none after the first line.
 */
export function lastHeader(tail: FileTail, end: number): FileHeader | undefined {
  const before = tail.lastIndexOfText(LATER_HEADER, end);
  if (before === -1) return undefined;
  const text = tail.read(before + 1, Math.min(end, before + 1 + LONGEST_HEADER)).toString('utf8');
  const header = parseHeader(text.slice(0, Math.max(text.indexOf('\n'), 0)));
  return header !== undefined && 'slot' in header ? header : lastHeader(tail, before);
}
