// Encodings in which each byte is a character.

import type { ByteWriter } from '../../byte-writer.ts';
import { type AppendUtf8, FIRST_HIGH_BYTE } from './text-encoding.ts';
import { UNASSIGNED } from './upper-halves.ts';

/** `upperHalf` holds the characters of the bytes from 0x80 on. */
export function singleByte(upperHalf: string): AppendUtf8 {
  const characters = [...upperHalf].map((character) =>
    character === UNASSIGNED ? undefined : Buffer.from(character),
  );
  return (out, source, start, end) => {
    for (let i = start; i < end; i++) {
      const byte = source[i]!;
      if (byte < FIRST_HIGH_BYTE) {
        out.bytes[out.length++] = byte;
        continue;
      }
      const character = characters[byte - FIRST_HIGH_BYTE];
      if (character === undefined) return false;
      appendCharacter(out, character);
    }
    return true;
  };
}

/** At most three bytes: a loop is quicker than a copy. */
export function appendCharacter(out: ByteWriter, character: Buffer): void {
  const { bytes } = out;
  for (let i = 0; i < character.length; i++) bytes[out.length++] = character[i]!;
}
