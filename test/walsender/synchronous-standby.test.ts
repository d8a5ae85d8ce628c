// Which clients a server takes for synchronous standbys.

import { expect, it } from 'vitest';
import { isSynchronousStandby } from '../../src/walsender/preflight.ts';

it.each([
  ['', false],
  ['*', true],
  ['pgtail', true],
  ['PgTail', true],
  ['"pgtail"', true],
  ['a, pgtail', true],
  ['a,b', false],
  ['FIRST 1 (a, "*")', true],
  ['ANY 2 (a,b,pgtail)', true],
  ['2 (a, b)', false],
  ['any 1(other)', false],
  ['"paris, pgtail"', false],
])('synchronous_standby_names = %j: %j', (names, expected) => {
  expect(isSynchronousStandby('pgtail', names)).toBe(expected);
});
