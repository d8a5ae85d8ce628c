// Remembers what was shown of prepared transactions until it is decided, perhaps weeks later, whether
// it stands.

import type { Prepare } from '../../pgoutput/messages.ts';
import type { Noun, ShownRows } from './shown-rows.ts';

/** More than servers allow at a time; for those whose end is not in the stream. */
const MOST_REMEMBERED = 10_000;

export interface PreparedTransaction {
  readonly xid: number;
  readonly rows: number;
  /** Fewer may stand: see ShownRows. */
  readonly isExact: boolean;
  readonly noun: Noun;
  /** It came from elsewhere: its clock is not this server's. */
  readonly isForeign: boolean;
}

export class PreparedTransactions {
  readonly #byGid = new Map<string, PreparedTransaction>();

  add({ gid, xid }: Prepare, shown: ShownRows, isForeign: boolean): void {
    const { standing: rows, isExact, noun } = shown;
    this.#byGid.delete(gid);
    this.#byGid.set(gid, { xid, rows, isExact, noun, isForeign });
    if (this.#byGid.size <= MOST_REMEMBERED) return;
    for (const oldest of this.#byGid.keys()) {
      this.#byGid.delete(oldest);
      return;
    }
  }

  /** Undefined if nothing of it was shown. The same gid may have been another transaction's. */
  take(gid: string, xid: number): PreparedTransaction | undefined {
    const prepared = this.#byGid.get(gid);
    this.#byGid.delete(gid);
    return prepared?.xid === xid ? prepared : undefined;
  }
}
