// How values of catalog columns are read from the server's text.

import * as z from 'zod/mini';

/** An OID. */
export const id = z.coerce.number();
export const amount = z.coerce.number();
export const flag = z.pipe(
  z.string(),
  z.transform((text: string) => text === 't'),
);

/** An int2vector, as in `1 2 3`. */
export const numbers = z.pipe(
  z.string(),
  z.transform((text: string): readonly number[] => text.split(' ').filter(Boolean).map(Number)),
);

/** What belongs to each key, in the order given. */
export function collected<T>(
  entries: readonly (readonly [number, T])[],
): ReadonlyMap<number, readonly T[]> {
  const groups = new Map<number, T[]>();
  for (const [key, value] of entries) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
