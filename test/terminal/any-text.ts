// Arbitrary text that is rich in what terminals stumble over, and the test for what must not come out.

import fc from 'fast-check';

const hostile = fc.constantFrom(
  '\x1b[31m',
  '\x1b]0;owned\x07',
  '\x9b',
  '\n',
  '\t',
  '\r',
  '\0',
  '\x7f',
  '\u202e',
  '\u2066',
  '\u200e',
  '\u061c',
  '\u200b',
  '\u200d',
  '\ufe0f',
  '\ufeff',
  '\u2028',
  '\u{e0041}',
  '\ud83d',
  '\ude00',
  '\u0301',
  '\u0600',
  '\u1161',
  '👨‍👩‍👧',
  '🇵',
  '👍🏽',
  '☕',
  '磁',
  'é',
  'ê',
  '  ',
  '→',
  '∅',
  "'",
  '"',
  'NULL',
  '…',
  '‹',
);

export const anyText = fc
  .array(fc.oneof(hostile, fc.string({ unit: 'binary', maxLength: 8 }), fc.string()), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''));

/** Controls, bidi, invisible and format characters; ZWJ and U+FE0F may be part of an emoji. */
export const UNSAFE_ON_A_TERMINAL =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]|(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d/u;
