// JSON strings the way the server's escape_json writes them, from bytes to bytes.
// https://www.postgresql.org/docs/current/functions-json.html

import { ByteWriter } from '../byte-writer.ts';

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
  const bytes = out.bytes;
  let at = out.length;
  bytes[at++] = QUOTE;
  // A plain loop: quicker than every search-and-copy tried, on long texts too.
  for (let i = start; i < end; i++) {
    const byte = source[i]!;
    const letter = ESCAPES[byte]!;
    if (letter === 0) {
      bytes[at++] = byte;
      continue;
    }
    bytes[at++] = BACKSLASH;
    bytes[at++] = letter;
    if (letter === 0x75) {
      bytes[at++] = 0x30;
      bytes[at++] = 0x30;
      bytes[at++] = HEX[byte >> 4]!;
      bytes[at++] = HEX[byte & 15]!;
    }
  }
  bytes[at++] = QUOTE;
  out.length = at;
}

/** A JSON string as bytes, for what is made once: names, keys, gids. */
export function jsonStringBytes(text: string): Buffer {
  const source = Buffer.from(text, 'utf8');
  const room = source.length * MAX_ESCAPED_BYTE + 2;
  const out = new ByteWriter(room);
  writeJsonString(out, source, 0, source.length);
  return out.bytes.subarray(0, out.length);
}
