// What is said of many measurements: their middle, and how bad the worst of them are.

/** The middle one; between two, half way. @throws on an empty list */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The smallest value that at least `percent` of the values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = ascending(values);
  const rank = Math.ceil((percent / 100) * sorted.length);
  return sorted[Math.max(rank, 1) - 1]!;
}

function ascending(values: readonly number[]): number[] {
  if (values.length === 0) throw new RangeError('nothing was measured');
  return [...values].sort((a, b) => a - b);
}

/** The list from its nth item on, then what stood before: no contestant always goes first. */
export function rotated<T>(items: readonly T[], n: number): T[] {
  const from = n % items.length;
  return [...items.slice(from), ...items.slice(0, from)];
}
