// When to send a standby status update: pure, the clock is passed in.

import type { Lsn } from '../lsn.ts';

/** A server that asks in a loop (a fast shutdown does) gets one answer in this many ms. */
const REPEATED_ANSWER_INTERVAL = 100;

/** A position that moved is told soon: a kill must not repeat it all. */
const MOVED_INTERVAL = 50;

/**
 * A reply request is answered at once if the position moved since the last status, else at most
 * every 100 ms. Besides that a status goes out within 50 ms
 * when the position has moved, and every `interval` ms (0: both only when asked). While
 * nothing is read from the server it cannot ask, and would end the connection at its timeout: then
 * a status goes out four times in that time. Where COMMITs wait for us a position that moved is told
 * at once, whatever the interval.
 */
export class Feedback {
  /** Nothing is being read from the server. */
  deaf = false;
  /** COMMITs wait for us: the server takes us for a synchronous standby. */
  commitsWait: boolean;
  readonly #interval: number;
  readonly #deafInterval: number;
  #lastSent = Number.NEGATIVE_INFINITY;
  #lastConfirmed: Lsn = -1n;
  #asked = false;

  /** Both in ms; `serverTimeout` is wal_sender_timeout, 0 if there is none. */
  constructor(interval: number, serverTimeout: number, commitsWait = false) {
    this.commitsWait = commitsWait;
    this.#interval = interval === 0 ? Number.POSITIVE_INFINITY : interval;
    const quarter = serverTimeout === 0 ? Number.POSITIVE_INFINITY : serverTimeout / 4;
    this.#deafInterval = Math.min(this.#interval, quarter);
  }

  /** The server asked for a reply. */
  asked(): void {
    this.#asked = true;
  }

  get isAsked(): boolean {
    return this.#asked;
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
    const moved = confirmed !== this.#lastConfirmed;
    if (moved && (this.#asked || this.commitsWait)) return Number.NEGATIVE_INFINITY;
    const wait = this.#wait(moved);
    return wait === Number.POSITIVE_INFINITY ? wait : this.#lastSent + wait;
  }

  #wait(moved: boolean): number {
    const interval = this.deaf ? this.#deafInterval : this.#interval;
    if (this.#asked) return Math.min(REPEATED_ANSWER_INTERVAL, interval);
    const toldSoon = moved && this.#interval !== Number.POSITIVE_INFINITY;
    return toldSoon ? Math.min(MOVED_INTERVAL, interval) : interval;
  }
}
