// What turning a binary value into text means: the shape of a converter, and the errors they share.
// https://www.postgresql.org/docs/current/protocol-overview.html#PROTOCOL-FORMAT-CODES

import type { ByteWriter } from '../../byte-writer.ts';
import { ProtocolViolation } from '../../errors.ts';

/**
 * Appends the text that the type's output function makes of the value whose send function made
 * `source[start, end)`. The range must lie within `source`. The room is reserved here.
 * Bytes that no send function makes throw a ProtocolViolation whose offset counts from the start of
 * the innermost value; what was appended until then stays.
 */
export type BinaryToText = (out: ByteWriter, source: Buffer, start: number, end: number) => void;

/** A value that is not in its type's binary format. */
export function malformed(type: string, problem: string, offset = 0): ProtocolViolation {
  return new ProtocolViolation(`binary ${type}`, problem, offset);
}

/** Throws unless the value is as long as every value of its type. */
export function expectLength(type: string, start: number, end: number, expected: number): void {
  if (end - start === expected) return;
  throw malformed(type, `${expected} bytes expected, got ${end - start}`);
}

/**
 * An element or attribute turned out to be of a type that has no converter: its composite type
 * was altered since it was looked up. The text format still has the value.
 */
export class NoBinaryDecoder extends ProtocolViolation {
  readonly typeId: number;

  constructor(typeId: number, offset: number, where?: string) {
    super('binary value', `no decoder for type ${typeId}`, offset, where);
    this.typeId = typeId;
  }

  override within(where: string): NoBinaryDecoder {
    return new NoBinaryDecoder(this.typeId, this.offset, where);
  }
}
