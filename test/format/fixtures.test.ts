// What real servers sent, replayed: the output is the recorded one to the byte.
// Recorded by `npm run fixtures`, which checks it against two independent witnesses.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ndjsonLine } from '../../src/format/ndjson/schema.ts';
import type { CatalogTypes } from '../../src/pgtypes/type-facts.ts';
import { framesText, parseFrames, replay } from '../fixtures/replay.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));

const majors = readdirSync(FIXTURES).filter((name) => /^\d+$/.test(name));

const fixtures = majors.flatMap((major) =>
  readdirSync(FIXTURES + major)
    .filter((file) => file.endsWith('.frames'))
    .map((file) => `${major}/${file.slice(0, -'.frames'.length)}`),
);

const read = (name: string): string => readFileSync(FIXTURES + name, 'utf8');
const framesOf = (fixture: string) => parseFrames(read(`${fixture}.frames`));

/** What the catalog said when the frames were recorded. */
const catalogOf = (fixture: string): CatalogTypes =>
  existsSync(`${FIXTURES}${fixture}.types.json`)
    ? (JSON.parse(read(`${fixture}.types.json`)) as CatalogTypes) // written by the recorder
    : { facts: [], names: [] };

describe('the fixtures', () => {
  it('hold every scenario of PostgreSQL 18', () => {
    expect(fixtures.filter((name) => name.startsWith('18/')).length).toBeGreaterThanOrEqual(15);
  });

  it('have no expected output without frames', () => {
    const outputs = majors.flatMap((major) =>
      readdirSync(FIXTURES + major).map((file) => `${major}/${file.split('.')[0]}.frames`),
    );
    expect(outputs.filter((frames) => !existsSync(FIXTURES + frames))).toEqual([]);
  });

  it('are written as they are read', () => {
    expect(framesText(framesOf('18/values'))).toBe(read('18/values.frames'));
  });
});

describe.each(fixtures)('%s', (fixture) => {
  it('gives the recorded NDJSON', () => {
    const catalog = catalogOf(fixture);
    expect(replay(framesOf(fixture), 'ndjson', { catalog })).toBe(read(`${fixture}.ndjson`));
  });

  it('gives the recorded pretty view', () => {
    const catalog = catalogOf(fixture);
    expect(replay(framesOf(fixture), 'pretty', { catalog })).toBe(read(`${fixture}.pretty`));
  });

  it('gives the same whenever the output takes what is there', () => {
    const frames = framesOf(fixture);
    const catalog = catalogOf(fixture);
    fc.assert(
      fc.property(fc.infiniteStream(fc.boolean()), (takes) => {
        const expected = read(`${fixture}.ndjson`);
        const takesAfter = (): boolean => takes.next().value;
        expect(replay(frames, 'ndjson', { catalog, takesAfter })).toBe(expected);
      }),
      { numRuns: 5 },
    );
  });

  it('has only lines that fit the schema, with their keys in its order', () => {
    for (const line of read(`${fixture}.ndjson`).trimEnd().split('\n')) {
      const parsed: unknown = JSON.parse(line);
      expect(Object.keys(ndjsonLine.parse(parsed))).toEqual(Object.keys(parsed as object));
    }
  });
});
