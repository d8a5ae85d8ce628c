// Random choices that a seed repeats.

import fc from 'fast-check';

export class Dice {
  #state: number;
  #count = 0;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number from 0 to `end` - 1. */
  below(end: number): number {
    return this.#next() % end;
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  /** 1, 2, 3 … */
  count(): number {
    return ++this.#count;
  }

  /** True once in so many times. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** So many of them, each at most once, in a random order. */
  some<T>(choices: readonly T[], count: number): T[] {
    const left = [...choices];
    const taken = Math.min(count, left.length);
    return Array.from({ length: taken }, () => left.splice(this.below(left.length), 1)[0]!);
  }

  times<T>(count: number, make: (i: number) => T): T[] {
    return Array.from({ length: count }, (_, i) => make(i));
  }

  samples<T>(arbitrary: fc.Arbitrary<T>, count: number): T[] {
    return fc.sample(arbitrary, { numRuns: count, seed: this.#next() | 0 });
  }

  /** A text that no compression makes shorter by much. */
  noise(length: number): string {
    const words = this.times(Math.ceil(length / 8), () => this.#next().toString(16));
    return words.map((word) => word.padStart(8, '0')).join('');
  }

  /** mulberry32: 32 random bits. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}
