// Numbers, positions and times as bytes, into room that was reserved.

import { appendBlock, appendWritten, Block, ByteWriter } from '../../byte-writer.ts';
import type { Lsn } from '../../lsn.ts';
import { storeFraction, storeUint } from '../../pgtypes/binary/digits.ts';
import { formatTimestamp, type PgTimestamp } from '../../wire/timestamp.ts';

const SLASH = 0x2f;
const UTC = Block.of('+00:00');
const HEX = Buffer.from('0123456789ABCDEF');

/** A whole number, not negative, in decimal. */
export function appendNumber(out: ByteWriter, value: number): void {
  out.length = storeUint(out.words, out.length, value);
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
    out.length = storeFraction(out.words, out.length, micros - second * MICROS_PER_SECOND);
    appendBlock(out, UTC);
  }

  #newSecond(second: number): void {
    this.#second = second;
    this.#clock.length = 0;
    const text = formatTimestamp(BigInt(second) * BigInt(MICROS_PER_SECOND));
    this.#clock.text(text.slice(0, CLOCK_LENGTH));
  }
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
