// How the costs of slots change between two looks at them.

import type { SlotsReport } from './report.ts';

export interface SlotsTrend {
  /** Bytes; undefined: the end of the WAL is not known. */
  readonly walPerSecond: number | undefined;
  /** By the slot's name, in bytes: what it keeps grows, or shrinks if negative. */
  readonly retainedPerSecond: ReadonlyMap<string, number>;
}

/** `seconds` lie between the two. */
export function slotsTrend(before: SlotsReport, now: SlotsReport, seconds: number): SlotsTrend {
  const earlier = new Map(before.slots.map(({ name, retained }) => [name, retained]));
  const rates = now.slots.flatMap(({ name, retained }) => {
    const then = earlier.get(name);
    if (then === undefined || retained === undefined) return [];
    return [[name, Math.round((retained - then) / seconds)] as const];
  });
  return { walPerSecond: walRate(before, now, seconds), retainedPerSecond: new Map(rates) };
}

function walRate(before: SlotsReport, now: SlotsReport, seconds: number): number | undefined {
  const [then, end] = [before.server.walEnd, now.server.walEnd];
  if (then === undefined || end === undefined) return undefined;
  return Math.max(0, Math.round(Number(end - then) / seconds));
}
