// When a silence is looked into, and how often the same reason is told.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { RunQuery } from '../../src/catalog/catalog-connection.ts';
import { catalogNames } from '../../src/catalog/catalog-names.ts';
import { SilenceWatch } from '../../src/silence/silence-watch.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** In ms. */
const PATIENCE = 1000;

const hex = (text: string): string => Buffer.from(text).toString('hex');

/** A server whose other database is written to between any two looks. */
function busyServer(): RunQuery {
  let changes = 0;
  return async () => {
    const database = { name_hex: hex('stock'), is_ours: 'f', rollbacks: '0' };
    changes++;
    const server = { wal_end: '0/1000', decoded: '0/1000', sees_others: 't' };
    return [[server], [], [{ ...database, changes: String(changes) }], []];
  };
}

/** A tail that prints when it is told to, and the moments at which a silence was explained. */
function watchedTail() {
  const query = busyServer();
  let printed = 0;
  const told: number[] = [];
  const watch = new SilenceWatch({
    patience: PATIENCE,
    publications: [],
    catalog: { major: 18, names: catalogNames('UTF8') },
    walsender: 4711,
    isPrinted: () => true,
    withQuery: (work) => work(query),
    uptime: () => Date.now(),
    printed: () => printed,
    walEnd: () => BigInt(Date.now()),
    heardAt: () => Date.now(),
    isPaused: () => false,
    poll: () => {},
    onSilence: () => told.push(Date.now()),
  });
  watch.started();
  return { told, arrives: () => void printed++, [Symbol.dispose]: () => watch.close() };
}

const seconds = (count: number): Promise<unknown> => vi.advanceTimersByTimeAsync(count * 1000);

async function arriveFor(tail: { arrives(): void }, count: number): Promise<void> {
  for (let i = 0; i < 2 * count; i++) {
    tail.arrives();
    await seconds(0.5);
  }
}

it('a reason that stays is told again after twice as long each time', async () => {
  using tail = watchedTail();
  await seconds(40);
  const pauses = tail.told.slice(1).map((at, i) => at - tail.told[i]!);
  expect(pauses.slice(0, 4)).toEqual([2, 4, 8, 16].map((times) => times * PATIENCE));
});

it('each silence is explained, also for the same reason as the one before', async () => {
  using tail = watchedTail();
  for (let silences = 1; silences <= 5; silences++) {
    const before = tail.told.length;
    await seconds(3);
    expect(tail.told.length).toBeGreaterThan(before);
    await arriveFor(tail, 10);
  }
});

it('between the rows of a slow stream a reason is told now and then', async () => {
  using tail = watchedTail();
  for (let rows = 0; rows < 20; rows++) {
    await seconds(3);
    tail.arrives();
  }
  expect(tail.told.length).toBeGreaterThanOrEqual(5);
  expect(tail.told.length).toBeLessThanOrEqual(14);
});
