// When to send a standby status update: pure, the clock is passed in.

import type { Lsn } from '../lsn.ts';

/** A server that asks in a loop (a fast shutdown does) gets one answer in this many ms. */
const REPEATED_ANSWER_INTERVAL = 100;

/**
 * A reply request is answered at once if the position moved since the last status, else at most
 * every 100 ms. Besides that a status goes out every `interval` ms (0: only when asked).
 */
export class Feedback {
  readonly #interval: number;
  #lastSent = Number.NEGATIVE_INFINITY;
  #lastConfirmed: Lsn = -1n;
  #asked = false;

  constructor(interval: number) {
    this.#interval = interval;
  }

  /** The server asked for a reply. */
  asked(): void {
    this.#asked = true;
  }

  sent(now: number, confirmed: Lsn): void {
    this.#lastSent = now;
    this.#lastConfirmed = confirmed;
    this.#asked = false;
  }

  isDue(now: number, confirmed: Lsn): boolean {
    return now >= this.dueAt(confirmed);
  }

  /** When the next status is due: a time in ms, or Infinity if nobody waits for one. */
  dueAt(confirmed: Lsn): number {
    if (this.#asked && confirmed !== this.#lastConfirmed) return Number.NEGATIVE_INFINITY;
    const answer = this.#asked ? this.#lastSent + REPEATED_ANSWER_INTERVAL : Infinity;
    const timer = this.#interval === 0 ? Infinity : this.#lastSent + this.#interval;
    return Math.min(answer, timer);
  }
}
