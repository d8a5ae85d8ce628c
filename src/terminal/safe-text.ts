// Makes text from outside harmless on a terminal: whatever is not printed as itself is shown as an
// escape. https://www.unicode.org/reports/tr36/ tells what such characters are used for.

import { graphemes, graphemeWidth, isEmojiSequence, isOneColumnEach } from './width.ts';

/**
 * Controls (C0, DEL, C1), format characters (bidi, zero width, byte order mark, tags, soft hyphen),
 * lone surrogates, line and paragraph separators, and all that is made to be invisible.
 * ZWJ and variation selectors stay where they form an emoji, nowhere else.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Without a base before them these would land on what we printed before the text. */
const NEEDS_A_BASE = /^[\p{M}\u1160-\u11ff\ud7b0-\ud7fb]/u;

/** UTF-16 units. A couple kissing, each with a skin tone, has 15; towers of marks have more. */
const LONGEST_GRAPHEME = 24;

const NAMED_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

export type Mark = (shown: string) => string;

export interface FittedText {
  /** Safe to print, at most the asked columns wide. */
  readonly text: string;
  readonly width: number;
  /** Whether nothing was cut off. */
  readonly whole: boolean;
}

const unmarked: Mark = (shown) => shown;

/**
 * The text with each unsafe character shown: `\n`, `\x1b`, `\u{202e}`. A backslash of the text
 * itself stays single: paths, patterns and JSON are full of them, and doubling each would show
 * people something else than their data. `mark` (reverse video) is what tells the two apart.
 */
export function safeText(text: string, mark: Mark = unmarked): string {
  return fitText(text, Number.POSITIVE_INFINITY, mark).text;
}

/** As much of the safe text as fits; neither a character nor an escape is ever cut in two. */
export function fitText(text: string, columns: number, mark: Mark = unmarked): FittedText {
  if (!isOneColumnEach(text)) return fitGraphemes(text, columns, mark);
  if (text.length <= columns) return { text, width: text.length, whole: true };
  return { text: text.slice(0, Math.max(columns, 0)), width: Math.max(columns, 0), whole: false };
}

function fitGraphemes(text: string, columns: number, mark: Mark): FittedText {
  let fitted = '';
  let width = 0;
  for (const grapheme of graphemes(text)) {
    for (const piece of safePieces(grapheme)) {
      const pieceWidth = piece.escaped ? piece.text.length : graphemeWidth(piece.text);
      if (width + pieceWidth > columns) return { text: fitted, width, whole: false };
      fitted += piece.escaped ? mark(piece.text) : piece.text;
      width += pieceWidth;
    }
  }
  return { text: fitted, width, whole: true };
}

interface Piece {
  text: string;
  readonly escaped: boolean;
}

function safePieces(grapheme: string): readonly Piece[] {
  const isTower = grapheme.length > LONGEST_GRAPHEME;
  if (!isTower && isHarmless(grapheme)) return [{ text: grapheme, escaped: false }];
  const pieces: Piece[] = [];
  for (const character of grapheme) {
    const escaped =
      UNSAFE.test(character) ||
      (NEEDS_A_BASE.test(character) && (isTower || pieces.at(-1)?.escaped !== false));
    const before = pieces.at(-1);
    // what stays together may be one picture: a thumb and its skin tone are as wide as the thumb
    if (!escaped && before?.escaped === false) before.text += character;
    else pieces.push({ text: escaped ? escapeOf(character) : character, escaped });
  }
  return pieces;
}

function isHarmless(grapheme: string): boolean {
  if (isEmojiSequence(grapheme)) return true;
  return !UNSAFE.test(grapheme) && !NEEDS_A_BASE.test(grapheme);
}

function escapeOf(character: string): string {
  const named = NAMED_ESCAPES[character];
  if (named !== undefined) return named;
  const hex = character.codePointAt(0)!.toString(16);
  return hex.length <= 2 ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`;
}
