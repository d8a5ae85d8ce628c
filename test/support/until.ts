// Waits for a condition by asking again, with a deadline, instead of sleeping for a guessed time.

import { setTimeout as delay } from 'node:timers/promises';

export interface UntilOptions {
  /** Milliseconds until it is an error. */
  readonly timeout?: number;
  /** Milliseconds between two questions. */
  readonly interval?: number;
  /** What was waited for, for the error message. */
  readonly what?: string;
}

type Falsy = false | null | undefined | 0 | '';

/** The first truthy answer of `condition`; an error of its own is passed on at once. */
export async function until<T>(
  condition: () => T | Falsy | Promise<T | Falsy>,
  { timeout = 30_000, interval = 10, what = condition.toString() }: UntilOptions = {},
): Promise<T> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${timeout} ms in vain for ${what}`);
    await delay(interval);
  }
}
