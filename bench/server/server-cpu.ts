// The CPU time of a server's sessions that have ended: what decoding and sending cost it.

import { readFileSync } from 'node:fs';
import { until } from '../../test/support/until.ts';

/** Linux counts these in hundredths of a second on every machine. */
const TICKS_PER_SECOND = 100;

/** Watches the children of a postmaster; only Linux tells. */
export class SessionCpu {
  readonly #postmaster: number;
  readonly #before: ReadonlySet<string>;
  readonly #ticks: number;

  constructor(postmaster: number) {
    this.#postmaster = postmaster;
    this.#before = new Set(children(postmaster));
    this.#ticks = endedTicks(postmaster);
  }

  /** Seconds used by the sessions that began since, once the last of them has ended. */
  async seconds(): Promise<number> {
    const remain = () => children(this.#postmaster).some((pid) => !this.#before.has(pid));
    await until(() => !remain(), { what: 'the sessions to end' });
    return (endedTicks(this.#postmaster) - this.#ticks) / TICKS_PER_SECOND;
  }
}

function children(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
}

/** cutime and cstime: of children that were waited for. */
function endedTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // the name before them, in parentheses, may hold blanks
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[13]) + Number(fields[14]);
}
