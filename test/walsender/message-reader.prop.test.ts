// Messages come whole and in order, however the socket cuts them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtocolViolation } from '../../src/errors.ts';
import { MessageReader } from '../../src/walsender/message-reader.ts';

interface Message {
  readonly kind: string;
  readonly payload: Buffer;
}

function encoded({ kind, payload }: Message): Buffer {
  const header = Buffer.alloc(5);
  header.write(kind, 'latin1');
  header.writeInt32BE(4 + payload.length, 1);
  return Buffer.concat([header, payload]);
}

/** The bytes of all that a reader hands over, in its order. */
function readAll(chunks: readonly Buffer[]): Buffer {
  const messages: Buffer[] = [];
  const reader = new MessageReader({
    copyData(bytes, start, end) {
      messages.push(encoded({ kind: 'd', payload: bytes.subarray(start, end) }));
    },
    others(bytes) {
      expect(bytes[0]).not.toBe('d'.charCodeAt(0));
      messages.push(Buffer.from(bytes));
    },
  });
  for (const chunk of chunks) {
    reader.read(chunk);
    chunk.fill(0xff); // lent: whatever was kept must have been copied
  }
  return Buffer.concat(messages);
}

const aMessage: fc.Arbitrary<Message> = fc.record({
  kind: fc.constantFrom('d', 'd', 'd', 'C', 'Z', 'N', 'S', 'c', 'E'),
  payload: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});

function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const length = lengths.length === 0 ? bytes.length : lengths[i % lengths.length]!;
    chunks.push(Buffer.from(bytes.subarray(at, at + length)));
    at += length;
  }
  return chunks;
}

describe('the message reader', () => {
  it('gives each message once, whole and in order, wherever reads end', () => {
    fc.assert(
      fc.property(
        fc.array(aMessage, { maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 8 }),
        (messages, lengths) => {
          const bytes = Buffer.concat(messages.map(encoded));
          expect(readAll(cut(bytes, lengths)).equals(bytes)).toBe(true);
        },
      ),
    );
  });

  it('takes a message that is larger than any read, and small ones behind it', () => {
    const large = { kind: 'd', payload: Buffer.alloc(3_000_000, 'x') };
    const small = { kind: 'd', payload: Buffer.from('small') };
    const bytes = Buffer.concat([small, large, small, large, small].map(encoded));
    expect(readAll(cut(bytes, [65_536])).equals(bytes)).toBe(true);
  });

  it.each([0, 3, -1, 0x7fff_ffff])('refuses a length of %i', (length) => {
    const header = Buffer.alloc(5, 'd');
    header.writeInt32BE(length, 1);
    expect(() => readAll([header])).toThrow(ProtocolViolation);
    expect(() => readAll([header.subarray(0, 2), Buffer.from(header.subarray(2))])).toThrow(
      ProtocolViolation,
    );
  });
});
