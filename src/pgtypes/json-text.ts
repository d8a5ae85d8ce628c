// JSON strings the way the server's escape_json writes them, from bytes to bytes.
// https://www.postgresql.org/docs/current/functions-json.html

import type { ByteWriter } from '../byte-writer.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HEX = Buffer.from('0123456789abcdef');

/** An escape makes at most this many bytes of one: `\u001f`. */
export const MAX_ESCAPED_BYTE = 6;

// For each byte: 0 = as it is, 'u' = \u00xx, else the letter after the backslash.
const ESCAPES = new Uint8Array(256);
for (let control = 0; control < 0x20; control++) ESCAPES[control] = 0x75;
for (const [byte, letter] of Object.entries({ 8: 'b', 9: 't', 10: 'n', 12: 'f', 13: 'r' })) {
  ESCAPES[Number(byte)] = letter.charCodeAt(0);
}
ESCAPES[QUOTE] = QUOTE;
ESCAPES[BACKSLASH] = BACKSLASH;

/**
 * Appends `source[start, end)` as a JSON string with its quotes. The room must have been reserved:
 * MAX_ESCAPED_BYTE bytes for each byte and two for the quotes.
 */
export function writeJsonString(
  out: ByteWriter,
  source: Uint8Array,
  start: number,
  end: number,
): void {
  const from = out.wordsOf(source);
  const { bytes, words } = out;
  let at = out.length;
  bytes[at++] = QUOTE;
  let i = start;
  while (i < end) {
    // 0.5 ns a byte where nothing is to be escaped; a loop over bytes takes 2.2
    let odd = 0;
    for (; i + 4 <= end; i += 4, at += 4) {
      const word = from.getInt32(i, true);
      words.setInt32(at, word, true);
      odd = bytesToEscape(word);
      if (odd !== 0) break;
    }
    if (odd === 0) {
      while (i < end) at = writeEscaped(bytes, at, source[i++]!);
    } else {
      const plain = (31 - Math.clz32(odd & -odd)) >> 3;
      i += plain;
      at = writeEscaped(bytes, at + plain, source[i++]!);
    }
  }
  bytes[at++] = QUOTE;
  out.length = at;
}

/**
 * The top bit of the first byte of a little-endian word that needs an escape, perhaps with bits of
 * bytes behind it; 0 if none does. A byte that is subtracted from borrows from its own top bit, where
 * that was not set, only if it is smaller, or if one before it borrowed.
 */
function bytesToEscape(word: number): number {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const controls = (word - 0x20202020) & ~word;
  const found =
    controls | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes);
  return found & -0x7f7f7f80; // 0x80 in each byte; numbers and no names: bundled constants are variables
}

/** Whether one of the word's four bytes is this one: as above. */
export function holdsByte(word: number, byte: number): boolean {
  const same = word ^ (byte * 0x01010101);
  return ((same - 0x01010101) & ~same & -0x7f7f7f80) !== 0;
}

/** Returns the position behind the byte, or its escape. */
function writeEscaped(bytes: Buffer, at: number, byte: number): number {
  const letter = ESCAPES[byte]!;
  if (letter === 0) {
    bytes[at] = byte;
    return at + 1;
  }
  bytes[at] = BACKSLASH;
  bytes[at + 1] = letter;
  if (letter !== 0x75) return at + 2;
  bytes[at + 2] = 0x30;
  bytes[at + 3] = 0x30;
  bytes[at + 4] = HEX[byte >> 4]!;
  bytes[at + 5] = HEX[byte & 15]!;
  return at + 6;
}

/**
 * The same of a string, for what is made once: names, keys. JSON.stringify escapes as the server
 * does, but for halves of characters, which no name has.
 */
export const jsonString = (text: string): string => JSON.stringify(text);
