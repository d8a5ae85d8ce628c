// Which lines end a unit, and where: read from a line's first bytes, however long it is.

import { type Lsn, parseLsn } from '../../lsn.ts';
import { jsonObject } from './file-header.ts';

export interface UnitEnd {
  readonly op: EndOp;
  readonly lsn: Lsn;
}

/** A header counts as an end: what comes before its position is not in what follows it. */
const END_KEYS = {
  commit: 'end_lsn',
  commit_prepared: 'end_lsn',
  rollback_prepared: 'rollback_end_lsn',
  prepare: 'end_lsn',
  message: 'lsn',
  pgtail: 'after_lsn',
} as const;

type EndOp = keyof typeof END_KEYS;

/**
 * Of a line this much is enough. Only a message can be longer, and its position stands in front; a
 * gid has at most 200 bytes.
 */
export const LINE_START = 4096;

const OP = /^\{"op":"([a-z_]{1,20})"/;
/** In a transaction the lsn does not come first. */
const STANDALONE_MESSAGE = /^\{"op":"message","lsn":"([0-9A-F/]+)","transactional":false,/;

/**
 * `start` holds the first LINE_START bytes of a line, or all of it; `isWhole` says which. Undefined
 * if the line ends no unit, or is damaged.
 */
export function unitEnd(start: Buffer, isWhole: boolean): UnitEnd | undefined {
  const op = endOp(start);
  if (op === undefined) return undefined;
  if (op === 'message') return messageEnd(start, isWhole);
  const text = isWhole ? jsonObject(start.toString('utf8'))[END_KEYS[op]] : undefined;
  return endAt(op, text);
}

function endOp(start: Buffer): EndOp | undefined {
  const op = OP.exec(start.toString('latin1', 0, 32))?.[1];
  return op !== undefined && Object.hasOwn(END_KEYS, op) ? (op as EndOp) : undefined;
}

function messageEnd(start: Buffer, isWhole: boolean): UnitEnd | undefined {
  const text = STANDALONE_MESSAGE.exec(start.toString('latin1', 0, 100))?.[1];
  if (isWhole && jsonObject(start.toString('utf8')).op === undefined) return undefined;
  return endAt('message', text);
}

function endAt(op: EndOp, text: unknown): UnitEnd | undefined {
  const lsn = typeof text === 'string' ? parseLsn(text) : undefined;
  return lsn === undefined ? undefined : { op, lsn };
}
