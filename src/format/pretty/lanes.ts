// The begin of each line of a streamed transaction: its xid in a colour of its own, so that blocks of
// several can be told apart however they alternate.

import type { Paint } from '../../terminal/theme.ts';
import { type RowCount, ShownRows } from './shown-rows.ts';

/** Not committed yet: all lines that begin so. */
export const IN_PROGRESS = '┊';

/** What stands before each line. */
export interface Gutter {
  readonly gutter: string;
  readonly width: number;
}

/** A subtransaction, 0 being the transaction itself, and the gutter of its lines. */
export interface Lane extends Gutter {
  readonly xid: number;
  readonly subxid: number;
  readonly count: RowCount;
}

/** A streamed transaction of which something was shown, until its end. */
export interface StreamedTransaction {
  readonly xid: number;
  readonly paint: Paint;
  readonly shown: ShownRows;
  /** It came from elsewhere: its clock is not this server's. */
  isForeign: boolean;
}

export class Lanes {
  readonly #paints: readonly Paint[];
  readonly #open = new Map<number, StreamedTransaction>();
  /** Signs line up over all open transactions: the widest pair of xids since one was open. */
  #width = 0;

  constructor(paints: readonly Paint[]) {
    this.#paints = paints;
  }

  has(xid: number): boolean {
    return this.#open.has(xid);
  }

  /** The transaction with that xid, new if nothing of it was shown yet. */
  transaction(xid: number): StreamedTransaction {
    const known = this.#open.get(xid);
    if (known !== undefined) return known;
    const opened = { xid, paint: this.#freePaint(xid), shown: new ShownRows(), isForeign: false };
    this.#open.set(xid, opened);
    return opened;
  }

  enter(xid: number, subxid: number): Lane {
    const transaction = this.transaction(xid);
    const count = transaction.shown.count(subxid);
    return { xid, subxid, ...this.gutter(transaction, subxid), count };
  }

  /** `┊ 745 `, `┊ 745/746 `, at least as wide as the one before. */
  gutter({ xid, paint }: StreamedTransaction, subxid: number): Gutter {
    const text = `${IN_PROGRESS} ${subxid === 0 ? xid : `${xid}/${subxid}`}`;
    this.#width = Math.max(this.#width, text.length + 1);
    return { gutter: paint(text) + ' '.repeat(this.#width - text.length), width: this.#width };
  }

  /** Forgets the transaction, which ended. */
  end(xid: number): StreamedTransaction {
    const ended = this.transaction(xid);
    this.#open.delete(xid);
    if (this.#open.size === 0) this.#width = 0;
    return ended;
  }

  clear(): void {
    this.#open.clear();
    this.#width = 0;
  }

  /** By its xid, or the next one that no other open transaction has. */
  #freePaint(xid: number): Paint {
    const taken = new Set([...this.#open.values()].map(({ paint }) => paint));
    const own = xid % this.#paints.length;
    const byPreference = [...this.#paints.slice(own), ...this.#paints.slice(0, own)];
    return byPreference.find((paint) => !taken.has(paint)) ?? byPreference[0]!;
  }
}
