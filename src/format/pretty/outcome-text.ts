// What became of shown rows, in words: how many stand, and what took the others back.

import { formatCount, formatCounted } from '../quantities.ts';
import type { Noun, ShownRows } from './shown-rows.ts';

/** What a number of rows means. */
type Counting = Pick<ShownRows, 'noun' | 'isExact'>;

/** `901 rows`, `at most 901 rows` */
export function rowsText(rows: number, { noun, isExact }: Counting): string {
  return `${isExact || rows === 0 ? '' : 'at most '}${formatCounted(rows, noun)}`;
}

/** `901 rows stand`, `1 row stands` */
export function standingText(rows: number, counting: Counting): string {
  return `${rowsText(rows, counting)} ${rows === 1 ? 'stands' : 'stand'}`;
}

/** `900 rows`, `rows` if nobody knows how many, `lines` if there were none of rows. */
export function voidText(rows: number | undefined, noun: Noun): string {
  if (rows === undefined) return `${noun}s`;
  return rows === 0 ? 'lines' : formatCounted(rows, noun);
}

/** `, 900 taken back by rollback of 746`, `, 1,200 taken back by 3 rollbacks`, or nothing. */
export function takenBackText(shown: ShownRows): string {
  if (shown.rollbacks === 0) return '';
  const rollbacks =
    shown.rollbacks === 1
      ? `rollback of ${shown.lastRolledBack}`
      : formatCounted(shown.rollbacks, 'rollback');
  return `, ${takenBackCount(shown)} taken back by ${rollbacks}`;
}

function takenBackCount({ takenBack, isExact }: ShownRows): string {
  return isExact ? formatCount(takenBack) : 'others';
}

/** `745, 789 and 3 more`: as many xids as fit, or else how many they are. */
export function xidList(xids: readonly number[], columns: number): string {
  let list = '';
  let best = formatCounted(xids.length, 'transaction');
  for (const [i, xid] of xids.entries()) {
    list += i === 0 ? String(xid) : `, ${xid}`;
    if (list.length > columns) break;
    const more = xids.length - i - 1;
    const text = more === 0 ? list : `${list} and ${formatCount(more)} more`;
    if (text.length <= columns) best = text;
  }
  return best;
}
