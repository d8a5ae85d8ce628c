// How long to wait before the next attempt to connect: pure, chance is passed in.

/** In ms: a server that restarts quickly is found soon, one that is away is not asked too often. */
const FIRST = 200;
const LONGEST = 10_000;

/**
 * Milliseconds before attempt 1, 2, …: doubled each time up to ten seconds, and a random half of it
 * left out, so that many clients do not come at the same moment. `random` gives numbers from 0 to 1.
 */
export function backoff(attempt: number, random: () => number): number {
  const full = Math.min(FIRST * 2 ** (attempt - 1), LONGEST);
  return full * (0.5 + random() / 2);
}
