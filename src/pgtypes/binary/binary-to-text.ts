// Which converter reads a type's binary values: every built-in type whose text depends on nothing
// but its bytes, and what a database makes of those.

import { builtinArrayElement, builtinType, builtinTypeNamed, OID } from '../builtin-types.ts';
import type { TypeShape } from '../type-facts.ts';
import { arrayToText, type ElementFormat, vectorToText } from './array.ts';
import { bitsToText } from './bits.ts';
import { compositeToText } from './composite.ts';
import { type BinaryToText, NoBinaryDecoder } from './conversion.ts';
import {
  dateToText,
  timestampToText,
  timestamptzToText,
  timeToText,
  timetzToText,
} from './date-time.ts';
import { float4ToText, float8ToText } from './float.ts';
import {
  boxToText,
  circleToText,
  lineToText,
  lsegToText,
  pathToText,
  pointToText,
  polygonToText,
} from './geometry.ts';
import { byteaToText, macaddr8ToText, macaddrToText, pgLsnToText, uuidToText } from './hex.ts';
import {
  boolToText,
  int2ToText,
  int4ToText,
  int8ToText,
  oidToText,
  tidToText,
  xid8ToText,
} from './integer.ts';
import { finiteIntervalToText, intervalToText } from './interval.ts';
import { Nesting } from './nesting.ts';
import { cidrToText, inetToText } from './network.ts';
import { numericToText } from './numeric.ts';
import { multirangeToText, rangeToText } from './range.ts';
import { snapshotToText } from './snapshot.ts';
import { charToText, rawCharToText, textToText, versionedText } from './text.ts';
import { tsqueryToText, tsvectorToText } from './text-search.ts';
import type { BinaryTypeLookup } from './type-lookup.ts';

/**
 * The converter for a type's binary values, or undefined if there is none: then the type's text
 * cannot be told from its bytes (money, reg*, aclitem, xml), or nothing is known of it.
 * Keep it: it is made once for many values. Without `types`, of a server of the newest release.
 */
export function binaryToText(typeId: number, types?: BinaryTypeLookup): BinaryToText | undefined {
  return new Converters(types).of(typeId);
}

/** Whether a column of this type may be asked for in binary. */
export function hasBinaryDecoder(typeId: number, types?: BinaryTypeLookup): boolean {
  return binaryToText(typeId, types) !== undefined;
}

const SCALARS: Readonly<Record<string, BinaryToText>> = {
  bool: boolToText,
  int2: int2ToText,
  int4: int4ToText,
  int8: int8ToText,
  oid: oidToText,
  xid: oidToText,
  cid: oidToText,
  xid8: xid8ToText,
  tid: tidToText,
  float4: float4ToText,
  float8: float8ToText,
  numeric: numericToText,
  text: textToText,
  varchar: textToText,
  bpchar: textToText,
  name: textToText,
  refcursor: textToText,
  char: charToText,
  json: textToText,
  jsonb: versionedText('jsonb'),
  jsonpath: versionedText('jsonpath'),
  bytea: byteaToText,
  uuid: uuidToText,
  date: dateToText,
  time: timeToText,
  timetz: timetzToText,
  timestamp: timestampToText,
  timestamptz: timestamptzToText,
  interval: intervalToText,
  inet: inetToText,
  cidr: cidrToText,
  macaddr: macaddrToText,
  macaddr8: macaddr8ToText,
  bit: bitsToText,
  varbit: bitsToText,
  pg_lsn: pgLsnToText,
  pg_snapshot: snapshotToText,
  txid_snapshot: snapshotToText,
  tsvector: tsvectorToText,
  tsquery: tsqueryToText,
  point: pointToText,
  lseg: lsegToText,
  box: boxToText,
  path: pathToText,
  polygon: polygonToText,
  line: lineToText,
  circle: circleToText,
};

/** Range types, their subtypes and their multirange types. */
const RANGES = [
  ['int4range', 'int4', 'int4multirange'],
  ['int8range', 'int8', 'int8multirange'],
  ['numrange', 'numeric', 'nummultirange'],
  ['tsrange', 'timestamp', 'tsmultirange'],
  ['tstzrange', 'timestamptz', 'tstzmultirange'],
  ['daterange', 'date', 'datemultirange'],
] as const;

