// For any messages the decoder gives back what was written; for any bytes a value or a violation.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtocolViolation } from '../../src/errors.ts';
import { PgoutputDecoder } from '../../src/pgoutput/decoder.ts';
import type { PgoutputHandler } from '../../src/pgoutput/handler.ts';
import type { TupleData } from '../../src/pgoutput/tuple.ts';
import { messageScript, type WrittenMessage } from '../support/arbitraries.ts';
import { type RecordedCall, RecordingHandler } from '../support/recording-handler.ts';

const wholeProtocol = messageScript({ protocol: 4 });

const words = (lsn: bigint) => ({ high: Number(lsn >> 32n), low: Number(lsn & 0xffff_ffffn) });

/** The message between two fences of the same bytes, as it stands in a socket's buffer. */
function fenced(bytes: Buffer, fence: Buffer) {
  return {
    chunk: Buffer.concat([fence, bytes, fence]),
    start: fence.length,
    end: fence.length + bytes.length,
  };
}

const NO_FENCE = Buffer.alloc(0);

/** What decoding gave: the calls made, and the text of the violation that ended it. */
interface Outcome {
  readonly calls: readonly RecordedCall[];
  readonly violation: string | undefined;
}

/** Decodes all messages in turn; an error that is no violation fails the test. */
function outcomeOf(messages: readonly WrittenMessage[], fence: Buffer = NO_FENCE): Outcome {
  const handler = new RecordingHandler();
  const decoder = new PgoutputDecoder(handler);
  for (const { bytes, walStart } of messages) {
    const { chunk, start, end } = fenced(bytes, fence);
    try {
      decoder.decode(chunk, start, end, words(walStart));
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error;
      expect(error.offset).toBeGreaterThanOrEqual(0);
      expect(error.offset).toBeLessThanOrEqual(bytes.length);
      return { calls: handler.calls, violation: error.message };
    }
  }
  return { calls: handler.calls, violation: undefined };
}

/** NULs end strings, letters are tags and kinds, and 0xff makes lengths negative. */
const FENCES = [
  Buffer.alloc(64, 0),
  Buffer.alloc(64, 0xff),
  Buffer.from('tntbuNKOIUD'.repeat(6)),
] as const;

/**
 * The outcome must not depend on what stands around the message. A wrong read behind its end, or
 * before its start, would find other bytes in each of the fences.
 */
function expectNoOverRead(messages: readonly WrittenMessage[]): Outcome {
  const alone = outcomeOf(messages);
  for (const fence of FENCES) expect(outcomeOf(messages, fence)).toEqual(alone);
  return alone;
}

/** A script whose last message is damaged; those before it give it its relations and stream. */
function damaged(damage: (bytes: Buffer, choice: number) => Buffer) {
  return fc.tuple(wholeProtocol, fc.nat(), fc.nat()).map(([script, which, choice]) => {
    const last = which % script.length;
    const { bytes, walStart, expected } = script[last]!;
    return [...script.slice(0, last), { walStart, expected, bytes: damage(bytes, choice) }];
  });
}

const cut = (bytes: Buffer, choice: number): Buffer => bytes.subarray(0, choice % bytes.length);

function withBitFlipped(bytes: Buffer, choice: number): Buffer {
  const copy = Buffer.from(bytes);
  const bit = choice % (bytes.length * 8);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

describe('the decoder', () => {
  it('gives back every message that was written, in order and unchanged', () => {
    fc.assert(
      fc.property(wholeProtocol, (script) => {
        const expected = { calls: script.map((message) => message.expected), violation: undefined };
        expect(outcomeOf(script)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('reads no byte outside a good message', () => {
    fc.assert(
      fc.property(wholeProtocol, (script) => {
        expect(expectNoOverRead(script).violation).toBeUndefined();
      }),
    );
  });

  it('answers a message that was cut anywhere with a violation, and never over-reads', () => {
    fc.assert(
      fc.property(damaged(cut), (script) => {
        const { violation } = expectNoOverRead(script);
        const { expected, bytes } = script.at(-1)!;
        // cut behind the subxid, the stream abort of protocol 4 is a good one of protocol 2
        const isShortAbort = expected.call === 'streamAbort' && bytes.length === 9;
        expect(violation === undefined).toBe(isShortAbort);
      }),
      { numRuns: 500 },
    );
  });

  it('answers any flipped bit with a value or a violation, and never over-reads', () => {
    fc.assert(
      fc.property(damaged(withBitFlipped), (script) => {
        expectNoOverRead(script);
      }),
      { numRuns: 1000 },
    );
  });

  it('answers any bytes behind any tag with a value or a violation, and never over-reads', () => {
    const tag = fc.constantFrom(...'BMCORYIUDTSEcAbPKrp');
    const body = fc.uint8Array({ maxLength: 80, size: 'max' });
    const anyBytes = fc.tuple(tag, body).map(([tag, body]) => [tag.charCodeAt(0), ...body]);
    const anyMessage = fc.oneof(anyBytes, fc.uint8Array({ maxLength: 40 }));
    fc.assert(
      fc.property(wholeProtocol, anyMessage, (script, bytes) => {
        const last = { ...script[0]!, bytes: Buffer.from(bytes) };
        expectNoOverRead([...script, last]);
      }),
      { numRuns: 1000 },
    );
  });

  it('answers any pieces of good messages in one with a value or a violation', () => {
    const spliced = fc.tuple(wholeProtocol, fc.nat(), fc.nat(), fc.nat()).map((parts) => {
      const [script, a, b, at] = parts;
      const [head, tail] = [script[a % script.length]!, script[b % script.length]!];
      const from = at % (tail.bytes.length + 1);
      const bytes = Buffer.concat([cut(head.bytes, at), tail.bytes.subarray(from)]);
      return [...script, { ...head, bytes }];
    });
    fc.assert(
      fc.property(spliced, (script) => {
        expectNoOverRead(script);
      }),
      { numRuns: 500 },
    );
  });

  it('hands out tuples and contents whose bytes all lie inside the message', () => {
    fc.assert(
      fc.property(damaged(withBitFlipped), (script) => {
        const handler = new RecordingHandler();
        const decoder = new PgoutputDecoder(handler);
        for (const { bytes, walStart } of script) {
          const { chunk, start, end } = fenced(bytes, FENCES[0]);
          checkRanges(handler, chunk.byteOffset + start, chunk.byteOffset + end);
          try {
            decoder.decode(chunk, start, end, words(walStart));
          } catch (error) {
            expect(error).toBeInstanceOf(ProtocolViolation);
          }
        }
      }),
    );
  });
});

/** Makes the handler check each borrowed range against the message's own. */
function checkRanges(handler: PgoutputHandler, start: number, end: number): void {
  const checkTuple = (tuple: TupleData | null): void => {
    for (let i = 0; tuple !== null && i < tuple.columnCount; i++) {
      if (tuple.hasValue(i)) expectInside(tuple.starts[i]!, tuple.ends[i]!, start, end);
    }
  };
  handler.insert = (_at, _relation, newRow) => checkTuple(newRow);
  handler.delete = (_at, _relation, oldRow) => checkTuple(oldRow);
  handler.update = (_at, _relation, newRow, oldRow) => [newRow, oldRow].forEach(checkTuple);
  handler.message = (_at, { content }) => {
    expect(content.length).toBeLessThanOrEqual(end - start);
  };
}

function expectInside(from: number, to: number, start: number, end: number): void {
  expect(start <= from && from <= to && to <= end).toBe(true);
}
