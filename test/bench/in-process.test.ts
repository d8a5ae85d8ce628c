// The benchmark in process: its recordings, its turns, and that all who are compared do the same.

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ndjsonReader, objectsReader, pluginReader } from '../../bench/in-process/contestants.ts';
import { packMessages, unpackMessages } from '../../bench/in-process/frames-file.ts';
import { readRecording, type TupleFormat } from '../../bench/in-process/recording.ts';
import { type Figure, verdicts } from '../../bench/in-process/report.ts';
import { measureInTurn } from '../../bench/in-process/rounds.ts';
import { ROW_SHAPES } from '../../bench/in-process/shapes.ts';
import { TypeRegistry } from '../../src/pgtypes/type-registry.ts';

const FIXTURES = fileURLToPath(new URL('../../bench/fixtures', import.meta.url));
const SHAPES = ROW_SHAPES.map(({ name }) => name);
const ROW_LINE = /^\{"op":"(insert|update|delete)"/;

interface Line {
  readonly seq: number;
  readonly new: Readonly<Record<string, unknown>>;
}

/** Row lines; bigint and numeric in quotes, as the references print them. */
function ndjsonLines(shape: string, format: TupleFormat): string[] {
  const blocks: Buffer[] = [];
  const types = new TypeRegistry({ numbers: 'string' });
  const reader = ndjsonReader(format, (block) => void blocks.push(Buffer.from(block)), types);
  reader.read(readRecording(FIXTURES, shape, format).messages);
  const lines = Buffer.concat(blocks).toString('utf8').split('\n');
  return lines.filter((line) => ROW_LINE.test(line));
}

const parsed = (lines: readonly string[]): Line[] => lines.map((line) => JSON.parse(line) as Line);

describe.each(SHAPES)('the recording of %s', (shape) => {
  it('is told by objects and JSON.stringify as by pgtail, key by key', () => {
    const lines: string[] = [];
    objectsReader((line) => void lines.push(line)).read(
      readRecording(FIXTURES, shape, 'text').messages,
    );
    expect(parsed(lines)).toEqual(parsed(ndjsonLines(shape, 'text')));
  });

  it('is read row by row by PgoutputPlugin too', () => {
    const lines: string[] = [];
    pluginReader((line) => void lines.push(line)).read(
      readRecording(FIXTURES, shape, 'text').messages,
    );
    const ids = (all: readonly Line[]) => all.map((line) => [line.seq, line.new.id]);
    expect(ids(parsed(lines))).toEqual(ids(parsed(ndjsonLines(shape, 'text'))));
  });

  it('makes the same lines of binary tuples', () => {
    expect(ndjsonLines(shape, 'binary')).toEqual(ndjsonLines(shape, 'text'));
  });

  it('has its announcements one time only when it is repeated', () => {
    const { messages, repeated, rows } = readRecording(FIXTURES, shape, 'text');
    expect(rows).toBe(ndjsonLines(shape, 'text').length);
    expect(repeated.length).toBe(rows + 2); // begin and commit
    expect(messages.length).toBeGreaterThan(repeated.length);
  });
});

it('reads back the messages it has packed', () => {
  const messages = [
    { walStart: { high: 0, low: 0 }, bytes: Buffer.from('R') },
    { walStart: { high: 1, low: 0xffff_ffff }, bytes: Buffer.alloc(0) },
  ];
  expect(unpackMessages(packMessages(messages))).toMatchObject(messages);
});

it('measures what one repetition took, in turns', () => {
  let now = 0;
  const order: string[] = [];
  const taking = (name: string, ms: number) => () => {
    now += ms;
    order.push(name);
  };
  const work = { quick: taking('quick', 2), slow: taking('slow', 6) };
  const times = measureInTurn(work, { rounds: 2, slice: 1, warmUp: 1, clock: () => now });
  expect(times).toEqual({ quick: 2, slow: 6 });
  expect(order).toEqual(['quick', 'slow', 'quick', 'slow', 'slow', 'quick']);
});

describe('the check', () => {
  const figures = (ndjson: number, plugin: number, objects: number): Figure[] =>
    Object.entries({ ndjson, plugin, objects }).map(([contestant, nsPerRow]) => ({
      shape: 'narrow',
      contestant,
      nsPerRow,
      rowsPerSecond: 1e9 / nsPerRow,
      megabytesPerSecond: 0,
    }));
  const passed = (all: readonly Figure[]) => verdicts(all).map((each) => each.passed);

  it('passes at 6 times PgoutputPlugin and 3 times objects', () => {
    expect(passed(figures(100, 600, 300))).toEqual([true, true]);
  });

  it('fails below either of them', () => {
    expect(passed(figures(100, 599, 300))).toEqual([false, true]);
    expect(passed(figures(100, 600, 299))).toEqual([true, false]);
  });

  it('says what the slowest shape reached, not only the median', () => {
    const wide = figures(100, 900, 500).map((figure) => ({ ...figure, shape: 'wide' }));
    const [plugin] = verdicts([...figures(100, 500, 300), ...wide]);
    expect(plugin?.text).toContain('7.00 times');
    expect(plugin?.text).toContain('least 5.00');
  });
});
