// A stop in the middle of a wait, and waits that nobody stops.

import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { unlessAborted, unlessLate } from '../../src/tail/stopping.ts';

const never = new Promise<string>(() => {});

it('a stop before or in the middle of a wait ends it with nothing', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const waits = [unlessAborted(never, signal), unlessLate(never, signal, 1)];
  controller.abort();
  expect(await Promise.all(waits)).toEqual([null, undefined]);
  expect(await unlessAborted(never, signal)).toBeNull();
});

it('work that is done soon after a stop is not lost', async () => {
  const signal = AbortSignal.abort();
  expect(await unlessLate(Promise.resolve('done'), signal, 60_000)).toBe('done');
});

it('a wait leaves no listener behind, also if the work fails', async () => {
  const { signal } = new AbortController();
  for (let i = 0; i < 20; i++) {
    await unlessLate(Promise.resolve('done'), signal, 60_000);
    await unlessAborted(Promise.reject(new Error('lost')), signal).catch(() => {});
  }
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});
