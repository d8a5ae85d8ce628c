// Random arrays: the server's array_to_json is the judge.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/server.ts';
import { encoded, pinSession, serverJson } from './encoded.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await pinSession(database);
});

afterAll(() => database.drop());

const ARRAYS = 250;

/** An element as it stands in the text of an array, always in quotes unless it is NULL. */
const quoted = (element: string | null): string =>
  element === null ? 'NULL' : `"${element.replaceAll(/["\\]/g, '\\$&')}"`;

/** Sizes of 1 to 4 dimensions, and a lower bound for each or none. */
const shape = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
  bounds: fc.option(fc.integer({ min: -3, max: 3 })),
});

function arrayText(
  { sizes, bounds }: { sizes: readonly number[]; bounds: number | null },
  elements: readonly (string | null)[],
  delimiter: string,
): string {
  let next = 0;
  const level = (depth: number): string => {
    if (depth === sizes.length) return quoted(elements[next++ % elements.length]!);
    const items = Array.from({ length: sizes[depth]! }, () => level(depth + 1));
    return `{${items.join(delimiter)}}`;
  };
  const lower = bounds === null ? '' : sizes.map((size) => `[${bounds}:${bounds + size - 1}]`);
  return `${lower === '' ? '' : `${(lower as string[]).join('')}=`}${level(0)}`;
}

const text = fc.oneof(
  fc.constantFrom(
    'NULL',
    'null',
    '',
    ' ',
    '{}',
    ',',
    ';',
    '"',
    '\\',
    '[0:1]={',
    'a b',
    '\n',
    '\x01',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }).map((any) => any.replaceAll('\0', '')),
  fc.string({ unit: fc.constantFrom('"', '\\', ',', '{', '}', 'N'), maxLength: 6 }),
);
const number = fc.oneof(fc.integer(), fc.constantFrom(0, -1)).map(String);
const box = fc.tuple(fc.integer(), fc.integer()).map(([a, b]) => `(${a},${b}),(0,0)`);
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value));

const arrayOf = (type: string, element: fc.Arbitrary<string>, delimiter = ',') =>
  fc
    .tuple(shape, fc.array(fc.option(element, { freq: 5 }), { minLength: 1, maxLength: 9 }))
    .map(([dimensions, elements]): [string, string] => [
      `${type}[]`,
      arrayText(dimensions, elements, delimiter),
    ]);

const anyArray = fc.oneof(
  { weight: 4, arbitrary: arrayOf('text', text) },
  arrayOf('int8', number),
  arrayOf('numeric', number),
  arrayOf('json', json),
  arrayOf('box', box, ';'),
  arrayOf('bool', fc.constantFrom('t', 'f')),
  arrayOf('timestamptz', fc.constantFrom('2026-11-29 20:36:50+00', 'infinity')),
);

describe('an array', () => {
  it('is read as the server reads it, whatever it holds', async () => {
    const seed = Date.now() & 0x7fff_ffff;
    const rows = await serverJson(database, fc.sample(anyArray, { numRuns: ARRAYS, seed }));
    expect(rows).toHaveLength(ARRAYS);
    for (const { type, type_id, text, json } of rows) {
      expect({ seed, type, text, json: encoded(type_id, text) }).toEqual({
        seed,
        type,
        text,
        json,
      });
    }
  });
});
