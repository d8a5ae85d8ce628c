// Numbers, positions and times as bytes, into room that was reserved.

import { appendBlock, appendWritten, Block, ByteWriter } from '../../byte-writer.ts';
import type { Lsn } from '../../lsn.ts';
import { formatTimestamp, type PgTimestamp } from '../../wire/timestamp.ts';

const ZERO = 0x30;
const SLASH = 0x2f;
const POINT = 0x2e;
const UTC = new Block('+00:00');
const LARGEST_UINT32 = 0xffff_ffff;
const HEX = Buffer.from('0123456789ABCDEF');

/** A whole number, not negative, in decimal. */
export function appendNumber(out: ByteWriter, value: number): void {
  if (value > LARGEST_UINT32) return out.text(String(value));
  const end = out.length + decimalDigits(value);
  storeDigits(out.bytes, out.length, end, value);
  out.length = end;
}

/** A position as the two unsigned 32-bit halves that stand on the wire: `16/B374D848`. */
export function appendLsnWords(out: ByteWriter, high: number, low: number): void {
  appendHex(out, high);
  out.bytes[out.length++] = SLASH;
  appendHex(out, low);
}

export function appendLsn(out: ByteWriter, lsn: Lsn): void {
  appendLsnWords(out, Number(lsn >> 32n), Number(lsn & 0xffff_ffffn));
}

const MICROS_PER_SECOND = 1_000_000;
const CLOCK_LENGTH = '2026-11-29T20:36:50'.length;
const FRACTION_DIGITS = 6;

/**
 * Prints timestamps as formatTimestamp does. Most transactions committed in the same second as the
 * one before, and what stands before the fraction is kept.
 */
export class TimestampWriter {
  readonly #clock = new ByteWriter(64);
  #second = Number.NaN;

  append(out: ByteWriter, time: PgTimestamp): void {
    const micros = Number(time);
    if (!Number.isSafeInteger(micros)) return out.text(formatTimestamp(time));
    const second = Math.floor(micros / MICROS_PER_SECOND);
    if (second !== this.#second) this.#newSecond(second);
    appendWritten(out, this.#clock);
    appendFraction(out, micros - second * MICROS_PER_SECOND);
    appendBlock(out, UTC);
  }

  #newSecond(second: number): void {
    this.#second = second;
    this.#clock.length = 0;
    const text = formatTimestamp(BigInt(second) * BigInt(MICROS_PER_SECOND));
    this.#clock.text(text.slice(0, CLOCK_LENGTH));
  }
}

/** `.055877` without the zeros at its end; nothing of none. */
function appendFraction(out: ByteWriter, micros: number): void {
  if (micros === 0) return;
  const { bytes } = out;
  bytes[out.length] = POINT;
  let end = out.length + 1 + FRACTION_DIGITS;
  storeDigits(bytes, out.length + 1, end, micros);
  while (bytes[end - 1] === ZERO) end--;
  out.length = end;
}

/** An unsigned 32-bit number in hexadecimal without leading zeros. */
function appendHex(out: ByteWriter, value: number): void {
  const digits = value === 0 ? 1 : (35 - Math.clz32(value)) >> 2;
  const end = out.length + digits;
  const { bytes } = out;
  let rest = value;
  for (let at = end - 1; at >= out.length; at--) {
    bytes[at] = HEX[rest & 15]!;
    rest >>>= 4;
  }
  out.length = end;
}

/** Fills `bytes[start, end)` with the last digits of a value below 2^32. */
function storeDigits(bytes: Buffer, start: number, end: number, value: number): void {
  let rest = value >>> 0; // known to be whole, it is divided as an integer
  for (let at = end - 1; at >= start; at--) {
    const tenth = (rest / 10) >>> 0;
    bytes[at] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
}

function decimalDigits(value: number): number {
  if (value < 10_000) {
    if (value < 100) return value < 10 ? 1 : 2;
    return value < 1000 ? 3 : 4;
  }
  if (value < 100_000_000) {
    if (value < 1_000_000) return value < 100_000 ? 5 : 6;
    return value < 10_000_000 ? 7 : 8;
  }
  return value < 1_000_000_000 ? 9 : 10;
}
