// Any order of receiving and writing, against a model that keeps everything for ever.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Progress } from '../../src/walsender/progress.ts';

/** What happened, as plain as can be: each end with the offset its bytes reach to. */
class Model {
  offset = 0;
  written = 0;
  received = 0n;
  open = false;
  readonly ends: { lsn: bigint; offset: number }[] = [];

  end(lsn: bigint): void {
    this.open = false;
    this.ends.push({ lsn, offset: this.offset });
    this.receive(lsn);
  }

  receive(lsn: bigint): void {
    if (lsn > this.received) this.received = lsn;
  }

  /** The furthest end among those whose bytes are all written. */
  confirmed(): bigint {
    let furthest = 0n;
    for (const { lsn, offset } of this.ends) {
      if (offset <= this.written && lsn > furthest) furthest = lsn;
    }
    return furthest;
  }
}

type Step = (progress: Progress, model: Model) => void;

const lsn = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n });
const near = fc.bigInt({ min: 1n, max: 64n });

const open: Step = (progress, model) => {
  model.open = true;
  progress.unitOpened();
};
const setAside: Step = (progress, model) => {
  model.open = false;
  progress.unitSetAside();
};
const format = fc.nat({ max: 20 }).map(
  (bytes): Step =>
    (_progress, model) => {
      model.offset += bytes;
    },
);
const end = fc.oneof(lsn, near).map(
  (at): Step =>
    (progress, model) => {
      model.end(at);
      progress.unitEnded(at, model.offset);
    },
);
const keepalive = fc.oneof(lsn, near).map(
  (at): Step =>
    (progress, model) => {
      model.receive(at);
      if (!model.open) model.end(at);
      progress.keepalive(at, model.offset);
    },
);
/** The output takes a part of what is there. */
const write = fc.integer({ min: 1, max: 4 }).map(
  (part): Step =>
    (progress, model) => {
      model.written += Math.ceil((model.offset - model.written) / part);
      const before = progress.confirmed;
      expect(progress.written(model.written)).toBe(progress.confirmed !== before);
    },
);

const steps = fc.array(
  fc.oneof(fc.constantFrom(open, setAside), format, format, end, end, keepalive, write, write),
  { maxLength: 80 },
);

describe('the ledger of positions', () => {
  it('confirms what the model confirms, after each step', () => {
    fc.assert(
      fc.property(steps, (todo) => {
        const progress = new Progress();
        const model = new Model();
        let lastConfirmed = 0n;
        let settled = 0n; // as of the last write: only writing moves the position
        for (const step of todo) {
          step(progress, model);
          if (progress.confirmed !== lastConfirmed) settled = model.confirmed();
          expect(progress.confirmed).toBe(settled);
          expect(progress.confirmed).toBeGreaterThanOrEqual(lastConfirmed);
          expect(progress.confirmed).toBeLessThanOrEqual(progress.received);
          expect(progress.received).toBe(model.received);
          expect(progress.halfReceived).toBe(model.open);
          lastConfirmed = progress.confirmed;
        }
      }),
      { numRuns: 500 },
    );
  });

  it('has confirmed everything that ended once all is written', () => {
    fc.assert(
      fc.property(steps, (todo) => {
        const progress = new Progress();
        const model = new Model();
        for (const step of todo) step(progress, model);
        model.written = model.offset;
        progress.written(model.offset);
        expect(progress.confirmed).toBe(model.confirmed());
        expect(progress.unwritten).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
