// The theme: colours by level, independent of the environment.

import { describe, expect, it } from 'vitest';
import { createTheme } from '../../src/terminal/theme.ts';

describe('createTheme', () => {
  it('leaves every text as it is at level 0', () => {
    const painted = Object.values(createTheme(0))
      .flat()
      .map((paint) => paint('paid'));
    expect(new Set(painted)).toEqual(new Set(['paid']));
  });

  it('wraps text in the codes of its role', () => {
    const theme = createTheme(1);
    expect(theme.insert('+')).toBe('\x1b[32m+\x1b[39m');
    expect(theme.truncate('!')).toBe('\x1b[1m\x1b[31m!\x1b[39m\x1b[22m');
    expect(theme.string('paid')).toBe('paid');
  });

  it('marks escapes with a code whose end ends no other role', () => {
    const theme = createTheme(1);
    const ends = new Set(['\x1b[22m', '\x1b[23m', '\x1b[24m', '\x1b[39m']);
    expect(ends).not.toContain(theme.escape('\\n').slice(-5));
    expect(theme.json(`{${theme.escape('\\n')}}`)).toBe('\x1b[34m{\x1b[7m\\n\x1b[27m}\x1b[39m');
  });
});
