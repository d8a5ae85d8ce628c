// The ledger of what may be acknowledged: pure, and the only place that decides a flush position.
// https://www.postgresql.org/docs/current/protocol-replication.html (standby status update)

import { INVALID_LSN, type Lsn } from '../lsn.ts';

interface Entry {
  readonly lsn: Lsn;
  /** Once the output has everything before this offset, `lsn` may be confirmed. */
  readonly offset: number;
}

/**
 * Units (transactions, prepared ones and their ends, non-transactional messages) are confirmed at
 * exactly their end, after their bytes are safe. A keepalive's position counts as an empty unit,
 * but only while nothing is half received. Positions never go back, nor beyond what was received.
 */
export class Progress {
  #received: Lsn = INVALID_LSN;
  #confirmed: Lsn = INVALID_LSN;
  #halfReceived = false;
  #entries: Entry[] = [];
  /** Entries before this index are confirmed; the array is cut now and then, not each time. */
  #next = 0;

  /** Everything before this was received. */
  get received(): Lsn {
    return this.#received;
  }

  /** Everything before this is safe in the output: the flush position to report. */
  get confirmed(): Lsn {
    return this.#confirmed;
  }

  /** A unit has begun and not ended: the stream stands inside it. */
  get halfReceived(): boolean {
    return this.#halfReceived;
  }

  /** Something was received that the output does not have yet. */
  get unwritten(): boolean {
    return this.#next < this.#entries.length;
  }

  unitOpened(): void {
    this.#halfReceived = true;
  }

  /** A block of a streamed transaction ended: nothing is confirmed, it will be sent again whole. */
  unitSetAside(): void {
    this.#halfReceived = false;
  }

  /** A unit ended at `lsn`; its bytes are those before `offset` in the output. */
  unitEnded(lsn: Lsn, offset: number): void {
    this.#halfReceived = false;
    this.#add(lsn, offset);
  }

  /** The server's WAL ends at `walEnd`, and it has sent all that it had to send up to there. */
  keepalive(walEnd: Lsn, offset: number): void {
    this.#receive(walEnd);
    if (!this.#halfReceived) this.#add(walEnd, offset);
  }

  /** The output has everything before `offset` for good. Returns whether `confirmed` moved. */
  written(offset: number): boolean {
    const before = this.#confirmed;
    const entries = this.#entries;
    while (this.#next < entries.length && entries[this.#next]!.offset <= offset) {
      const { lsn } = entries[this.#next++]!;
      if (lsn > this.#confirmed) this.#confirmed = lsn;
    }
    if (this.#next === entries.length || this.#next > 10_000) {
      this.#entries = entries.slice(this.#next);
      this.#next = 0;
    }
    return this.#confirmed !== before;
  }

  #add(lsn: Lsn, offset: number): void {
    this.#receive(lsn);
    const last = this.#entries.at(-1);
    // an end without bytes of its own (a keepalive, an empty transaction) joins the one before it
    if (last !== undefined && last.offset === offset && this.unwritten) {
      if (lsn > last.lsn) this.#entries[this.#entries.length - 1] = { lsn, offset };
      return;
    }
    this.#entries.push({ lsn, offset });
  }

  #receive(lsn: Lsn): void {
    if (lsn > this.#received) this.#received = lsn;
  }
}
