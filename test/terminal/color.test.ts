// Which circumstances lead to how many colours.

import { describe, expect, it } from 'vitest';
import { type ColorFlag, type ColorLevel, decideColorLevel } from '../../src/terminal/color.ts';

type Row = [
  flag: ColorFlag,
  isTTY: boolean,
  env: Record<string, string>,
  level: ColorLevel,
  because: string,
];

const XTERM = { TERM: 'xterm-256color' };

const ROWS: Row[] = [
  ['auto', true, {}, 1, 'a terminal has sixteen colours'],
  ['auto', true, { TERM: 'xterm' }, 1, 'xterm promises no more'],
  ['auto', true, XTERM, 2, 'TERM names 256 colours'],
  ['auto', true, { ...XTERM, COLORTERM: 'truecolor' }, 3, 'COLORTERM names true colour'],
  ['auto', true, { ...XTERM, COLORTERM: '24bit' }, 3, '24bit is its other name'],
  ['auto', true, { TERM: 'dumb' }, 0, 'a dumb terminal has none'],
  ['auto', false, XTERM, 0, 'a pipe gets no colour'],
  ['auto', true, { ...XTERM, NO_COLOR: '1' }, 0, 'NO_COLOR says no'],
  ['auto', true, { ...XTERM, NO_COLOR: '' }, 2, 'an empty NO_COLOR says nothing'],
  ['auto', false, { ...XTERM, FORCE_COLOR: '' }, 2, 'an empty FORCE_COLOR asks for colour'],
  ['auto', false, { FORCE_COLOR: 'true' }, 1, 'FORCE_COLOR=true asks for colour'],
  ['auto', false, { FORCE_COLOR: '3' }, 3, 'FORCE_COLOR names a level'],
  ['auto', false, { FORCE_COLOR: '2' }, 2, 'FORCE_COLOR names a level'],
  ['auto', true, { ...XTERM, FORCE_COLOR: '1' }, 1, 'FORCE_COLOR goes before TERM'],
  ['auto', true, { ...XTERM, FORCE_COLOR: '0' }, 0, 'FORCE_COLOR=0 says no'],
  ['auto', true, { ...XTERM, FORCE_COLOR: 'false' }, 0, 'FORCE_COLOR=false says no'],
  ['auto', true, { TERM: 'dumb', FORCE_COLOR: '1' }, 1, 'FORCE_COLOR goes before TERM=dumb'],
  ['auto', true, { NO_COLOR: '1', FORCE_COLOR: '3' }, 0, 'NO_COLOR goes before FORCE_COLOR'],
  ['always', false, { NO_COLOR: '1', TERM: 'dumb' }, 1, 'the flag goes before everything'],
  ['always', false, XTERM, 2, 'the flag asks for what the terminal can'],
  ['always', false, { FORCE_COLOR: '3' }, 3, 'the flag takes a level from FORCE_COLOR'],
  ['always', false, { FORCE_COLOR: '0' }, 1, 'the flag goes before FORCE_COLOR=0'],
  ['never', true, { ...XTERM, FORCE_COLOR: '3' }, 0, 'the flag goes before everything'],
];

describe('decideColorLevel', () => {
  it.each(ROWS)('--color %s, terminal %s, %o gives %i: %s', (flag, isTTY, env, level) => {
    expect(decideColorLevel({ flag, isTTY, env })).toBe(level);
  });
});
