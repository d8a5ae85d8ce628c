// How many terminal columns a text takes: wide East Asian characters and emoji 2, marks 0.
// https://www.unicode.org/reports/tr11/ (East Asian Width), tr29 (grapheme clusters)

/** Printable characters that take one column each and never join with a neighbour. */
const ONE_COLUMN_EACH =
  /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u2030-\u203e\u2190-\u2193\u2205\u2500-\u257f]*$/;

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;

/** Marks over their base, invisible characters, and the vowels and finals of a Hangul syllable. */
const NO_COLUMN =
  /[\p{Mn}\p{Me}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\ud7b0-\ud7fb]/u;

/** One picture made of several: keycap, flag, variation selector, skin tone, joined sequence. */
const EMOJI_SEQUENCE =
  /^(?:[0-9#*]\ufe0f?\u20e3|\p{Regional_Indicator}{2}|\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{Emoji_Modifier}?(?:\u200d\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)*)$/u;

/** Made when first needed: it takes 12 ms, and most text needs none. */
let clusters: Intl.Segmenter | undefined;

/** The fast answer for most text: its width is its length, and it may be cut anywhere. */
export function isOneColumnEach(text: string): boolean {
  return ONE_COLUMN_EACH.test(text);
}

/** The user-perceived characters of a text. */
export function* graphemes(text: string): Generator<string> {
  clusters ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of clusters.segment(text)) yield segment;
}

/** Whether a grapheme is an emoji whose joiners and selectors are part of the picture. */
export function isEmojiSequence(grapheme: string): boolean {
  return EMOJI_SEQUENCE.test(grapheme);
}

/** The columns of one grapheme. */
export function graphemeWidth(grapheme: string): number {
  if (grapheme.length > 1 && isEmojiSequence(grapheme)) return emojiWidth(grapheme);
  let width = 0;
  for (const character of grapheme) width += characterWidth(character);
  return width;
}

/** The columns of one code point. */
export function characterWidth(character: string): number {
  if (NO_COLUMN.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Only a sign of text style without a selector, such as ©, stays narrow. */
function emojiWidth(grapheme: string): number {
  const [first = '', second] = grapheme;
  return second === undefined || second === '\ufe0e' ? characterWidth(first) : 2;
}

/** The columns a text takes. Escape sequences count as what they are not: strip them first. */
export function displayWidth(text: string): number {
  if (isOneColumnEach(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemes(text)) width += graphemeWidth(grapheme);
  return width;
}

/** The text, or as much of its beginning as fits before a `…`; never more than `columns` wide. */
export function cutToWidth(text: string, columns: number): string {
  if (isOneColumnEach(text)) {
    return text.length <= columns ? text : `${text.slice(0, Math.max(columns - 1, 0))}…`;
  }
  let width = 0;
  let end = 0;
  let cutAt = 0;
  for (const grapheme of graphemes(text)) {
    width += graphemeWidth(grapheme);
    if (width > columns) return `${text.slice(0, cutAt)}…`;
    end += grapheme.length;
    if (width < columns) cutAt = end;
  }
  return text;
}
