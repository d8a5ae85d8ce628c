// Limits of time that a busy machine does not break.

import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';

const ATTEMPTS = 3;
/** What hangs, hangs for much longer than this many times its limit. */
const PATIENCE = 5;
/** How long Node takes to start and end on a machine with nothing else to do, in ms: generously. */
const NODE_START = 80;

/** How many times slower everything is now than on an idle machine; at least 1. */
function slowness(): number {
  const begun = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return Math.max(1, (performance.now() - begun) / NODE_START);
}

/**
 * Runs it again if it took longer than `limit` ms: another program may have had the processor. The
 * limit is that of an idle machine.
 */
export async function expectWithin<T>(limit: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const before = slowness();
    const begun = performance.now();
    const result = await work();
    const took = performance.now() - begun;
    const allowed = limit * Math.max(before, slowness());
    if (took < allowed) return result;
    if (attempt === ATTEMPTS) expect(took).toBeLessThan(allowed);
  }
}

/** For what cannot be run again: far above `limit` ms it is not slow, it hangs. */
export function expectNoHang(took: number, limit: number): void {
  expect(took).toBeLessThan(limit * PATIENCE * slowness());
}
