// When to let a busy socket fill before it is read again.

/** Two reads this close together belong to one burst, in ms. */
const LONGEST_GAP = 1;
/** A burst of so many reads will go on: shorter ones, such as a few commits, are read at once. */
const BURST_READS = 32;
/** A read this large was worth its while, in bytes. */
const LARGE_READ = 64 * 1024;

/** How long the socket is left alone in a burst, in ms: timers can do no less. */
export const FILLING_TIME = 1;

/**
 * A walsender writes each change to the socket by itself, and a reader that is as fast makes a read
 * of each: 10 µs of CPU time where handling the change takes less than one. So in a burst of small
 * reads the socket is left alone for a millisecond at a time, in which some ten thousand bytes
 * arrive. With 500,000 rows in one transaction that took the CPU time of pgtail from 2.0 s to what
 * bench/README.md says, and the server sends faster undisturbed.
 */
export class ReadPacing {
  #reads = 0;
  #readyAt = Number.NEGATIVE_INFINITY;

  /** So many bytes were read now (in ms): whether to wait before the next read. */
  shouldWait(bytes: number, now: number): boolean {
    if (now - this.#readyAt > LONGEST_GAP) this.#reads = 0;
    this.#readyAt = now;
    if (bytes >= LARGE_READ) return false;
    this.#reads++;
    return this.#reads > BURST_READS;
  }

  /** Reading goes on after a wait. */
  waited(now: number): void {
    this.#readyAt = now;
  }
}
