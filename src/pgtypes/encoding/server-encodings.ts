// PostgreSQL's names for the encodings of databases, as far as they can be read here.
// https://www.postgresql.org/docs/current/multibyte.html#MULTIBYTE-CHARSET-SUPPORTED

import { EUC_CN, EUC_JP, EUC_KR, unixCode } from './extended-unix-code.ts';
import { singleByte } from './single-byte.ts';
import { type AppendUtf8, appendUtf8, type TextEncoding } from './text-encoding.ts';
import { UPPER_HALVES } from './upper-halves.ts';

const ENCODINGS: Readonly<Record<string, () => AppendUtf8>> = {
  UTF8: () => appendUtf8,
  ...Object.fromEntries(
    Object.entries(UPPER_HALVES).map(([name, upperHalf]) => [name, () => singleByte(upperHalf)]),
  ),
  EUC_JP: () => unixCode(EUC_JP),
  EUC_KR: () => unixCode(EUC_KR),
  EUC_CN: () => unixCode(EUC_CN),
};

export const SERVER_ENCODINGS: readonly string[] = Object.keys(ENCODINGS);

/** The server's other names, as pg_char_to_encoding() knows them. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  UTF8: ['unicode'],
  LATIN1: ['iso88591'],
  LATIN2: ['iso88592'],
  LATIN3: ['iso88593'],
  LATIN4: ['iso88594'],
  LATIN5: ['iso88599'],
  LATIN6: ['iso885910'],
  LATIN7: ['iso885913'],
  LATIN8: ['iso885914'],
  LATIN9: ['iso885915'],
  LATIN10: ['iso885916'],
  WIN1250: ['windows1250'],
  WIN1251: ['windows1251', 'win'],
  WIN1252: ['windows1252'],
  WIN1253: ['windows1253'],
  WIN1254: ['windows1254'],
  WIN1255: ['windows1255'],
  WIN1256: ['windows1256'],
  WIN1257: ['windows1257'],
  WIN1258: ['windows1258', 'abc', 'tcvn', 'tcvn5712', 'vscii'],
  WIN866: ['windows866', 'alt'],
  WIN874: ['windows874'],
  KOI8R: ['koi8'],
};

/** Case and whatever is no letter or digit do not count, as for the server. */
export function serverEncoding(asked: string): TextEncoding | undefined {
  const wanted = withoutSigns(asked);
  const name = SERVER_ENCODINGS.find(
    (known) => withoutSigns(known) === wanted || ALIASES[known]?.includes(wanted),
  );
  return name === undefined ? undefined : { name, append: ENCODINGS[name]!() };
}

const withoutSigns = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
