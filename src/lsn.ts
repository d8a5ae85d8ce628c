// Log sequence numbers: 64-bit positions in the write-ahead log, written as `16/B374D848`.
// https://www.postgresql.org/docs/current/datatype-pg-lsn.html

/** A byte position in the WAL, 0 to 2^64-1. `0n` is "invalid", PostgreSQL's InvalidXLogRecPtr. */
export type Lsn = bigint;

export const INVALID_LSN: Lsn = 0n;

const LSN_TEXT = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/;

/** The text PostgreSQL prints: two hexadecimal halves in upper case, without leading zeros. */
export function formatLsn(lsn: Lsn): string {
  return formatLsnWords(Number(lsn >> 32n), Number(lsn & 0xffff_ffffn));
}

/** The same text from the two unsigned 32-bit halves that stand on the wire. */
export function formatLsnWords(high: number, low: number): string {
  return `${high.toString(16).toUpperCase()}/${low.toString(16).toUpperCase()}`;
}

/** The position that `X/X` names, or undefined if the text is not one. */
export function parseLsn(text: string): Lsn | undefined {
  const match = LSN_TEXT.exec(text);
  if (match === null) return undefined;
  return lsnFromWords(Number.parseInt(match[1]!, 16), Number.parseInt(match[2]!, 16));
}

/** The higher one of two positions. */
export const laterLsn = (a: Lsn, b: Lsn): Lsn => (a > b ? a : b);

/** Joins the two unsigned 32-bit halves that stand on the wire. */
export function lsnFromWords(high: number, low: number): Lsn {
  return (BigInt(high) << 32n) | BigInt(low);
}
