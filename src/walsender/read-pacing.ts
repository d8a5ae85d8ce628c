// When to let a busy socket fill before it is read again.

/** Two reads this close together belong to one burst, in ms. */
const LONGEST_GAP = 1;
/** A burst of so many reads will go on: shorter ones, such as a few commits, are read at once. */
const BURST_READS = 32;
/** A read this large was worth its while, in bytes. */
const LARGE_READ = 64 * 1024;

/** How long a socket is left alone, in ms: the kernel has room for much more than comes in that. */
const FILLS_IN = 1;

const nobodyWakes = new Int32Array(new SharedArrayBuffer(4));

/** Everything rests, which for so short a time costs less than a timer and its turn. */
export function letSocketFill(): void {
  Atomics.wait(nobodyWakes, 0, 0, FILLS_IN);
}

/**
 * A walsender writes each change to the socket by itself, and a reader that is as fast makes a read
 * of each: 10 µs of CPU time where handling the change takes less than one. So in a burst of small
 * reads the socket is left alone for a moment, in which some ten thousand bytes arrive, and the
 * server is not disturbed. Not a Unix socket: each write stays apart there and counts for a kilobyte
 * and more of the 208 KB that it holds, so that after some 170 the server would wait for us.
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
