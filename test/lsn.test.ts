// LSN text: what PostgreSQL's pg_lsn type prints and accepts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLsn, formatLsnWords, INVALID_LSN, lsnFromWords, parseLsn } from '../src/lsn.ts';
import { anyLsn } from './support/arbitraries.ts';

describe('LSN text', () => {
  it.each([
    [0n, '0/0'],
    [1n, '0/1'],
    [0x16_b374_d848n, '16/B374D848'],
    [0x1_0000_0000n, '1/0'],
    [2n ** 64n - 1n, 'FFFFFFFF/FFFFFFFF'],
  ])('%d is printed as %s and read back', (lsn, text) => {
    expect(formatLsn(lsn)).toBe(text);
    expect(parseLsn(text)).toBe(lsn);
  });

  it('is read in lower case and with leading zeros, as PostgreSQL reads it', () => {
    expect(parseLsn('ab/cd')).toBe(0xab_0000_00cdn);
    expect(parseLsn('00000016/0B374D84')).toBe(0x16_0b37_4d84n);
  });

  it.each([
    '',
    '0',
    '0/',
    '/0',
    'g/0',
    ' 0/0',
    '0/0 ',
    '0/0\n',
    '-1/0',
    '+1/0',
    '0x1/0',
    '1/2/3',
    '0/000000001',
    '000000000/1',
  ])('refuses %j, as PostgreSQL does', (text) => {
    expect(parseLsn(text)).toBeUndefined();
  });

  it('gives every position back', () => {
    fc.assert(fc.property(anyLsn, (lsn) => parseLsn(formatLsn(lsn)) === lsn));
  });

  it('is the same from the two halves on the wire', () => {
    fc.assert(
      fc.property(anyLsn, (lsn) => {
        const [high, low] = [Number(lsn >> 32n), Number(lsn & 0xffff_ffffn)];
        expect(lsnFromWords(high, low)).toBe(lsn);
        expect(formatLsnWords(high, low)).toBe(formatLsn(lsn));
      }),
    );
  });

  it('prints the invalid position as 0/0', () => {
    expect(formatLsn(INVALID_LSN)).toBe('0/0');
  });
});
