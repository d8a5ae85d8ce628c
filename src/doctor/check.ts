// One thing that was looked at: what was found, and what is wrong with it, if anything is.

import {
  type Finding,
  type FindingSubject,
  type Severity,
  worstFirst,
} from '../findings/finding.ts';
import { formatCount } from '../format/quantities.ts';

export interface Check {
  /** A stable name in kebab-case, for scripts: `wal-level`. */
  readonly name: string;
  readonly subject: FindingSubject;
  /** What was seen, in one lower-case line, fine or not. */
  readonly fact: string;
  readonly findings: readonly Finding[];
}

export const SERVER: FindingSubject = { kind: 'server' };

/** A check whose findings are those of `found` that are any. */
export function check(
  name: string,
  subject: FindingSubject,
  fact: string,
  ...found: readonly (Finding | undefined)[]
): Check {
  return { name, subject, fact, findings: found.filter((finding) => finding !== undefined) };
}

export type CheckResult = 'ok' | Severity;

/** The worst of what is wrong with it. */
export function resultOf({ findings }: Check): CheckResult {
  return worstFirst(findings)[0]?.severity ?? 'ok';
}

/** What the role may not read: said, never guessed. */
export interface Unreadable {
  readonly what: string;
  /** What would let it; undefined: nothing would. */
  readonly grant?: string;
}

const LISTED = 8;

/** `a, b and 3 more`: `names` may be the first few of `total`. */
export function listed(names: readonly string[], total = names.length): string {
  const shown = names.slice(0, LISTED);
  const more = total - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${formatCount(more)} more` : ''}`;
}

export const quoted = (name: string): string => JSON.stringify(name);
