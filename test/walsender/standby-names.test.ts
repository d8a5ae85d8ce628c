// How `*` in synchronous_standby_names is replaced, as it may be written.

import { expect, it } from 'vitest';
import {
  hasName,
  parseStandbyNames,
  printStandbyNames,
  takesAny,
  withoutAny,
} from '../../src/walsender/standby-names.ts';

it.each([
  ['*', '"paris", "Rome"'],
  ['"*"', '"paris", "Rome"'],
  ['ANY 2 (*)', 'ANY 2 ("paris", "Rome")'],
  ['any 1 ("*")', 'any 1 ("paris", "Rome")'],
  ['2 (*)', '2 ("paris", "Rome")'],
  ['FIRST 2(PARIS, *)', 'FIRST 2(PARIS, "Rome")'],
  ['first 1 (a,*,b)', 'first 1 (a, "paris", "Rome", b)'],
  ['ANY 1 (*, "rome", *)', 'ANY 1 ("paris", "rome")'],
  ['"a, *", *', '"a, *", "paris", "Rome"'],
  ['"odd ""*"" (1)", *', '"odd ""*"" (1)", "paris", "Rome"'],
])('%j names those that follow: %j', (text, expected) => {
  const names = parseStandbyNames(text);
  expect(takesAny(names)).toBe(true);
  const named = withoutAny(names, ['paris', 'Rome']);
  expect(takesAny(named)).toBe(false);
  expect(printStandbyNames(named)).toBe(expected);
});

it('tells for how many a COMMIT waits, and who has a place', () => {
  const names = parseStandbyNames('FIRST 3 (paris, "The ""Rome""", first)');
  expect(names.count).toBe(3);
  expect(parseStandbyNames('first, any').count).toBe(1);
  expect(['Paris', 'the "rome"', 'FIRST'].every((name) => hasName(names, name))).toBe(true);
  expect(['rome', '3', '('].some((name) => hasName(names, name))).toBe(false);
});

it('a star within a name takes nobody', () => {
  expect(takesAny(parseStandbyNames('ANY 1 ("a*", "(*)")'))).toBe(false);
});
