// Where the last complete unit of a file ends: found from the end backwards.

import type { Lsn } from '../../lsn.ts';
import type { FileTail } from './file-tail.ts';
import { LINE_START, type UnitEnd, unitEnd } from './unit-end.ts';

const LINE_FEED = 0x0a;

export interface LastUnit {
  /** The file offset behind its last line. */
  readonly end: number;
  /** The highest end of a unit in the file. */
  readonly lsn: Lsn;
}

/** A line that ends a unit. */
interface EndLine extends UnitEnd {
  readonly start: number;
  readonly end: number;
}

/** Of the file's bytes before `end`; `header`, its first line, is what it falls back on. */
export function lastUnit(tail: FileTail, end: number, header: LastUnit): LastUnit {
  const prepares: EndLine[] = [];
  let line = endLineBefore(tail, end, header.end);
  for (; line?.op === 'prepare'; line = endLineBefore(tail, line.start, header.end)) {
    prepares.push(line);
  }
  return prepares.reduceRight<LastUnit>(withPrepare, line ?? header);
}

/**
 * A prepared transaction that PostgreSQL had no reason to send at its PREPARE (two-phase decoding
 * was switched on later) comes with its COMMIT PREPARED, and with it again: alone it is not
 * complete. Its end, older than what came before it, tells it.
 */
function withPrepare(before: LastUnit, prepare: EndLine): LastUnit {
  return prepare.lsn > before.lsn ? prepare : before;
}

/** The last line before `end` that ends a unit, down to `start`. */
function endLineBefore(tail: FileTail, end: number, start: number): EndLine | undefined {
  let lineFeed = tail.lastIndexOf(LINE_FEED, end);
  while (lineFeed >= start) {
    const before = tail.lastIndexOf(LINE_FEED, lineFeed);
    const found = endOfLine(tail, before + 1, lineFeed);
    if (found !== undefined) return { ...found, start: before + 1, end: lineFeed + 1 };
    lineFeed = before;
  }
  return undefined;
}

function endOfLine(tail: FileTail, start: number, end: number): UnitEnd | undefined {
  const isWhole = end - start <= LINE_START;
  return unitEnd(tail.read(start, isWhole ? end : start + LINE_START), isWhole);
}
