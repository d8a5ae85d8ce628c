// A question that a network may have swallowed.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { isTransient } from '../../src/errors.ts';
import { answered } from '../../src/tail/streaming.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('an answer is passed on, and nothing waits any longer', async () => {
  expect(await answered(Promise.resolve(1))).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

it('no answer for half a minute is a loss that another try may mend', async () => {
  const failure = answered(new Promise(() => {})).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1000);
  const error = await failure;
  expect(isTransient(error)).toBe(true);
  expect(error).toMatchObject({ exitCode: 1, message: 'the server does not answer' });
});
