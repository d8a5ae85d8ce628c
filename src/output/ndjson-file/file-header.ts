// The first line of a file: whose changes it holds, and from where on.

import { formatLsn, type Lsn, parseLsn } from '../../lsn.ts';

export const FORMAT_VERSION = 1;
/** No header line is longer. */
export const LONGEST_HEADER = 4096;

/** Whose changes a file holds. */
export interface FileOrigin {
  readonly slot: string;
  /** The database system identifier, as IDENTIFY_SYSTEM gives it. */
  readonly system: string;
}

export interface FileHeader extends FileOrigin {
  readonly timeline: number;
  /** Everything that ends after this position stands behind the header. */
  readonly afterLsn: Lsn;
}

export function headerLine({ slot, system, timeline, afterLsn }: FileHeader): Buffer {
  const fields = { slot, system, timeline, after_lsn: formatLsn(afterLsn) };
  return Buffer.from(`${JSON.stringify({ op: 'pgtail', version: FORMAT_VERSION, ...fields })}\n`);
}

/** What every header line begins with, also of another version. */
export const HEADER_START = Buffer.from('{"op":"pgtail",');

const TORN_START = Buffer.from(`{"op":"pgtail","version":${FORMAT_VERSION},"slot":`);

/** What a crash can leave of a first line that was being written: a part of it, then zeros. */
export function isTornHeader(bytes: Buffer): boolean {
  const zeros = bytes.indexOf(0);
  const text = zeros === -1 ? bytes : bytes.subarray(0, zeros);
  if (!bytes.subarray(text.length).every((byte) => byte === 0)) return false;
  const length = Math.min(text.length, TORN_START.length);
  return text.subarray(0, length).equals(TORN_START.subarray(0, length));
}

/** The version alone if it is another one; undefined if the line is no header. */
export function parseHeader(line: string): FileHeader | { readonly version: number } | undefined {
  const { op, version, slot, system, timeline, after_lsn: after } = jsonObject(line);
  if (op !== 'pgtail' || typeof version !== 'number') return undefined;
  if (version !== FORMAT_VERSION) return { version };
  const afterLsn = typeof after === 'string' ? parseLsn(after) : undefined;
  if (typeof slot !== 'string' || typeof system !== 'string') return undefined;
  if (typeof timeline !== 'number' || afterLsn === undefined) return undefined;
  return { slot, system, timeline, afterLsn };
}

/** The keys of a line; none if it is not an object in JSON. */
export function jsonObject(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