const idOf = (name: string): number => builtinTypeNamed(name)!.typeId;

const SHAPES = new Map<number, TypeShape>(
  RANGES.flatMap(([range, subtype, multirange]) => [
    [idOf(range), { kind: 'range', subtype: idOf(subtype) }],
    [idOf(multirange), { kind: 'multirange', range: idOf(range) }],
  ]),
);

/** The shape of a built-in type that is made of others. */
function builtinShape(typeId: number): TypeShape | undefined {
  const element = builtinArrayElement(typeId);
  if (element === undefined) return SHAPES.get(typeId);
  return { kind: 'array', element: element.typeId, delimiter: builtinDelimiter(element.typeId) };
}

const builtinDelimiter = (elementId: number): string => (elementId === OID.box ? ';' : ',');

/** What one release prints otherwise than the newest. */
function olderScalar(name: string, serverMajor: number): BinaryToText | undefined {
  if (name === 'char' && serverMajor < 15) return rawCharToText;
  if (name === 'interval' && serverMajor < 17) return finiteIntervalToText;
  return undefined;
}

/** The converters that may meet within one value, each made when it is first needed. */
class Converters {
  readonly #types: BinaryTypeLookup | undefined;
  readonly #nesting = new Nesting();
  readonly #known = new Map<number, BinaryToText | undefined>();

  constructor(types: BinaryTypeLookup | undefined) {
    this.#types = types;
  }

  of(typeId: number): BinaryToText | undefined {
    if (this.#known.has(typeId)) return this.#known.get(typeId);
    // so that a type which claims to hold itself ends here
    this.#known.set(typeId, undefined);
    const converter = this.#scalar(typeId) ?? this.#made(typeId);
    this.#known.set(typeId, converter);
    return converter;
  }

  #scalar(typeId: number): BinaryToText | undefined {
    const name = builtinType(typeId)?.name;
    if (name === undefined) return undefined;
    const older = this.#types && olderScalar(name, this.#types.serverMajor);
    return older ?? SCALARS[name];
  }

  #made(typeId: number): BinaryToText | undefined {
    if (typeId === OID.int2vector) return vectorToText(this.#nesting, OID.int2, int2ToText);
    if (typeId === OID.oidvector) return vectorToText(this.#nesting, OID.oid, oidToText);
    const shape = builtinShape(typeId) ?? this.#types?.shapeOf(typeId);
    if (shape === undefined) return undefined;
    switch (shape.kind) {
      case 'enum':
        return textToText;
      case 'domain':
        return this.of(shape.base);
      case 'array':
        return this.#array(shape.element, shape.delimiter);
      case 'composite':
        return this.#composite(shape.attributes.map(({ typeId }) => typeId));
      case 'range': {
        const bound = this.of(shape.subtype);
        return bound && rangeToText(this.#nesting, bound);
      }
      case 'multirange': {
        const range = this.of(shape.range);
        return range && multirangeToText(this.#nesting, range);
      }
      default:
        return shape satisfies never;
    }
  }

  #array(elementId: number, delimiter: string): BinaryToText | undefined {
    const toText = this.of(elementId);
    if (toText === undefined) return undefined;
    const declared: ElementFormat = { toText, delimiter };
    // the type on the wire is the one that the server itself prints by
    return arrayToText(this.#nesting, (sentId, offset) =>
      sentId === elementId
        ? declared
        : { toText: this.#sent(sentId, offset), delimiter: builtinDelimiter(sentId) },
    );
  }

  #composite(attributes: readonly number[]): BinaryToText | undefined {
    if (attributes.some((typeId) => this.of(typeId) === undefined)) return undefined;
    return compositeToText(this.#nesting, (sentId, offset) => this.#sent(sentId, offset));
  }

  #sent(typeId: number, offset: number): BinaryToText {
    const converter = this.of(typeId);
    if (converter === undefined) throw new NoBinaryDecoder(typeId, offset);
    return converter;
  }
}
