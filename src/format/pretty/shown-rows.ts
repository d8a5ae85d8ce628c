// Counts the shown rows of a transaction that is not committed yet, by subtransaction: each of them
// may still be rolled back.

/** Transactions may have millions of subtransactions: the oldest beyond these lose their number. */
const MOST_COUNTED = 20_000;

/** Whoever shows a row of a subtransaction adds it. */
export interface RowCount {
  rows: number;
}

/** Rows that do not stand. */
export interface RolledBack {
  /** Undefined: some were shown, too long ago to know how many. */
  readonly rows: number | undefined;
  readonly noun: Noun;
}

/** A truncate is no row. */
export type Noun = 'row' | 'change';

export class ShownRows {
  readonly #own: RowCount = { rows: 0 };
  readonly #bySubxid = new Map<number, RowCount>();
  /** Subtransactions up to this one have lost their number; 0: none has. */
  #forgottenUpTo = 0;
  #rollbacks = 0;
  #takenBack = 0;
  #lastRolledBack = 0;
  #isExact = true;
  noun: Noun = 'row';

  /** The count of a subtransaction, 0 being the transaction itself. Valid until the next call. */
  count(subxid: number): RowCount {
    if (subxid === 0) return this.#own;
    const known = this.#bySubxid.get(subxid);
    if (known !== undefined) return known;
    if (this.#bySubxid.size >= MOST_COUNTED) this.#forgetOldest();
    const count = { rows: 0 };
    this.#bySubxid.set(subxid, count);
    return count;
  }

  /** Takes the rows of one subtransaction out; null if nothing of it was shown. */
  rollBack(subxid: number): RolledBack | null {
    const count = this.#bySubxid.get(subxid);
    const isForgotten = this.#isForgotten(subxid);
    if (count === undefined && !isForgotten) return null;
    this.#bySubxid.delete(subxid);
    const rows = count?.rows ?? 0;
    this.#takenBack += rows;
    if (isForgotten) this.#isExact = false;
    if (rows > 0 || isForgotten) this.#rollbacks++;
    if (rows > 0) this.#lastRolledBack = subxid;
    return { rows: isForgotten ? undefined : rows, noun: this.noun };
  }

  /** Shown, and not rolled back; at most so many if not `isExact`. */
  get standing(): number {
    let rows = this.#own.rows;
    for (const count of this.#bySubxid.values()) rows += count.rows;
    return rows;
  }

  get takenBack(): number {
    return this.#takenBack;
  }

  /** Those that took rows back. */
  get rollbacks(): number {
    return this.#rollbacks;
  }

  /** The subtransaction of the last of them. */
  get lastRolledBack(): number {
    return this.#lastRolledBack;
  }

  get isExact(): boolean {
    return this.#isExact;
  }

  /** Half of them at once: a Map is slow in giving away its first entry again and again. */
  #forgetOldest(): void {
    let left = MOST_COUNTED / 2;
    for (const [subxid, { rows }] of this.#bySubxid) {
      if (left-- === 0) return;
      this.#own.rows += rows;
      this.#bySubxid.delete(subxid);
      if (!this.#isForgotten(subxid)) this.#forgottenUpTo = subxid;
    }
  }

  /** Later subtransactions have later xids, in the circle of 32 bits that xids go round. */
  #isForgotten(subxid: number): boolean {
    return this.#forgottenUpTo !== 0 && ((subxid - this.#forgottenUpTo) | 0) <= 0;
  }
}
