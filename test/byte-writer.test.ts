// The buffer that everything printed goes through.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendBlock, appendRange, Block, ByteWriter } from '../src/byte-writer.ts';

describe('a byte writer', () => {
  it('keeps what was appended when it grows', () => {
    const writer = new ByteWriter(4);
    writer.text('né');
    writer.text(' \u{1F375}'.repeat(1000));
    writer.raw(Uint8Array.of(0, 255));
    const expected = Buffer.concat([
      Buffer.from(`né${' \u{1F375}'.repeat(1000)}`),
      Buffer.of(0, 255),
    ]);
    expect(writer.take().equals(expected)).toBe(true);
  });

  it('makes room that may be stored into directly', () => {
    const writer = new ByteWriter(0);
    writer.reserve(3);
    for (const byte of Buffer.from('abc')) writer.bytes[writer.length++] = byte;
    expect(writer.take().toString()).toBe('abc');
  });

  it('counts the offset over all that was taken', () => {
    const writer = new ByteWriter();
    writer.text('four');
    writer.take();
    expect(writer.offset).toBe(4);
    writer.text('six555');
    expect(writer.offset).toBe(10);
  });

  it('never writes into what it has handed over', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 20 }), (texts) => {
        const writer = new ByteWriter(8);
        const blocks = texts.map((text) => {
          writer.text(text);
          return writer.take();
        });
        writer.text('x'.repeat(1000));
        expect(blocks.map((block) => block.toString('utf8'))).toEqual(texts);
      }),
    );
  });

  it('writes again into what was given back, and into nothing else', () => {
    const writer = new ByteWriter();
    writer.text('lent');
    const lent = writer.take();
    writer.text('kept');
    const kept = writer.take();
    writer.giveBack(lent);
    writer.take();
    writer.text('new');
    const written = writer.take();
    expect(written.buffer).toBe(lent.buffer);
    expect([kept.toString(), written.toString()]).toEqual(['kept', 'new']);
  });

  it('takes back neither a part of a block nor what is too small', () => {
    const writer = new ByteWriter();
    writer.text('lent');
    const lent = writer.take();
    writer.giveBack(lent.subarray(2));
    writer.giveBack(Buffer.allocUnsafeSlow(16));
    writer.take();
    expect(writer.bytes.buffer).not.toBe(lent.buffer);
    expect(writer.bytes.length).toBeGreaterThan(16);
  });

  it('copies parts of a source and whole blocks of any length', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ maxLength: 100 }), fc.string({ unit: 'binary' }))),
        fc.boolean(),
        (parts, isTight) => {
          const writer = new ByteWriter(isTight ? 0 : 4096);
          const source = Buffer.concat(parts.map(([bytes]) => bytes));
          let start = 0;
          for (const [bytes, text] of parts) {
            const block = Block.of(text);
            writer.reserve(bytes.length + block.length);
            appendRange(writer, source, start, start + bytes.length);
            appendBlock(writer, block);
            start += bytes.length;
          }
          const expected = parts.flatMap(([bytes, text]) => [bytes, Buffer.from(text)]);
          expect(writer.take().equals(Buffer.concat(expected))).toBe(true);
        },
      ),
    );
  });

  it('may be cut back to a whole line', () => {
    const writer = new ByteWriter();
    writer.text('whole\n');
    const wholeLines = writer.length;
    writer.text('ha');
    writer.length = wholeLines;
    expect(writer.take().toString()).toBe('whole\n');
  });

  it('does not keep a huge buffer for ever', () => {
    const writer = new ByteWriter();
    writer.reserve(64 * 1024 * 1024);
    writer.take();
    expect(writer.bytes.length).toBeLessThanOrEqual(1024 * 1024);
  });
});
