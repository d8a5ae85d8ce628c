// inet and cidr: IPv4 and IPv6 addresses with the bits of their network.
// https://www.postgresql.org/docs/current/datatype-net-types.html

import type { ByteWriter } from '../../byte-writer.ts';
import { type BinaryToText, malformed } from './conversion.ts';
import { storeUint, writeByte, writeInt } from './digits.ts';
import { uint16At } from './words.ts';

/** Family, bits, whether it is a cidr, length of the address. */
const HEADER = 4;
const IPV4 = { family: 2, bits: 32 } as const;
const IPV6 = { family: 3, bits: 128 } as const;

const POINT = 0x2e;
const COLON = 0x3a;
const SLASH = 0x2f;

export const inetToText = network('inet');
export const cidrToText = network('cidr');

/** The bits are left out where they are all of the address, but not in a cidr. */
function network(type: 'inet' | 'cidr'): BinaryToText {
  return (out, source, start, end) => {
    const { family, bits: allBits } = familyOf(type, source, start, end);
    const bits = source[start + 1]!;
    if (bits > allBits) throw malformed(type, `${bits} bits of ${allBits}`, 1);
    if (family === IPV4.family) writeIpv4(out, source, start + HEADER);
    else writeIpv6(out, source, start + HEADER);
    if (bits === allBits && type === 'inet') return;
    writeByte(out, SLASH);
    writeInt(out, bits);
  };
}

function familyOf(type: string, source: Buffer, start: number, end: number) {
  if (end - start < HEADER) throw malformed(type, `${HEADER} bytes needed, got ${end - start}`);
  const code = source[start]!;
  if (code !== IPV4.family && code !== IPV6.family) {
    throw malformed(type, `unknown address family ${code}`);
  }
  const family = code === IPV4.family ? IPV4 : IPV6;
  const length = family.bits / 8;
  if (source[start + 3] !== length || end - start !== HEADER + length) {
    const got = end - start - HEADER;
    throw malformed(type, `${length} bytes of address expected, got ${got}`, 3);
  }
  return family;
}

function writeIpv4(out: ByteWriter, source: Buffer, start: number): void {
  out.reserve(15);
  const { bytes, words } = out;
  let at = out.length;
  for (let i = 0; i < 4; i++) {
    if (i > 0) bytes[at++] = POINT;
    at = storeUint(words, at, source[start + i]!);
  }
  out.length = at;
}

const WORDS = 8;

/** Of the longest runs of zero words the first is `::`, if it is longer than one word. */
function writeIpv6(out: ByteWriter, source: Buffer, start: number): void {
  const run = longestZeroRun(source, start);
  const words = endsInIpv4(source, start, run) ? WORDS - 2 : WORDS;
  out.reserve(48);
  for (let i = 0; i < words; i++) {
    if (i === run.start) {
      out.bytes[out.length++] = COLON;
      i += run.length - 1;
      if (i === WORDS - 1) out.bytes[out.length++] = COLON;
      continue;
    }
    if (i > 0) out.bytes[out.length++] = COLON;
    out.text(uint16At(source, start + 2 * i).toString(16));
  }
  if (words === WORDS) return;
  writeByte(out, COLON);
  writeIpv4(out, source, start + 2 * words);
}

interface ZeroRun {
  readonly start: number;
  readonly length: number;
}

function longestZeroRun(source: Buffer, start: number): ZeroRun {
  let longest: ZeroRun = { start: -1, length: 1 };
  let length = 0;
  for (let i = 0; i < WORDS; i++) {
    length = uint16At(source, start + 2 * i) === 0 ? length + 1 : 0;
    if (length > longest.length) longest = { start: i - length + 1, length };
  }
  return longest;
}

/** `::1.2.3.4`, the old compatible form, and `::ffff:1.2.3.4`, the mapped one. */
function endsInIpv4(source: Buffer, start: number, run: ZeroRun): boolean {
  if (run.start !== 0) return false;
  return run.length === 6 || (run.length === 5 && uint16At(source, start + 10) === 0xffff);
}
