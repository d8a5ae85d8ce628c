// Bytes that no send function makes: each is refused, with what is wrong with it.

import { describe, expect, it } from 'vitest';
import type { BinaryTypeLookup } from '../../../src/pgtypes/binary/type-lookup.ts';
import { violationOf } from '../../support/violation.ts';
import { bytesOf, converterOf, decoded, textBytes } from './decoded.ts';

const MANY = '7fffffff';

const MALFORMED: readonly (readonly [type: string, hex: string, problem: string])[] = [
  ['bool', '02', '0 or 1 expected, got 2'],
  ['int2', '00', '2 bytes expected, got 1'],
  ['int4', '0000000000', '4 bytes expected, got 5'],
  ['int8', '', '8 bytes expected, got 0'],
  ['float8', '00000000', '8 bytes expected, got 4'],
  ['uuid', '00', '16 bytes expected, got 1'],
  ['char', '', '1 bytes expected, got 0'],
  ['char', '6162', '1 bytes expected, got 2'],
  ['jsonb', '', 'no version'],
  ['jsonb', '02 7b7d', 'version 1 expected, got 2'],
  ['numeric', '0000', '8 bytes needed, got 2'],
  ['numeric', 'ffff 0000 0000 0000', '65535 digit groups announced, got 8 bytes'],
  ['numeric', '0001 0000 0000 0000 2710', 'a digit group of 10000'],
  ['numeric', '0000 0000 1234 0000', 'unknown sign 0x1234'],
  ['numeric', '0000 0000 0000 4000', 'a scale of 16384'],
  ['date', '7ffffffe', 'out of range'],
  ['time', 'ffffffffffffffff', 'out of range'],
  ['time', '000000141dd76001', 'out of range'],
  ['timetz', '0000000000000000 0000e100', 'a zone of 57600 seconds'],
  ['timestamp', '7ffffffffffffffe', 'out of range'],
  ['inet', '02 20 00', '4 bytes needed, got 3'],
  ['inet', '04 20 00 04 01020304', 'unknown address family 4'],
  ['inet', '02 21 00 04 01020304', '33 bits of 32'],
  ['inet', '03 20 00 04 01020304', '16 bytes of address expected, got 4'],
  ['bit', '00000009 ff', '9 bits announced, got 1 bytes'],
  ['bit', `${MANY} ff`, '2147483647 bits announced, got 1 bytes'],
  ['bit', 'ffffffff', '-1 bits announced, got 0 bytes'],
  ['path', '', 'the number of points needs 5 bytes more'],
  ['path', '00 00000000', '0 points announced, got 0 bytes'],
  ['polygon', MANY, '2147483647 points announced, got 0 bytes'],
  ['pg_snapshot', '', '20 bytes needed, got 0'],
  ['pg_snapshot', `${MANY} ${'00'.repeat(16)}`, '2147483647 transactions announced, got 0 bytes'],
  ['tsvector', MANY, '2147483647 lexemes announced, 0 bytes left'],
  ['tsvector', '00000001 616263', 'no NUL byte ends it'],
  ['tsvector', '00000000 00', '1 bytes left over'],
  ['tsquery', MANY, '2147483647 items announced, 0 bytes left'],
  ['tsquery', '00000001 02 02', 'an operator without operands'],
  ['tsquery', '00000002 01 00 00 6100 01 00 00 6200', '2 queries in one'],
  ['tsquery', '00000001 03 00', 'unknown item 3'],
  ['tsquery', '00000001 02 05', 'unknown operator 5'],
  ['int4[]', '00000007 00000000 00000017', '7 dimensions'],
  ['int4[]', '00000000 00000002 00000017', 'unknown flags 2'],
  [
    'int4[]',
    `00000001 00000000 00000017 ${MANY} 00000001`,
    '2147483647 elements announced, 0 bytes left',
  ],
  [
    'int4[]',
    '00000001 00000000 00000017 00000001 00000001 00000005 00000007',
    '5 bytes announced, 4 left',
  ],
  [
    'int4[]',
    '00000001 00000000 00000017 00000001 00000001 fffffffe 00000007',
    '-2 bytes announced, 4 left',
  ],
  ['int4[]', '00000000 00000000 00000017 00', '1 bytes left over'],
  ['int4[]', '00000001 00000000 00000316 00000001 00000001 ffffffff', 'no decoder for type 790'],
  ['int2vector', '00000001 00000000 00000017 00000000 00000000', 'elements of type 23'],
  ['int2vector', '00000001 00000000 00000015 00000001 00000000 ffffffff', 'an element is NULL'],
  ['int4range', '20', 'unknown flags 0x20'],
  ['int4range', '02 00000004 00000001', '4 bytes needed, 0 left'],
  ['int4range', '02 ffffffff', 'a bound is NULL'],
  ['int4range', '01 00', '1 bytes left over'],
  ['int4multirange', 'ffffffff', '4294967295 ranges announced, 0 bytes left'],
  ['int4multirange', '00000001 ffffffff 00', 'a range is NULL'],
];

describe('a malformed binary value', () => {
  it.each(MALFORMED)('of type %s, %s: %s', (type, hex, problem) => {
    expect(violationOf(() => decoded(type, hex)).problem).toBe(problem);
  });

  it('names its type and the offset within it', () => {
    const violation = violationOf(() => decoded('numeric', '0001 0000 0000 0000 2710'));
    expect(violation.message).toBe('binary numeric: a digit group of 10000 (offset 8)');
  });

  it('may not nest without an end', () => {
    const types: BinaryTypeLookup = {
      serverMajor: 18,
      shapeOf: () => ({ kind: 'composite', attributes: [] }),
    };
    let value = bytesOf('00000000');
    for (let level = 0; level < 5000; level++) {
      const header = Buffer.from('00000001 00004e20 00000000'.replaceAll(' ', ''), 'hex');
      header.writeUInt32BE(value.length, 8);
      value = Buffer.concat([header, value]);
    }
    const violation = violationOf(() => textBytes(converterOf(20_000, types), value));
    expect(violation.problem).toBe('nested deeper than 100 levels');
  });
});
