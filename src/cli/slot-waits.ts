// What the user is told while a slot waits to be made.

import type { OpenTransaction } from '../catalog/slot-wait.ts';
import { printNotice } from './standard-error.ts';

/** Each transaction once, or each time to those who want to know more. */
export function tellSlotWaits(
  verbosity: 'quiet' | 'normal' | 'verbose',
): (open: OpenTransaction) => void {
  const told = new Set<number | string>();
  return (open) => {
    const id = idOf(open);
    if (verbosity === 'quiet' || (verbosity === 'normal' && told.has(id))) return;
    told.add(id);
    printNotice(waitText(open));
  };
}

const ON_A_STANDBY =
  'a standby makes a slot once its primary logs which transactions run: SELECT pg_log_standby_snapshot(); there does so at once';

const waitText = (open: OpenTransaction): string =>
  open.kind === 'standby'
    ? ON_A_STANDBY
    : `the slot can be made once this transaction is over: ${openText(open)}`;

function idOf(open: OpenTransaction): number | string {
  if (open.kind === 'session') return open.pid;
  return open.kind === 'prepared' ? `gid ${open.gid}` : open.kind;
}

function openText(open: Exclude<OpenTransaction, { kind: 'standby' }>): string {
  if (open.kind === 'prepared') {
    return `prepared transaction ${JSON.stringify(open.gid)}, for ${open.age} s`;
  }
  const why = open.waitsForStandby
    ? ' (its COMMIT waits for a synchronous standby: a slot that exists already could be one)'
    : '';
  return `PID ${open.pid}, for ${open.age} s: ${open.query}${why}`;
}
