// Display width and cutting, on text as it really occurs.

import { describe, expect, it } from 'vitest';
import { cutToWidth, displayWidth } from '../../src/terminal/width.ts';

describe('displayWidth', () => {
  it.each([
    ['', 0],
    ['Espresso cup', 12],
    ['Inês Kovač', 10],
    ['Ine\u0302s', 4], // a combining circumflex
    ['Ελλάδα', 6],
    ['Київ', 4],
    ['磁器', 4],
    ['ﾊﾝｶｸ', 4], // halfwidth katakana
    ['ＡＢ', 4], // fullwidth letters
    ['한국어', 6],
    ['\u1112\u1161\u11ab', 2], // one Hangul syllable of three letters
    ['☕', 2],
    ['©', 1],
    ['❤', 1],
    ['❤️', 2],
    ['👍🏽', 2],
    ['👨‍👩‍👧‍👦', 2],
    ['🇵🇹', 2],
    ['1️⃣', 2],
    ['‹10.2 kB› a → b ∅ …', 19],
  ])('%j takes %i columns', (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
  });
});

describe('cutToWidth', () => {
  it('leaves text that fits', () => {
    expect(cutToWidth('Espresso cup', 12)).toBe('Espresso cup');
    expect(cutToWidth('磁器', 4)).toBe('磁器');
  });

  it('ends what it cuts with an ellipsis inside the width', () => {
    expect(cutToWidth('Espresso cup', 9)).toBe('Espresso…');
  });

  it('never cuts a wide character or a picture in two', () => {
    expect(cutToWidth('磁器のカップ', 6)).toBe('磁器…');
    expect(cutToWidth('👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 4)).toBe('👨‍👩‍👧‍👦…');
  });
});
