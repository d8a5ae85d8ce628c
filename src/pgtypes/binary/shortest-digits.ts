// The shortest decimal digits within a float's rounding interval, in the form `1.5e+300`.
// The server leaves out the interval's bounds, where JavaScript takes those that round to even.

interface FloatFormat {
  readonly mantissaBits: number;
  readonly smallestExponent: number;
  readonly smallestNormal: number;
}

const FLOAT4: FloatFormat = {
  mantissaBits: 23,
  smallestExponent: -149,
  smallestNormal: 2 ** -126,
};
const FLOAT8: FloatFormat = {
  mantissaBits: 52,
  smallestExponent: -1074,
  smallestNormal: 2 ** -1022,
};

// A bound of a float8 has few enough digits to be taken for it only between these.
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
// Up to here a float4 can lie in the middle between two equally short numbers: the server takes
// the even one, toExponential(n) the larger.
const FLOAT4_MIDDLES_TO = 2 ** 22;

/** Of a finite float4 above zero. */
export function shortestFloat4(value: number): string {
  const ulp = 2 ** exponentOf(value, FLOAT4);
  const mayBeMiddle = value > 1 && value < FLOAT4_MIDDLES_TO;
  if (mayBeMiddle || value < FLOAT4.smallestNormal || isPowerOfTwo(value, ulp, FLOAT4)) {
    return shortestWithin(value, roundingInterval(value, FLOAT4));
  }
  // No two numbers of up to six digits give the same float4: if one does, these six end in zeros.
  for (let count = FLOAT4_SAFE_DIGITS; count < FLOAT4_MOST_DIGITS; count++) {
    const digits = value.toExponential(count - 1);
    if (isFloat4(digits, value, ulp)) return withoutLastZeros(digits);
  }
  return value.toExponential(FLOAT4_MOST_DIGITS - 1);
}

/** The bounds of a float4 are exact as a float8; only on a bound it matters how digits round. */
function isFloat4(digits: string, value: number, ulp: number): boolean {
  const distance = Math.abs(Number(digits) - value);
  if (distance !== ulp / 2) return distance < ulp / 2;
  return isWithin(digits, roundingInterval(value, FLOAT4));
}

function withoutLastZeros(digits: string): string {
  return digits.replace(/\.?0*e/, 'e');
}

/** All the numbers that round to a value lie between low and high, each times 2^exponent. */
interface RoundingInterval {
  readonly low: bigint;
  readonly value: bigint;
  readonly high: bigint;
  readonly exponent: number;
}

function roundingInterval(value: number, format: FloatFormat): RoundingInterval {
  const exponent = exponentOf(value, format);
  const ulp = 2 ** exponent;
  const quarters = BigInt(value / ulp) * 4n;
  // below a power of two the floats lie twice as close
  const below = isPowerOfTwo(value, ulp, format) ? 1n : 2n;
  return { low: quarters - below, value: quarters, high: quarters + 2n, exponent: exponent - 2 };
}

/** The exponent of the last bit of the mantissa. */
function exponentOf(value: number, format: FloatFormat): number {
  if (value < format.smallestNormal) return format.smallestExponent;
  let exponent = Math.floor(Math.log2(value));
  // log2 rounds up just below a power of two
  if (2 ** exponent > value) exponent--;
  return exponent - format.mantissaBits;
}

function isPowerOfTwo(value: number, ulp: number, format: FloatFormat): boolean {
  return value / ulp === 2 ** format.mantissaBits && value > format.smallestNormal;
}

/** What makes numbers times 10^decimals and numbers times 2^exponent comparable integers. */
function commonFactors(decimals: number, exponent: number): { decimal: bigint; binary: bigint } {
  const ten = 10n ** BigInt(Math.abs(decimals));
  const two = 2n ** BigInt(Math.abs(exponent));
  return {
    decimal: (decimals > 0 ? ten : 1n) * (exponent < 0 ? two : 1n),
    binary: (decimals < 0 ? ten : 1n) * (exponent > 0 ? two : 1n),
  };
}

function isWithin(digits: string, interval: RoundingInterval): boolean {
  const e = digits.indexOf('e');
  const mantissa = digits.slice(0, e).replace('.', '');
  const decimals = Number(digits.slice(e + 1)) - mantissa.length + 1;
  const { decimal, binary } = commonFactors(decimals, interval.exponent);
  const scaled = BigInt(mantissa) * decimal;
  return scaled > interval.low * binary && scaled < interval.high * binary;
}

/** By trying one digit more until some number of so many lies within; then the nearest such. */
function shortestWithin(value: number, interval: RoundingInterval): string {
  const magnitude = Number(value.toExponential(20).split('e')[1]);
  for (let count = 1; ; count++) {
    const decimals = magnitude - count + 1;
    const { decimal, binary } = commonFactors(decimals, interval.exponent);
    const found = nearestWithin(decimal, {
      low: interval.low * binary,
      value: interval.value * binary,
      high: interval.high * binary,
    });
    if (found !== undefined) return exponential(found, decimals);
  }
}

type ScaledInterval = Omit<RoundingInterval, 'exponent'>;

/** How many units the nearest multiple of the unit is, if one lies within; of two the even one. */
function nearestWithin(unit: bigint, { low, value, high }: ScaledInterval): bigint | undefined {
  const below = value / unit;
  const above = below + 1n;
  const aboveFits = above * unit < high;
  if (below * unit <= low) return aboveFits ? above : undefined;
  if (!aboveFits) return below;
  const distances = value - below * unit - (above * unit - value);
  if (distances === 0n) return below % 2n === 0n ? below : above;
  return distances < 0n ? below : above;
}

function exponential(units: bigint, decimals: number): string {
  const digits = String(units);
  const magnitude = decimals + digits.length - 1;
  const fraction = digits.slice(1).replace(/0+$/, '');
  const point = fraction === '' ? '' : '.';
  return `${digits[0]}${point}${fraction}e${magnitude < 0 ? '-' : '+'}${Math.abs(magnitude)}`;
}
