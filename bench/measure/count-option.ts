// Numbers on the benchmarks' command lines.

/** A whole number from 1 on. */
export function count(option: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new Error(`--${option} takes a whole number from 1 on, got "${text}"`);
}
