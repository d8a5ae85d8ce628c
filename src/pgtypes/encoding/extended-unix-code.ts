// EUC: characters of two bytes, in Japan also of three, that all have their highest bit set.
// https://www.postgresql.org/docs/current/multibyte.html#MULTIBYTE-CHARSET-SUPPORTED

import { TextDecoder } from 'node:util';
import { appendCharacter } from './single-byte.ts';
import { type AppendUtf8, FIRST_HIGH_BYTE } from './text-encoding.ts';

/** Single shifts: the next character, of one or of two bytes, is of another set. */
const SHIFT_TO_KANA = 0x8e;
const SHIFT_TO_SUPPLEMENT = 0x8f;
/** The bytes of a character besides a shift. */
const LOWEST_BYTE = 0xa1;
const HIGHEST_BYTE = 0xfe;

interface UnixCode {
  /** TextDecoder's name for an encoding that holds this one. */
  readonly label: string;
  readonly hasShifts: boolean;
  /** Characters that TextDecoder does not have, or has differently than the server. */
  readonly exceptions: ReadonlyMap<number, string>;
}

/** Characters that follow each other, row by row of 94. */
function rows(first: number, characters: string): [number, string][] {
  let code = first;
  return [...characters].map((character) => {
    const entry: [number, string] = [code, character];
    code += (code & 0xff) === HIGHEST_BYTE ? 0x100 - HIGHEST_BYTE + LOWEST_BYTE : 1;
    return entry;
  });
}

/** Of IBM: Roman numerals, and kanji that JIS X 0212 does not have. */
const IBM_EXTENSIONS =
  'ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ＇＂㈱№℡炻仼僴凬匇匤\ufa0e咊坙\ufa0f\ufa10增寬峵嵓\ufa11德悅愠敎昻晥\ufa12\uf929栁\ufa13\ufa14橫櫢淸淲瀨\ufa15\ufa16甁皂皞\ufa17礰\ufa18\ufa19\ufa1a\ufa1b竧\ufa1c\ufa1d綠緖\ufa1e荢\ufa1f薰\ufa20\ufa21蠇\ufa22譿賴赶\ufa23\ufa24\ufa25郞\ufa26鄕\ufa27\ufa28閒\uf9dc\ufa29霻靍靑\ufa2a\ufa2b\ufa2c馞髙魲\ufa2d黑';

export const EUC_JP: UnixCode = {
  label: 'euc-jp',
  hasShifts: true,
  exceptions: new Map([[0x8fa2c3, '￤'], ...rows(0x8ff3f3, IBM_EXTENSIONS)]),
};

export const EUC_KR: UnixCode = {
  label: 'euc-kr',
  hasShifts: false,
  exceptions: new Map(rows(0xa2e6, '€®㉾')),
};

export const EUC_CN: UnixCode = {
  label: 'gbk',
  hasShifts: false,
  exceptions: new Map([
    [0xa1a4, '・'],
    [0xa1aa, '―'],
  ]),
};

/** Each character is decoded once, when it is first met. */
export function unixCode({ label, hasShifts, exceptions }: UnixCode): AppendUtf8 {
  const decoder = new TextDecoder(label, { fatal: true });
  const known = new Map<number, Buffer | null>();
  const characterAt = (source: Buffer, at: number, length: number): Buffer | null => {
    const code = source.readUIntBE(at, length);
    let character = known.get(code);
    if (character === undefined) {
      const text = exceptions.get(code) ?? decoded(decoder, source.subarray(at, at + length));
      character = text === undefined ? null : Buffer.from(text);
      known.set(code, character);
    }
    return character;
  };
  return (out, source, start, end) => {
    for (let at = start; at < end; ) {
      const lead = source[at]!;
      if (lead < FIRST_HIGH_BYTE) {
        out.bytes[out.length++] = lead;
        at++;
        continue;
      }
      const length = hasShifts && lead === SHIFT_TO_SUPPLEMENT ? 3 : 2;
      if (at + length > end || !isCharacter(source, at, length, hasShifts)) return false;
      const character = characterAt(source, at, length);
      if (character === null) return false;
      appendCharacter(out, character);
      at += length;
    }
    return true;
  };
}

/** TextDecoder's encodings have characters elsewhere too, which the server's have not. */
function isCharacter(source: Buffer, at: number, length: number, hasShifts: boolean): boolean {
  const isShifted =
    hasShifts && (source[at] === SHIFT_TO_KANA || source[at] === SHIFT_TO_SUPPLEMENT);
  for (let i = isShifted ? at + 1 : at; i < at + length; i++) {
    if (source[i]! < LOWEST_BYTE || source[i]! > HIGHEST_BYTE) return false;
  }
  return true;
}

function decoded(decoder: TextDecoder, bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined; // fatal: it throws for what is no character, and for nothing else
  }
}
