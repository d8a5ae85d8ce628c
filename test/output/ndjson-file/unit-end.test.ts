// The lines that end a unit, as the formatter really writes them.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ndjsonLine } from '../../../src/format/ndjson/schema.ts';
import { parseLsn } from '../../../src/lsn.ts';
import { LINE_START, unitEnd } from '../../../src/output/ndjson-file/unit-end.ts';
import {
  commitPrepared,
  header,
  message,
  prepared,
  rollbackPrepared,
  transaction,
  transactionalMessage,
} from './lines.ts';

const FIXTURES = new URL('../../fixtures/18/', import.meta.url);

const recorded = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.ndjson'))
  .flatMap((name) => readFileSync(new URL(name, FIXTURES), 'utf8').trimEnd().split('\n'));

/** The end that a line names, by its meaning alone. */
function expectedEnd(line: string): bigint | undefined {
  const parsed = ndjsonLine.parse(JSON.parse(line));
  switch (parsed.op) {
    case 'commit':
    case 'prepare':
    case 'commit_prepared':
      return parseLsn(parsed.end_lsn);
    case 'rollback_prepared':
      return parseLsn(parsed.rollback_end_lsn);
    case 'message':
      return parsed.transactional ? undefined : parseLsn(parsed.lsn);
    case 'pgtail':
      return parseLsn(parsed.after_lsn);
    default:
      return undefined;
  }
}

const endOf = (line: string): bigint | undefined => unitEnd(Buffer.from(line), true)?.lsn;

describe('the end of a unit', () => {
  it('is read from every recorded line that has one, and from no other', () => {
    for (const line of recorded) expect(endOf(line), line).toBe(expectedEnd(line));
    const ops = new Set(recorded.map((line) => unitEnd(Buffer.from(line), true)?.op));
    expect([...ops]).toEqual(
      expect.arrayContaining(['commit', 'prepare', 'commit_prepared', 'rollback_prepared']),
    );
  });

  it('is read from the lines of these tests, which are what the formatter writes', () => {
    const text =
      header(1n) +
      transaction(100n) +
      prepared(200n) +
      commitPrepared(300n) +
      rollbackPrepared(400n, 200n) +
      message(500n);
    const lines = text.trimEnd().split('\n');
    for (const line of lines) expect(endOf(line), line).toBe(expectedEnd(line));
    expect(lines.map(endOf).filter(Boolean)).toEqual([1n, 100n, 200n, 300n, 400n, 500n]);
    expect(endOf(transactionalMessage(600n))).toBeUndefined();
  });

  it('is read from the beginning of a message that is longer', () => {
    const start = Buffer.from(message(500n, 'x'.repeat(10_000))).subarray(0, LINE_START);
    expect(unitEnd(start, false)).toEqual({ op: 'message', lsn: 500n });
  });

  it('is none if the line is damaged', () => {
    for (const text of [transaction(100n), message(500n), commitPrepared(300n)]) {
      const line = text.trimEnd().split('\n').at(-1)!;
      expect(endOf(line.slice(0, -1))).toBeUndefined();
      expect(endOf(line.replace('"}', '\0"}').replace(/\d}$/, '}'))).toBeUndefined();
    }
  });
});
