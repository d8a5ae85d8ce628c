// When to let a busy socket fill before it is read again.

/** Two reads this close together belong to one burst, in ms. */
const LONGEST_GAP = 1;
/** A burst of so many reads will go on: shorter ones, such as a few commits, are read at once. */
const BURST_READS = 32;
/** A read this large was worth its while, in bytes. */
const LARGE_READ = 64 * 1024;

/**
 * How long a socket is left alone, in ms. On TCP the kernel joins what the server writes, and there
 * is room for much more than a millisecond of it. On a Unix socket each write stays apart and counts
 * for a kilobyte and more of the 208 KB that it holds: after some 170 the server must wait for us.
 */
export const TCP_SOCKET_FILLS = 1;
export const UNIX_SOCKET_FILLS = 0.4;

const nobodyWakes = new Int32Array(new SharedArrayBuffer(4));

/** Everything rests, for less time than a timer can be set to. */
export function sleep(ms: number): void {
  Atomics.wait(nobodyWakes, 0, 0, ms);
}

/**
 * A walsender writes each change to the socket by itself, and a reader that is as fast makes a read
 * of each: 10 µs of CPU time where handling the change takes less than one. So in a burst of small
 * reads the socket is left alone for a moment, in which some ten thousand bytes arrive, and the
 * server is not disturbed.
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
