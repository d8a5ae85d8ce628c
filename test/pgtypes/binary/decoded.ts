// A value's bytes through the converter of its type, in a writer that has no room to begin with.

import { ByteWriter } from '../../../src/byte-writer.ts';
import { binaryToText } from '../../../src/pgtypes/binary/binary-to-text.ts';
import type { BinaryToText } from '../../../src/pgtypes/binary/conversion.ts';
import type { BinaryTypeLookup } from '../../../src/pgtypes/binary/type-lookup.ts';
import { builtinTypeNamed } from '../../../src/pgtypes/builtin-types.ts';
import { worstCase } from '../../../src/pgtypes/encoder.ts';
import type { TypeAttribute } from '../../../src/pgtypes/type-facts.ts';
import { TypeRegistry } from '../../../src/pgtypes/type-registry.ts';

export function converterOf(typeId: number, types?: BinaryTypeLookup): BinaryToText {
  const converter = binaryToText(typeId, types);
  if (converter === undefined) throw new Error(`no converter for type ${typeId}`);
  return converter;
}

/** The text's bytes; what stands before and behind the value on the wire must not leak in. */
export function textBytes(converter: BinaryToText, value: Buffer): Buffer {
  const source = Buffer.concat([Buffer.from([0xff, 0x7f]), value, Buffer.from([0x31, 0x80, 0xff])]);
  const out = new ByteWriter(1);
  out.text('<');
  converter(out, source, 2, 2 + value.length);
  out.text('>');
  return out.take().subarray(1, -1);
}

/** The value's JSON, straight from its bytes, in just the room that is promised; or undefined. */
export function directJson(typeId: number, value: Buffer): string | undefined {
  const encoder = new TypeRegistry().binaryEncoder(typeId);
  if (encoder === undefined) return undefined;
  const source = Buffer.concat([Buffer.from([0xff, 0x7f]), value, Buffer.from([0x31, 0x80, 0xff])]);
  const out = new ByteWriter(worstCase(value.length));
  encoder(out, source, 2, 2 + value.length);
  return out.take().toString('utf8');
}

/** The OID of a built-in type or, by `int4[]`, of an array of one. */
export function typeIdOf(name: string): number {
  const type = builtinTypeNamed(name.replace(/\[\]$/, ''));
  if (type === undefined) throw new Error(`no built-in type ${name}`);
  return name.endsWith('[]') ? type.arrayTypeId : type.typeId;
}

/** `hex` may have spaces. */
export const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

export function decoded(type: string, hex: string, types?: BinaryTypeLookup): string {
  return textBytes(converterOf(typeIdOf(type), types), bytesOf(hex)).toString('utf8');
}

/** Attributes of a composite type, named after their place. */
export const attributesOf = (...typeIds: readonly number[]): readonly TypeAttribute[] =>
  typeIds.map((typeId, i) => ({ name: `f${i + 1}`, typeId }));
