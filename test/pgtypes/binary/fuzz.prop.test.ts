// Whatever the bytes: a value is text or a ProtocolViolation, soon, and nothing is read beyond it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtocolViolation } from '../../../src/errors.ts';
import type { BinaryTypeLookup } from '../../../src/pgtypes/binary/type-lookup.ts';
import { attributesOf, bytesOf, converterOf, textBytes, typeIdOf } from './decoded.ts';
import { SAMPLES } from './samples.ts';

/** A composite of everything, so that it may stand within itself and in arrays. */
const EVERYTHING = 16_400;
const TYPES: BinaryTypeLookup = {
  serverMajor: 18,
  shapeOf: (typeId) =>
    typeId === EVERYTHING
      ? { kind: 'composite', attributes: attributesOf(25, 1007, 3904) }
      : undefined,
};
const EVERYTHING_SAMPLE = {
  type: 'composite',
  hex: `00000003 00000019 00000003 612262
        000003ef 0000001c 00000001 00000000 00000017 00000001 00000001 00000004 00000007
        00000f40 00000009 08 00000004 00000005`.replaceAll(/\s/g, ''),
};

/** The text, or the violation; another error fails the test. */
function outcome(typeId: number, value: Buffer): string {
  try {
    return textBytes(converterOf(typeId, TYPES), value).toString('latin1');
  } catch (error) {
    if (error instanceof ProtocolViolation) return error.message;
    throw error;
  }
}

const idOf = (type: string): number => (type === 'composite' ? EVERYTHING : typeIdOf(type));

const samples = [EVERYTHING_SAMPLE, ...SAMPLES].map(({ type, hex }) => ({
  typeId: idOf(type),
  value: bytesOf(hex),
}));
const typeIds = [...new Set(samples.map(({ typeId }) => typeId))];

describe('any bytes', () => {
  it('are text or a violation for every type', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...typeIds),
        fc.uint8Array({ maxLength: 64 }),
        (typeId, bytes) => {
          outcome(typeId, Buffer.from(bytes));
        },
      ),
      { numRuns: 8_000 },
    );
  });

  it('are text or a violation when they look much like a value', () => {
    const sample = fc.constantFrom(...samples);
    const change = fc.tuple(fc.nat({ max: 200 }), fc.nat({ max: 7 }));
    fc.assert(
      fc.property(
        sample,
        fc.array(change, { maxLength: 3 }),
        fc.nat(60),
        (sample, changes, cut) => {
          const value = Buffer.from(sample.value);
          for (const [byte, bit] of changes) value[byte % value.length]! ^= 1 << bit;
          const kept = value.subarray(0, value.length - (cut % 4 === 0 ? cut : 0));
          outcome(sample.typeId, kept);
        },
      ),
      { numRuns: 8_000 },
    );
  });

  it('of a value cut short, or with a byte more, never give its text', () => {
    for (const { typeId, value } of samples) {
      const whole = outcome(typeId, value);
      for (let length = 0; length < value.length; length++) {
        expect(outcome(typeId, value.subarray(0, length))).not.toBe(whole);
      }
      expect(outcome(typeId, Buffer.concat([value, Buffer.from([7])]))).not.toBe(whole);
    }
  });
});
