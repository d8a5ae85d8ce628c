// What the user is told while a slot waits to be made.

import type { OpenTransaction } from '../catalog/slot-wait.ts';
import { printNotice } from './standard-error.ts';

/** Each transaction once, or each time to those who want to know more. */
export function tellSlotWaits(
  verbosity: 'quiet' | 'normal' | 'verbose',
): (open: OpenTransaction) => void {
  const told = new Set<number | string>();
  return (open) => {
    const id = open.kind === 'session' ? open.pid : open.gid;
    if (verbosity === 'quiet' || (verbosity === 'normal' && told.has(id))) return;
    told.add(id);
    printNotice(`the slot can be made once this transaction is over: ${openText(open)}`);
  };
}

function openText(open: OpenTransaction): string {
  if (open.kind === 'prepared') {
    return `prepared transaction ${JSON.stringify(open.gid)}, for ${open.age} s`;
  }
  const why = open.waitsForStandby
    ? ' (its COMMIT waits for a synchronous standby: a slot that exists already could be one)'
    : '';
  return `PID ${open.pid}, for ${open.age} s: ${open.query}${why}`;
}
