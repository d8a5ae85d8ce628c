// A file cut at any byte, with anything after the cut: exactly its last complete unit is found.

import { constants } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readContents } from '../../../src/output/ndjson-file/examine.ts';
import { type FileSystem, nodeFileSystem } from '../../../src/output/ndjson-file/file-system.ts';
import {
  commitPrepared,
  header,
  message,
  prepared,
  rollbackPrepared,
  transaction,
} from './lines.ts';

/** A file system of one file that is never on disk. */
function oneFile(contents: Buffer): FileSystem {
  const status = { kind: 'file', size: contents.length, id: '1:1' } as const;
  return {
    ...nodeFileSystem,
    status: () => status,
    statusOf: () => status,
    open: () => 99,
    close: () => {},
    read: (_fd, into, position) => contents.copy(into, 0, position),
  };
}

/** A part of a file that counts as a whole, and the highest end behind it. */
interface Unit {
  readonly text: string;
  readonly lsn: bigint;
}

type Kind = (before: bigint, step: bigint) => Unit;

const KINDS: readonly Kind[] = [
  (before, step) => ({ text: transaction(before + step), lsn: before + step }),
  (before, step) => ({ text: message(before + step), lsn: before + step }),
  (before, step) => ({ text: prepared(before + step), lsn: before + step }),
  (before, step) => ({ text: commitPrepared(before + step), lsn: before + step }),
  (before, step) => ({ text: rollbackPrepared(before + step, before), lsn: before + step }),
  (before, step) => ({
    text: prepared(before - step) + commitPrepared(before + step),
    lsn: before + step,
  }),
  (before) => ({ text: header(before, { timeline: 2 }), lsn: before }),
];

/** A whole file as its units, the header first. */
const units = fc
  .array(fc.tuple(fc.constantFrom(...KINDS), fc.bigInt({ min: 20n, max: 0x1_0000_0000n })), {
    maxLength: 8,
  })
  .map((kinds) => {
    const all: Unit[] = [{ text: header(0x2_0000_0000n), lsn: 0x2_0000_0000n }];
    for (const [kind, step] of kinds) all.push(kind(all.at(-1)!.lsn, step));
    return all;
  });

/** What a crash leaves behind the cut; nothing of it continues a line as it was to be. */
const rests = fc.oneof(
  fc.constant(Buffer.alloc(0)),
  fc.nat({ max: 300 }).map((size) => Buffer.alloc(size)),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from([0x80, ...bytes])),
  fc.constant(Buffer.from('?\n')),
  fc.constant(Buffer.concat([Buffer.alloc(9), Buffer.from(`\n${transaction(1n << 60n)}`)])),
);

/** The last complete unit at or before `cut`. */
function expectedAt(all: readonly Unit[], cut: number): { keep: number; position: bigint } {
  let found = { keep: 0, position: 0n };
  let end = 0;
  for (const { text, lsn } of all) {
    end += Buffer.byteLength(text);
    if (end <= cut) found = { keep: end, position: lsn };
  }
  return found;
}

describe('examining a file that was cut anywhere', () => {
  it('finds the last complete unit at or before the cut', () => {
    fc.assert(
      fc.property(units, rests, fc.integer({ min: 1, max: 300 }), (all, rest, blockBytes) => {
        const whole = Buffer.from(all.map(({ text }) => text).join(''));
        for (let cut = Buffer.byteLength(all[0]!.text); cut <= whole.length; cut++) {
          const files = oneFile(Buffer.concat([whole.subarray(0, cut), rest]));
          const { keep, position } = readContents(files, '/f', constants.O_RDONLY, blockBytes)!;
          expect({ keep, position }, `cut at ${cut}`).toEqual(expectedAt(all, cut));
        }
      }),
      { numRuns: 25 },
    );
  });

  it('takes a torn header for none, whatever is left of it', () => {
    const whole = Buffer.from(header(0x2_0000_0000n));
    for (let cut = 0; cut < whole.length; cut++) {
      for (const zeros of [0, 1, 500]) {
        const files = oneFile(Buffer.concat([whole.subarray(0, cut), Buffer.alloc(zeros)]));
        const contents = readContents(files, '/f', constants.O_RDONLY, 64);
        expect(contents).toMatchObject({ header: null, keep: 0, position: undefined });
      }
    }
  });
});
