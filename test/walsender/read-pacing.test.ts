// When a busy socket is left to fill.

import { describe, expect, it } from 'vitest';
import { ReadPacing } from '../../src/walsender/read-pacing.ts';

/** Whether the last of so many reads of a size, so many ms apart, is one to wait after. */
function waitsAfter(reads: number, bytes: number, apart: number): boolean {
  const pacing = new ReadPacing();
  let waits = false;
  for (let i = 0; i < reads; i++) waits = pacing.shouldWait(bytes, i * apart);
  return waits;
}

describe('reading', () => {
  it('waits in a long burst of small reads', () => {
    expect(waitsAfter(100, 200, 0.05)).toBe(true);
  });

  it('never waits after the few reads of a transaction, nor on a server that writes now and then', () => {
    expect(waitsAfter(20, 200, 0.05)).toBe(false);
    expect(waitsAfter(1000, 200, 5)).toBe(false);
  });

  it('does not wait after large reads, which a wait would not make fewer', () => {
    expect(waitsAfter(1000, 200_000, 0.05)).toBe(false);
  });

  it('goes on waiting after a wait, which is no pause in the burst', () => {
    const pacing = new ReadPacing();
    for (let i = 0; i < 100; i++) pacing.shouldWait(200, i * 0.05);
    pacing.waited(6.5);
    expect(pacing.shouldWait(15_000, 6.6)).toBe(true);
    pacing.waited(7.8);
    expect(pacing.shouldWait(200, 9.9)).toBe(false);
  });
});
