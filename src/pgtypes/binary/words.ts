// Big-endian integers out of a value whose length was checked before.

export const uint16At = (source: Buffer, at: number): number =>
  (source[at]! << 8) | source[at + 1]!;

export const int16At = (source: Buffer, at: number): number => (uint16At(source, at) << 16) >> 16;

export const int32At = (source: Buffer, at: number): number =>
  (source[at]! << 24) | (source[at + 1]! << 16) | (source[at + 2]! << 8) | source[at + 3]!;

export const uint32At = (source: Buffer, at: number): number => int32At(source, at) >>> 0;

// A 64-bit integer is high · 2^32 + low, with low unsigned. Divided by a million it fits a Number
// with room to spare, so that none of what is done with it needs a BigInt.

export const TWO_POW_32 = 0x1_0000_0000;
const MILLION = 1_000_000;

/** Up to this the quotient's fraction is exact enough for one division: microseconds of 71 years. */
const SMALL_HIGH = 0x8_0000;

/** Rounded down, also below zero. */
export function millions(high: number, low: number): number {
  if (high < SMALL_HIGH && high >= -SMALL_HIGH) {
    return Math.floor((high * TWO_POW_32 + low) / MILLION);
  }
  const highMillions = Math.floor(high / MILLION);
  const rest = (high - highMillions * MILLION) * TWO_POW_32 + low;
  return highMillions * TWO_POW_32 + Math.floor(rest / MILLION);
}

/** What `millions` leaves: from 0 to 999,999. */
export function belowMillion(high: number, low: number): number {
  if (high < SMALL_HIGH && high >= -SMALL_HIGH) {
    const value = high * TWO_POW_32 + low;
    return value - Math.floor(value / MILLION) * MILLION;
  }
  const highMillions = Math.floor(high / MILLION);
  const rest = (high - highMillions * MILLION) * TWO_POW_32 + low;
  return rest - Math.floor(rest / MILLION) * MILLION;
}
