// What reaches the terminal as itself and what is shown as an escape.

import { describe, expect, it } from 'vitest';
import { fitText, safeText } from '../../src/terminal/safe-text.ts';

describe('safeText', () => {
  it.each([
    ['two lines', 'line 1\nline 2\r\n\tend', 'line 1\\nline 2\\r\\n\\tend'],
    ['a colour sequence', '\x1b[31mred', '\\x1b[31mred'],
    ['a title sequence', '\x1b]0;owned\x07', '\\x1b]0;owned\\x07'],
    ['NUL and DEL', '\0\x7f', '\\x00\\x7f'],
    ['the C1 form of CSI', '\x9b31m', '\\x9b31m'],
    ['bidi overrides and isolates', 'a\u202eb\u2066c\u2069', 'a\\u{202e}b\\u{2066}c\\u{2069}'],
    ['bidi marks', '\u200e\u200f\u061c', '\\u{200e}\\u{200f}\\u{61c}'],
    ['zero-width characters', 'pay\u200bpal\u200c\u2060', 'pay\\u{200b}pal\\u{200c}\\u{2060}'],
    ['a joiner that joins no emoji', 'a\u200db', 'a\\u{200d}b'],
    ['a byte order mark', '\ufeffid', '\\u{feff}id'],
    ['line separators', '\u2028\u2029', '\\u{2028}\\u{2029}'],
    ['hidden tag letters', 'ok\u{e0068}\u{e0069}', 'ok\\u{e0068}\\u{e0069}'],
    ['hidden variation selectors', 'ok\u{e0101}\ufe01', 'ok\\u{e0101}\\u{fe01}'],
    ['a soft hyphen', 'co\u00adop', 'co\\xadop'],
    ['invisible letters', '\u3164\u115f', '\\u{3164}\\u{115f}'],
    ['lone surrogates', '\ud83d!\ude00', '\\u{d83d}!\\u{de00}'],
    ['a mark without a base', '\u0301a', '\\u{301}a'],
  ])('shows %s', (_, text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  it.each([
    ['Espresso cup'],
    ['C:\\new\\table'],
    ['Ine\u0302s Kovač'],
    ['磁器のカップ ☕'],
    ['👨‍👩‍👧‍👦 👍🏽 🇵🇹 1️⃣ ❤️'],
    ['नमस्ते'],
    ['שלום'],
  ])('leaves %j as it is', (text) => {
    expect(safeText(text)).toBe(text);
  });

  it('shows a tower of marks as what it is', () => {
    const tower = `Z${'\u0300'.repeat(40)}`;
    expect(safeText(tower)).toBe(`Z${'\\u{300}'.repeat(40)}`);
  });

  it('marks escapes, and so tells them from a backslash in the text', () => {
    expect(safeText('\\n is\n', (shown) => `<${shown}>`)).toBe('\\n is<\\n>');
  });
});

describe('fitText', () => {
  it('says whether all of it is there and how wide it is', () => {
    expect(fitText('paid', 10)).toEqual({ text: 'paid', width: 4, whole: true });
    expect(fitText('磁器', 3)).toEqual({ text: '磁', width: 2, whole: false });
  });

  it('never cuts an escape in two', () => {
    expect(fitText('ab\u202ecd', 9)).toEqual({ text: 'ab', width: 2, whole: false });
    expect(fitText('ab\u202ecd', 10)).toEqual({ text: 'ab\\u{202e}', width: 10, whole: false });
  });

  it('counts a picture as one also where a joiner is left over behind it', () => {
    const thumb = '\u{1f44d}\u{1f3fd}';
    expect(fitText(`${thumb}\u200d`, 4)).toEqual({ text: thumb, width: 2, whole: false });
    expect(fitText(`${thumb}\u200d`, 10)).toEqual({
      text: `${thumb}\\u{200d}`,
      width: 10,
      whole: true,
    });
  });
});
