// Measures several pieces of work in turn, so that whatever slows the machine down slows all of them.

import { median, rotated } from '../measure/statistics.ts';

/** Milliseconds, of time or of CPU time. */
export type Clock = () => number;

export interface RoundOptions {
  readonly rounds: number;
  /** How long each piece of work is repeated in a round, in ms. */
  readonly slice: number;
  /** How long before the first round, so that it is compiled. */
  readonly warmUp: number;
  readonly clock: Clock;
}

/** The median over the rounds of the milliseconds that one repetition took, for each. */
export function measureInTurn<Name extends string>(
  work: Readonly<Record<Name, () => void>>,
  { rounds, slice, warmUp, clock }: RoundOptions,
): Record<Name, number> {
  const names = Object.keys(work) as Name[]; // the keys of a record by Name
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]]));
  for (const name of names) repeat(work[name], warmUp, clock);
  for (let round = 0; round < rounds; round++) {
    for (const name of rotated(names, round)) times[name]!.push(repeat(work[name], slice, clock));
  }
  const medians = names.map((name) => [name, median(times[name]!)]);
  return Object.fromEntries(medians) as Record<Name, number>; // one for each name
}

/** Looking at the clock takes 15 µs of CPU time, which is to be no part of what is measured. */
const LOOKS = 20;

/** Does it for at least so long, and returns the time of one repetition. */
function repeat(work: () => void, duration: number, clock: Clock): number {
  const start = clock();
  let count = 0;
  let elapsed = 0;
  for (let batch = 1; elapsed < duration; batch = batchUntil(duration / LOOKS, elapsed / count)) {
    for (let i = 0; i < batch; i++) work();
    count += batch;
    elapsed = clock() - start;
  }
  return elapsed / count;
}

const batchUntil = (duration: number, each: number): number =>
  Math.max(1, Math.floor(duration / each));
