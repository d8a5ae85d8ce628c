// A transaction that is kept comes out as it went in, and leaves nothing in its folder.

import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PgtailError } from '../../src/errors.ts';
import { TransactionSpool } from '../../src/spool/transaction-spool.ts';
import { temporaryFolder } from '../support/pty.ts';

interface Kept {
  readonly bytes: Buffer;
  readonly high: number;
  readonly low: number;
}

function kept(spool: TransactionSpool): Kept[] {
  const out: Kept[] = [];
  // each one is borrowed: copied before the next is read
  for (const { bytes, walStart } of spool.messages()) {
    out.push({ bytes: Buffer.from(bytes), high: walStart.high, low: walStart.low });
  }
  return out;
}

const word = fc.nat({ max: 0xffff_ffff });
const aMessage = fc.record({
  // as long as what a block holds, too
  length: fc.oneof(fc.nat({ max: 200 }), fc.nat({ max: 200_000 })),
  fill: fc.nat({ max: 255 }),
  high: word,
  low: word,
});

describe('a kept transaction', () => {
  it('comes out message by message as it was appended', () => {
    using folder = temporaryFolder();
    fc.assert(
      fc.property(fc.array(aMessage, { maxLength: 30 }), (sizes) => {
        const messages = sizes.map(({ length, fill, high, low }) => {
          return { bytes: Buffer.alloc(length, fill), high, low };
        });
        const spool = new TransactionSpool(folder.path);
        for (const { bytes, ...walStart } of messages) spool.append(bytes, walStart);
        const out = kept(spool);
        spool.close();
        expect(out.length).toBe(messages.length);
        for (const [i, { bytes, high, low }] of messages.entries()) {
          expect(out[i]!.bytes.equals(bytes)).toBe(true);
          expect([out[i]!.high, out[i]!.low]).toEqual([high, low]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has no name in its folder while it is kept, nor later', () => {
    using folder = temporaryFolder();
    const spool = new TransactionSpool(folder.path);
    for (let i = 0; i < 100; i++) spool.append(Buffer.alloc(10_000, i), { high: 0, low: i });
    expect(readdirSync(folder.path)).toEqual([]);
    expect(kept(spool)).toHaveLength(100);
    spool.close();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('needs no file while it is small, and says which folder it cannot use once it is not', () => {
    const spool = new TransactionSpool('/nonexistent');
    spool.append(Buffer.from('a short one'), { high: 0, low: 1 });
    expect(kept(spool)).toHaveLength(1);
    const large = (): void => spool.append(Buffer.alloc(100_000), { high: 0, low: 2 });
    expect(large).toThrow(PgtailError);
    expect(large).toThrow(/cannot keep a transaction in \/nonexistent: ENOENT/);
  });
});
