// The cursor: reads fields of a range in a larger buffer, and never looks past its end.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Cursor } from '../../src/wire/cursor.ts';
import { anyLsn, anyTimestamp, cText } from '../support/arbitraries.ts';
import { violationOf } from '../support/violation.ts';

/** A cursor over `hex`, which stands between bytes that it must never read. */
function cursorOver(hex: string, surroundings = 0xca): Cursor {
  const inner = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  const fence = Buffer.alloc(16, surroundings);
  const cursor = new Cursor();
  cursor.reset(Buffer.concat([fence, inner, fence]), fence.length, fence.length + inner.length);
  return cursor;
}

describe('a cursor', () => {
  it('reads each kind of number in network byte order, in turn', () => {
    const c = cursorOver('fe fffe fffffffe fffffffe fffffffffffffffe fffffffffffffffe');
    expect(c.u8('flags')).toBe(0xfe);
    expect(c.u16('column count')).toBe(0xfffe);
    expect(c.u32('xid')).toBe(0xffff_fffe);
    expect(c.i32('column typmod')).toBe(-2);
    expect(c.i64('commit time')).toBe(-2n);
    expect(c.lsn('commit lsn')).toBe(0xffff_ffff_ffff_fffen);
    expect(() => c.drained()).not.toThrow();
  });

  it('counts its offset from the start of its range', () => {
    const c = cursorOver('01 0002 00000003');
    c.u8('flags');
    c.u16('column count');
    expect(c.offset).toBe(3);
    expect(c.remaining).toBe(4);
  });

  it('reads strings up to their NUL, also empty ones', () => {
    const c = cursorOver('6f726465727300 00 e282ac00');
    expect(c.cstring('relation name')).toBe('orders');
    expect(c.cstring('namespace')).toBe('');
    expect(c.cstring('column name')).toBe('€');
    expect(c.remaining).toBe(0);
  });

  it('skips over bytes and tells where they start', () => {
    const c = cursorOver('0000000568656c6c6f');
    const from = c.skip(c.i32('content length'), 'content');
    expect(c.bytes.toString('utf8', from, c.position)).toBe('hello');
  });

  const shortReads = [
    ['u8', 1, (c: Cursor) => c.u8('flags')],
    ['u16', 2, (c: Cursor) => c.u16('flags')],
    ['u32', 4, (c: Cursor) => c.u32('flags')],
    ['i32', 4, (c: Cursor) => c.i32('flags')],
    ['i64', 8, (c: Cursor) => c.i64('flags')],
    ['lsn', 8, (c: Cursor) => c.lsn('flags')],
  ] as const;

  it.each(shortReads)('refuses %s when fewer than %d bytes are left', (_, needed, read) => {
    for (let left = 0; left < needed; left++) {
      const c = cursorOver('07'.repeat(left));
      const problem = `${needed} bytes needed, ${left} left`;
      expect(violationOf(() => read(c))).toMatchObject({ field: 'flags', problem, offset: 0 });
      expect(c.offset).toBe(0);
    }
  });

  it.each([0x00, 0xca])('never ends a string beyond its range, where 0x%x stands', (fence) => {
    const c = cursorOver('6f7264657273', fence);
    expect(violationOf(() => c.cstring('relation name'))).toMatchObject({
      field: 'relation name',
      problem: 'no NUL byte ends the string',
      offset: 0,
    });
  });

  it.each([-1, 3, 629_145_600])('refuses to skip %d bytes when 2 are left', (length) => {
    const c = cursorOver('6869');
    expect(violationOf(() => c.skip(length, 'content')).problem).toBe(
      `${length} bytes announced, 2 left`,
    );
  });

  it('tells how many bytes were left over', () => {
    const c = cursorOver('01 02 03');
    c.u8('flags');
    const error = violationOf(() => c.drained());
    expect(error.message).toBe('end of message: 2 bytes left over (offset 1)');
  });

  it('starts anew at every reset', () => {
    const c = cursorOver('01 02');
    c.u16('column count');
    c.reset(Buffer.from([7]), 0, 1);
    expect([c.offset, c.remaining, c.u8('flags')]).toEqual([0, 1, 7]);
  });

  it('gives back every 64-bit number and every string that was written', () => {
    fc.assert(
      fc.property(anyTimestamp, anyLsn, cText, (time, lsn, name) => {
        const numbers = Buffer.alloc(16);
        numbers.writeBigInt64BE(time, 0);
        numbers.writeBigUInt64BE(lsn, 8);
        const c = cursorOver(Buffer.concat([numbers, Buffer.from(`${name}\0`)]).toString('hex'));
        expect([c.i64('commit time'), c.lsn('commit lsn'), c.cstring('gid')]).toEqual([
          time,
          lsn,
          name,
        ]);
      }),
    );
  });
});
