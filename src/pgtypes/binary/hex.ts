// Values shown as hexadecimal digits: bytea, uuid, macaddr, macaddr8 and pg_lsn.
// https://www.postgresql.org/docs/current/datatype-binary.html (bytea_output = hex)

import { type BinaryToText, expectLength } from './conversion.ts';
import { storeHex } from './digits.ts';
import { uint32At } from './words.ts';

/** `\x00ff` */
export const byteaToText: BinaryToText = (out, source, start, end) => {
  out.reserve(2 + 2 * (end - start));
  const { bytes, words } = out;
  bytes[out.length] = 0x5c;
  bytes[out.length + 1] = 0x78;
  out.length = storeHex(words, out.length + 2, source, start, end);
};

const DASH = 0x2d;
const COLON = 0x3a;

export const uuidToText: BinaryToText = (out, source, start, end) => {
  expectLength('uuid', start, end, 16);
  out.reserve(36);
  const { bytes, words } = out;
  let at = storeHex(words, out.length, source, start, start + 4);
  bytes[at] = DASH;
  at = storeHex(words, at + 1, source, start + 4, start + 6);
  bytes[at] = DASH;
  at = storeHex(words, at + 1, source, start + 6, start + 8);
  bytes[at] = DASH;
  at = storeHex(words, at + 1, source, start + 8, start + 10);
  bytes[at] = DASH;
  out.length = storeHex(words, at + 1, source, start + 10, end);
};

export const macaddrToText = macaddr('macaddr', 6);
export const macaddr8ToText = macaddr('macaddr8', 8);

function macaddr(type: string, length: number): BinaryToText {
  return (out, source, start, end) => {
    expectLength(type, start, end, length);
    out.reserve(3 * length);
    const { bytes, words } = out;
    let at = out.length;
    for (let i = start; i < end; i++) {
      if (i > start) bytes[at++] = COLON;
      at = storeHex(words, at, source, i, i + 1);
    }
    out.length = at;
  };
}

/** `16/B374D848`: both halves without zeros in front. */
export const pgLsnToText: BinaryToText = (out, source, start, end) => {
  expectLength('pg_lsn', start, end, 8);
  const high = uint32At(source, start).toString(16);
  const low = uint32At(source, start + 4).toString(16);
  out.text(`${high}/${low}`.toUpperCase());
};
