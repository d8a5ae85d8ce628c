// The shortest decimal digits within a float's rounding interval, in the form `1.5e+300`.
// The server leaves out the interval's bounds, where JavaScript includes those that round to even.

const FLOAT4 = { mantissaBits: 23, smallestExponent: -149, smallestNormal: 2 ** -126 } as const;
const FLOAT8 = { mantissaBits: 52, smallestExponent: -1074, smallestNormal: 2 ** -1022 } as const;

type FloatFormat = typeof FLOAT4 | typeof FLOAT8;

// A bound has so few digits only between these; elsewhere it needs more than 17.
const SHORT_BOUNDS_FROM = 2 ** 52;
const SHORT_BOUNDS_TO = 2 ** 136;

/** Of a finite float8 above zero. */
export function shortestFloat8(value: number): string {
  const digits = value.toExponential();
  if (value < SHORT_BOUNDS_FROM || value > SHORT_BOUNDS_TO) return digits;
  const interval = roundingInterval(value, FLOAT8);
  return isWithin(digits, interval) ? digits : shortestWithin(value, interval);
}

const FLOAT4_SAFE_DIGITS = 6;
const FLOAT4_MOST_DIGITS = 9;

/** Of a finite float4 above zero. */
export function shortestFloat4(value: number): string {
  const interval = roundingInterval(value, FLOAT4);
  if (value < FLOAT4.smallestNormal || interval.isPowerOfTwo) {
    return shortestWithin(value, interval);
  }
  // No two numbers of up to six digits give the same float4: a shorter one is found by six.
  for (let count = FLOAT4_SAFE_DIGITS; count < FLOAT4_MOST_DIGITS; count++) {
    const digits = value.toExponential(count - 1);
    if (isWithin(digits, interval)) return withoutLastZeros(digits);
  }
  return value.toExponential(FLOAT4_MOST_DIGITS - 1);
}

/** All numbers that round to a value, without the bounds; each bound is times · 2^exponent. */
interface RoundingInterval {
  readonly low: number;
  readonly high: number;
  readonly lowTimes: bigint;
  readonly valueTimes: bigint;
  readonly highTimes: bigint;
  readonly exponent: number;
  readonly isPowerOfTwo: boolean;
}
