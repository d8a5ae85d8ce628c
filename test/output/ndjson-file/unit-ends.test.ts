// The ledger of boundaries, the mapping of offsets, and the row of bytes that waits.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockQueue } from '../../../src/output/ndjson-file/block-queue.ts';
import { FilePlace } from '../../../src/output/ndjson-file/file-place.ts';
import { UnitEnds } from '../../../src/output/ndjson-file/unit-ends.ts';

const newEnds = (): UnitEnds => new UnitEnds({ offset: 0, lsn: 100n, fileLsn: 100n });

describe('the ends of units', () => {
  it('count once they are written', () => {
    const ends = newEnds();
    ends.ended(200n, 10);
    ends.ended(300n, 20);
    ends.wroteTo(15);
    expect(ends.written).toEqual({ offset: 10, lsn: 200n, fileLsn: 200n });
    expect(ends.latest.offset).toBe(20);
    expect(ends.nextFrom(11)).toBe(20);
    expect(ends.nextFrom(21)).toBeUndefined();
    ends.wroteTo(20);
    expect(ends.written).toBe(ends.latest);
  });

  it('without bytes move the position, not what the file says', () => {
    const ends = newEnds();
    ends.ended(200n, 0);
    expect(ends.written).toEqual({ offset: 0, lsn: 200n, fileLsn: 100n });
    ends.ended(300n, 10);
    ends.ended(400n, 10);
    ends.wroteTo(10);
    expect(ends.written).toEqual({ offset: 10, lsn: 400n, fileLsn: 300n });
  });

  it('are none where a late prepare ends', () => {
    const ends = newEnds();
    ends.ended(200n, 10);
    ends.ended(150n, 20);
    expect(ends.latest).toMatchObject({ offset: 10, lsn: 200n });
    ends.ended(300n, 25);
    expect(ends.latest).toMatchObject({ offset: 25, lsn: 300n });
  });

  it('go on behind what was cut out', () => {
    const ends = newEnds();
    ends.ended(200n, 10);
    ends.wroteTo(10);
    ends.cutTo(50);
    expect(ends.written.offset).toBe(10);
    ends.wroteTo(50);
    expect(ends.written).toEqual({ offset: 50, lsn: 200n, fileLsn: 200n });
  });
});

describe('the place in the file', () => {
  it('goes on over headers and cuts while the stream only grows', () => {
    const place = new FilePlace(1000, 104);
    expect([place.of(1000), place.of(1250)]).toEqual([104, 354]);
    place.goesOn(1500, place.of(1250)); // 250 bytes were cut out
    expect([place.of(1500), place.of(1600)]).toEqual([354, 454]);
    place.goesOn(1600, 104); // another file, behind its header
    expect(place.of(1601)).toBe(105);
    expect(place.begin).toBe(1600);
    expect(() => place.of(1599)).toThrow(RangeError);
  });
});

describe('the row of blocks', () => {
  it('gives all bytes back in order, whatever is taken at once', () => {
    const blocks = fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 20 });
    const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(blocks, sizes, fc.nat({ max: 600 }), (blocks, sizes, limit) => {
        const queue = new BlockQueue();
        let start = 0;
        for (const block of blocks) {
          queue.push(start, Buffer.from(block));
          start += block.length;
        }
        const whole = Buffer.concat(blocks);
        queue.dropFrom(limit);
        expect(queue.length).toBe(Math.min(limit, whole.length));
        const taken: Buffer[] = [];
        for (let i = 0; queue.length > 0; i++) {
          const part = queue.take(Number.POSITIVE_INFINITY, sizes[i % sizes.length]!);
          expect(part.length).toBeLessThanOrEqual(sizes[i % sizes.length]!);
          taken.push(part);
        }
        expect(Buffer.concat(taken).equals(whole.subarray(0, limit))).toBe(true);
      }),
    );
  });

  it('takes nothing from behind a limit', () => {
    const queue = new BlockQueue();
    queue.push(100, Buffer.from('abc'));
    queue.push(103, Buffer.from('def'));
    expect(queue.take(104, 50).toString()).toBe('abcd');
    expect(queue.take(104, 50).length).toBe(0);
    expect(queue.length).toBe(2);
  });
});
