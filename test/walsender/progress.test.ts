// Which position may be acknowledged, step by step.

import { describe, expect, it } from 'vitest';
import { Progress } from '../../src/walsender/progress.ts';

describe('the ledger of positions', () => {
  it('confirms a transaction at its exact end, once all its bytes are written', () => {
    const progress = new Progress();
    progress.unitOpened();
    progress.unitEnded(0x1030n, 200);
    expect(progress.written(199)).toBe(false);
    expect(progress.confirmed).toBe(0n);
    expect(progress.written(200)).toBe(true);
    expect(progress.confirmed).toBe(0x1030n);
  });

  it('confirms nothing of a transaction whose commit has not come', () => {
    const progress = new Progress();
    progress.unitEnded(0x1030n, 100);
    progress.unitOpened();
    progress.written(500);
    expect(progress.confirmed).toBe(0x1030n);
    expect(progress.halfReceived).toBe(true);
  });

  it('confirms a keepalive at once when nothing is unwritten', () => {
    const progress = new Progress();
    progress.keepalive(0x2000n, 0);
    progress.written(0);
    expect(progress.confirmed).toBe(0x2000n);
  });

  it('holds a keepalive back until what came before it is written', () => {
    const progress = new Progress();
    progress.unitEnded(0x1030n, 100);
    progress.keepalive(0x2000n, 100);
    progress.written(99);
    expect(progress).toMatchObject({ confirmed: 0n, received: 0x2000n, unwritten: true });
    progress.written(100);
    expect(progress).toMatchObject({ confirmed: 0x2000n, unwritten: false });
  });

  it('never takes a keepalive for an end while a transaction is half received', () => {
    const progress = new Progress();
    progress.unitOpened();
    progress.keepalive(0x2000n, 50);
    progress.written(50);
    expect(progress).toMatchObject({ confirmed: 0n, received: 0x2000n });
  });

  it('is not held back by a streamed transaction between its blocks', () => {
    const progress = new Progress();
    progress.unitOpened();
    progress.unitSetAside();
    progress.keepalive(0x2000n, 80);
    progress.written(80);
    expect(progress.confirmed).toBe(0x2000n);
  });

  it('never goes back, whatever the server says', () => {
    const progress = new Progress();
    progress.keepalive(0x2000n, 0);
    progress.written(0);
    progress.unitEnded(0x1030n, 100); // a late Prepare may end below what was confirmed
    progress.keepalive(0x1000n, 100);
    expect(progress.written(100)).toBe(false);
    expect(progress).toMatchObject({ confirmed: 0x2000n, received: 0x2000n });
  });

  it('forgets what it has confirmed, also with a hundred thousand units waiting', () => {
    const progress = new Progress();
    const units = 100_000;
    for (let unit = 1; unit <= units; unit++) progress.unitEnded(BigInt(unit * 8), unit);
    for (let unit = 1; unit <= units; unit += 7) {
      progress.written(unit);
      expect(progress.confirmed).toBe(BigInt(unit * 8));
    }
  });
});
