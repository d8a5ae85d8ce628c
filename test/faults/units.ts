// The units in lines of NDJSON: what was said whole, in the order in which it ended.

import { type Line, linesOf, lsnOf } from '../support/tail.ts';

export interface Unit {
  readonly op: 'commit' | 'prepare' | 'commit_prepared' | 'rollback_prepared' | 'message';
  readonly end: bigint;
  /** All its lines, from begin to end. */
  readonly lines: readonly Line[];
}

export interface Units {
  readonly units: readonly Unit[];
  /** Lines that belong to no whole unit and that no `restart` made void. */
  readonly torn: number;
  readonly problems: readonly string[];
}

/** Where each unit's position stands. */
const ENDS: Readonly<Record<Unit['op'], string>> = {
  commit: 'end_lsn',
  prepare: 'end_lsn',
  commit_prepared: 'end_lsn',
  rollback_prepared: 'rollback_end_lsn',
  message: 'lsn',
};

const ANNOUNCEMENTS = ['relation', 'type', 'pgtail', 'origin'];

/** Of the whole lines. */
export function unitsOf(ndjson: string): Units {
  const units: Unit[] = [];
  const problems: string[] = [];
  let open: Line[] = [];
  for (const line of linesOf(ndjson)) {
    if (ANNOUNCEMENTS.includes(line.op)) continue;
    if (line.op === 'restart') open = [];
    else if (isAlone(line)) units.push(unit(line, [line]));
    else open.push(line);
    if (line.op !== 'commit' && line.op !== 'prepare') continue;
    const problem = brokenFrame(open);
    if (problem !== undefined) problems.push(problem);
    units.push(unit(line, open));
    open = [];
  }
  return { units, torn: open.length, problems };
}

const isAlone = ({ op, transactional }: Line): boolean =>
  op === 'commit_prepared' || op === 'rollback_prepared' || (op === 'message' && !transactional);

function unit(last: Line, lines: readonly Line[]): Unit {
  const op = last.op as Unit['op']; // only those that end one get here
  return { op, end: lsnOf(String(last[ENDS[op]])), lines };
}

/** A transaction begins, counts its changes from 1 without a hole, and ends. */
function brokenFrame(lines: readonly Line[]): string | undefined {
  const [first, last] = [lines[0]!, lines.at(-1)!];
  const inner = lines.slice(1, -1);
  const begin = last.op === 'commit' ? 'begin' : 'begin_prepare';
  const name = `transaction ${last.xid} at ${last[ENDS.commit]}`;
  if (first.op !== begin || first.xid !== last.xid) return `${name} has no ${begin}`;
  if (inner.some((line, i) => line.xid !== last.xid || line.seq !== i + 1)) {
    return `${name} does not count its changes`;
  }
  const changes = inner.filter(({ op }) => op !== 'message').length;
  return last.changes === changes ? undefined : `${name} has ${changes} changes`;
}

const END = /"op":"(commit|commit_prepared|rollback_prepared|prepare|message)"/;

/** The highest end of a unit in these lines, found without reading them in full. */
export function highestEnd(ndjson: string): bigint {
  let highest = 0n;
  for (const line of ndjson.slice(0, ndjson.lastIndexOf('\n') + 1).split('\n')) {
    const end = endOfLine(line);
    if (end > highest) highest = end;
  }
  return highest;
}

/** 0 if the line ends no unit. */
function endOfLine(line: string): bigint {
  if (!END.test(line.slice(0, 40))) return 0n;
  const parsed = JSON.parse(line) as Line;
  if (parsed.op === 'message' && parsed.transactional) return 0n;
  return unit(parsed, []).end;
}
