// What is known of each type OID: its name to show, and how its values become JSON.

import type { TypeName } from '../pgoutput/messages.ts';
import { arrayEncoder, vectorEncoder } from './array.ts';
import { builtinArrayElement, builtinType, builtinTypeNamed, OID } from './builtin-types.ts';
import {
  type ColumnEncoder,
  encodeBool,
  encodeJson,
  encodeNumber,
  encodeString,
  encodeTimestamp,
  encodeTimestamptz,
} from './encoder.ts';
import { builtinTypeName, qualifiedTypeName } from './type-name.ts';

/**
 * Built-in types are known from the start; a Type message announces any other before the first
 * relation that uses it. An encoder depends only on what was announced when it was asked for.
 */
export class TypeRegistry {
  readonly #announced = new Map<number, TypeName>();

  announce(type: TypeName): void {
    this.#announced.set(type.typeId, type);
  }

  announced(typeId: number): TypeName | undefined {
    return this.#announced.get(typeId);
  }

  /** As format_type() prints it; `type 16999` if nobody told. */
  name(typeId: number, typmod: number): string {
    const builtin = builtinTypeName(this.#baseType(typeId), typmod);
    if (builtin !== undefined) return builtin;
    const announced = this.#announced.get(typeId);
    return announced ? qualifiedTypeName(announced.schema, announced.name) : `type ${typeId}`;
  }

  /** A type nothing is known of is shown as the server's text, a JSON string: never wrong. */
  encoder(typeId: number): ColumnEncoder {
    return builtinEncoder(this.#baseType(typeId)) ?? encodeString;
  }

  /** A domain is announced with its own OID and the name of its base type, here a built-in one. */
  #baseType(typeId: number): number {
    const announced = this.#announced.get(typeId);
    if (announced?.schema !== 'pg_catalog') return typeId;
    const { name } = announced;
    if (!name.startsWith('_')) return builtinTypeNamed(name)?.typeId ?? typeId;
    return builtinTypeNamed(name.slice(1))?.arrayTypeId ?? typeId;
  }
}

function builtinEncoder(typeId: number): ColumnEncoder | undefined {
  const element = builtinArrayElement(typeId);
  if (element === undefined) return builtinType(typeId) && scalarEncoder(typeId);
  const delimiter = element.typeId === OID.box ? ';' : ',';
  return arrayEncoder(scalarEncoder(element.typeId), delimiter.charCodeAt(0));
}

/** The categories of row_to_json: whatever is none of these is a string. */
function scalarEncoder(typeId: number): ColumnEncoder {
  switch (typeId) {
    case OID.bool:
      return encodeBool;
    case OID.int2:
    case OID.int4:
    case OID.int8:
    case OID.float4:
    case OID.float8:
    case OID.numeric:
      return encodeNumber;
    case OID.json:
    case OID.jsonb:
      return encodeJson;
    case OID.timestamp:
      return encodeTimestamp;
    case OID.timestamptz:
      return encodeTimestamptz;
    case OID.int2vector:
      return vectorEncoder(encodeNumber);
    case OID.oidvector:
      return vectorEncoder(encodeString);
    default:
      return encodeString;
  }
}
