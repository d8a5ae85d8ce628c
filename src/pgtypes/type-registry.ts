// What is known of each type OID: its name to show, and how its values become JSON.

import { ByteWriter } from '../byte-writer.ts';
import type { TypeName } from '../pgoutput/messages.ts';
import type { Relation } from '../pgoutput/relation.ts';
import type { TupleData } from '../pgoutput/tuple.ts';
import { arrayEncoder, vectorEncoder } from './array.ts';
import { builtinArrayElement, builtinType, builtinTypeNamed, OID } from './builtin-types.ts';
import { type CompositeField, type CompositeFields, compositeEncoder } from './composite.ts';
import {
  type ColumnEncoder,
  checked,
  encodeBool,
  encodeJson,
  encodeNumber,
  encodeString,
  encodeTimestamp,
  encodeTimestamptz,
} from './encoder.ts';
import { hstoreEncoder } from './hstore.ts';
import { jsonStringBytes } from './json-text.ts';
import type {
  CatalogTypes,
  ColumnType,
  TypeAttribute,
  TypeFacts,
  TypeShape,
} from './type-facts.ts';
import { builtinTypeName, qualifiedTypeName } from './type-name.ts';

export interface TypeRegistryOptions {
  /** `text`: every value stays the server's text. */
  readonly values?: 'json' | 'text';
  /** `string`: bigint and numeric are quoted. */
  readonly numbers?: 'json' | 'string';
  /** Called once for a type whose cast to json only the server can run, with the type's name. */
  readonly onServerCast?: (typeName: string) => void;
}

/**
 * Built-in types are known from the start. A Type message announces the name of any other before
 * the first relation that uses it, and the catalog tells the rest: see `unknownTypes`.
 */
export class TypeRegistry {
  readonly #values: 'json' | 'text';
  readonly #numbers: 'json' | 'string';
  readonly #onServerCast: (typeName: string) => void;
  readonly #announced = new Map<number, TypeName>();
  /** Null: asked for, and nobody knows it (any more). */
  readonly #facts = new Map<number, TypeFacts | null>();
  /** `typeId:typmod` → what format_type() prints; null as above. */
  readonly #names = new Map<string, string | null>();
  readonly #encoders = new Map<number, ColumnEncoder>();
  readonly #attributeEncoders = new Map<number, ColumnEncoder>();
  readonly #composites = new Map<number, Composite>();
  readonly #warned = new Set<number>();
  readonly #compositeColumns = new WeakMap<Relation, readonly number[]>();
  readonly #scratch = new ByteWriter(256);

  constructor(options: TypeRegistryOptions = {}) {
    this.#values = options.values ?? 'json';
    this.#numbers = options.numbers ?? 'json';
    this.#onServerCast = options.onServerCast ?? (() => {});
  }

  announce(type: TypeName): void {
    const { typeId, schema, name } = type;
    const before = this.#announced.get(typeId) ?? this.#nameInCatalog(typeId);
    this.#announced.set(typeId, type);
    const renamed = before && (before.schema !== schema || before.name !== name);
    if (renamed) this.#forget(typeId);
  }

  announced(typeId: number): TypeName | undefined {
    return this.#announced.get(typeId);
  }

  /** The column types that must be asked for before the relation's rows can be read. */
  unknownTypes(relation: Relation): readonly ColumnType[] {
    return relation.columns
      .map(({ typeId, typmod }) => ({ typeId, typmod }))
      .filter((type) => !this.#isKnown(type));
  }

  /** What the catalog answered when it was asked for these types. */
  learn(asked: readonly ColumnType[], { facts, names }: CatalogTypes): void {
    // what is gone by now keeps what was known of it
    for (const { typeId, typmod } of asked) {
      const key = nameKey(typeId, typmod);
      this.#facts.set(typeId, this.#facts.get(typeId) ?? null);
      this.#names.set(key, this.#names.get(key) ?? null);
    }
    for (const each of facts) this.#facts.set(each.typeId, each);
    for (const { typeId, typmod, name } of names) this.#names.set(nameKey(typeId, typmod), name);
    this.#encoders.clear();
    this.#attributeEncoders.clear();
    for (const [typeId, composite] of this.#composites) {
      composite.looked();
      composite.fields = this.#fieldsOf(typeId);
    }
  }

  /** Of what type a type is made; undefined if it is not known, or a base type. */
  shapeOf(typeId: number): TypeShape | undefined {
    return this.#facts.get(typeId)?.shape;
  }

  /** What a domain is made over, through all domains between; any other type is its own. */
  baseType(typeId: number): number {
    let base = typeId;
    for (let depth = 0; depth < DEEPEST_DOMAIN; depth++) {
      const shape = this.shapeOf(base);
      if (shape?.kind !== 'domain') break;
      base = shape.base;
    }
    return this.#announcedBase(base) ?? base;
  }

  /** As format_type() prints it; `type 16999` if nobody told. */
  name(typeId: number, typmod: number): string {
    const known = this.#names.get(nameKey(typeId, typmod)) ?? undefined;
    const name = builtinTypeName(typeId, typmod) ?? known;
    if (name !== undefined) return name;
    const base = this.#announcedBase(typeId);
    const builtin = base !== undefined && builtinTypeName(base, typmod);
    if (builtin) return builtin;
    const announced = this.#announced.get(typeId);
    return announced ? qualifiedTypeName(announced.schema, announced.name) : `type ${typeId}`;
  }

  /** A type nothing is known of is shown as the server's text, a JSON string: never wrong. */
  encoder(typeId: number): ColumnEncoder {
    if (this.#values === 'text') return encodeString;
    return this.#made(typeId, this.#encoders, (encoder) => encoder);
  }

  /**
   * The composite types that values of the row do not fit, and that have not been looked at since:
   * they were altered, which no message tells.
   */
  outdatedTypes(relation: Relation, row: TupleData): readonly ColumnType[] {
    const columns = this.#compositeColumns.get(relation) ?? this.#findCompositeColumns(relation);
    if (columns.length === 0) return NO_TYPES;
    for (const column of columns) {
      if (!row.hasValue(column)) continue;
      const encoder = this.encoder(relation.columns[column]!.typeId);
      this.#scratch.length = 0;
      encoder(this.#scratch, row.bytes, row.starts[column]!, row.ends[column]!);
    }
    const outdated = [...this.#composites].filter(([, composite]) => composite.isOutdated);
    return outdated.map(([typeId]) => ({ typeId, typmod: -1 }));
  }

  /** What did not fit after a second look may be looked at again. */
  forgetMismatches(): void {
    for (const composite of this.#composites.values()) composite.forgetMismatches();
  }

  #isKnown({ typeId, typmod }: ColumnType): boolean {
    if (builtinTypeName(typeId, typmod) !== undefined) return true;
    return this.#facts.has(typeId) && this.#names.has(nameKey(typeId, typmod));
  }

  #findCompositeColumns(relation: Relation): readonly number[] {
    const all = relation.columns.map((_, column) => column);
    const found =
      this.#values === 'text'
        ? NO_COLUMNS
        : all.filter((column) => this.#holdsComposite(relation.columns[column]!.typeId));
    this.#compositeColumns.set(relation, found);
    return found;
  }

  #holdsComposite(typeId: number, within: readonly number[] = []): boolean {
    const shape = this.shapeOf(typeId);
    if (shape === undefined || within.includes(typeId)) return false;
    if (shape.kind === 'composite') return true;
    if (shape.kind === 'domain') return this.#holdsComposite(shape.base, [...within, typeId]);
    if (shape.kind === 'array') return this.#holdsComposite(shape.element, [...within, typeId]);
    return false;
  }

  /** A domain is announced with the name of its base type, which says nothing of its own. */
  #nameInCatalog(typeId: number): Pick<TypeName, 'schema' | 'name'> | undefined {
    const facts = this.#facts.get(typeId);
    if (!facts || facts.shape?.kind === 'domain') return undefined;
    return { schema: facts.schema, name: facts.typeName };
  }

  #forget(typeId: number): void {
    this.#facts.delete(typeId);
    for (const key of this.#names.keys()) {
      if (key.startsWith(`${typeId}:`)) this.#names.delete(key);
    }
  }

  /** `adapt` is applied to what encodes a single value of a type that is not made of others. */
  #made(
    typeId: number,
    known: Map<number, ColumnEncoder>,
    adapt: (encoder: ColumnEncoder) => ColumnEncoder,
  ): ColumnEncoder {
    const before = known.get(typeId);
    if (before !== undefined) return before;
    // so that a type which claims to hold itself ends here
    known.set(typeId, encodeString);
    const of = (part: number): ColumnEncoder => this.#made(part, known, adapt);
    const encoder = this.#builtin(typeId, of, adapt) ?? this.#userType(typeId, of);
    known.set(typeId, encoder);
    return encoder;
  }

  #builtin(
    typeId: number,
    of: (part: number) => ColumnEncoder,
    adapt: (encoder: ColumnEncoder) => ColumnEncoder,
  ): ColumnEncoder | undefined {
    const element = builtinArrayElement(typeId);
    if (element !== undefined) {
      return arrayEncoder(of(element.typeId), code(element.typeId === OID.box ? ';' : ','));
    }
    return builtinType(typeId) && adapt(scalarEncoder(typeId, this.#numbers));
  }

  #userType(typeId: number, of: (part: number) => ColumnEncoder): ColumnEncoder {
    const facts = this.#facts.get(typeId);
    if (!facts) {
      const base = this.#announcedBase(typeId);
      return base === undefined ? encodeString : of(base);
    }
    switch (facts.shape?.kind) {
      case 'domain':
        return of(facts.shape.base);
      case 'array':
        return arrayEncoder(of(facts.shape.element), code(facts.shape.delimiter));
      case 'composite':
        return compositeEncoder(this.#composite(typeId));
      default:
        return this.#castEncoder(facts);
    }
  }

  #castEncoder({ typeId, jsonCast }: TypeFacts): ColumnEncoder {
    if (jsonCast === 'hstore') return hstoreEncoder();
    if (jsonCast === 'server' && !this.#warned.has(typeId)) {
      this.#warned.add(typeId);
      this.#onServerCast(this.name(typeId, -1));
    }
    return encodeString;
  }

  /** One object for all values of the type, whatever becomes of it. */
  #composite(typeId: number): CompositeFields {
    const known = this.#composites.get(typeId);
    if (known !== undefined) return known;
    const composite = new Composite();
    this.#composites.set(typeId, composite);
    composite.fields = this.#fieldsOf(typeId);
    return composite;
  }

  #fieldsOf(typeId: number): readonly CompositeField[] {
    const shape = this.shapeOf(typeId);
    const attributes: readonly TypeAttribute[] =
      shape?.kind === 'composite' ? shape.attributes : [];
    return attributes.map((attribute) => ({
      key: Buffer.from(`${jsonStringBytes(attribute.name)}:`),
      // an attribute may have taken the place of another one since the value was written
      encoder: this.#made(attribute.typeId, this.#attributeEncoders, checked),
    }));
  }

  /** A domain is announced with its own OID and the name of its base type, here a built-in one. */
  #announcedBase(typeId: number): number | undefined {
    const announced = this.#announced.get(typeId);
    if (announced?.schema !== 'pg_catalog') return undefined;
    const { name } = announced;
    if (!name.startsWith('_')) return builtinTypeNamed(name)?.typeId;
    return builtinTypeNamed(name.slice(1))?.arrayTypeId;
  }
}

/** Domains over domains are followed so far. */
const DEEPEST_DOMAIN = 32;

const NO_TYPES: readonly ColumnType[] = [];
const NO_COLUMNS: readonly number[] = [];

const nameKey = (typeId: number, typmod: number): string => `${typeId}:${typmod}`;
const code = (character: string): number => character.charCodeAt(0);

/** A composite type that columns of the stream have. */
class Composite implements CompositeFields {
  fields: readonly CompositeField[] = [];
  #outdated = false;
  /** Numbers of fields that were met, and that it did not have even after a look. */
  readonly #odd = new Set<number>();
  #met = -1;

  /** Whether a value did not fit since the last look. */
  get isOutdated(): boolean {
    return this.#outdated;
  }

  mismatch(count: number): void {
    if (this.#odd.has(count)) return;
    this.#met = count;
    this.#outdated = true;
  }

  looked(): void {
    if (this.#outdated) this.#odd.add(this.#met);
    this.#outdated = false;
  }

  forgetMismatches(): void {
    this.#odd.clear();
  }
}

/** The categories of row_to_json: whatever is none of these is a string. */
function scalarEncoder(typeId: number, numbers: 'json' | 'string'): ColumnEncoder {
  switch (typeId) {
    case OID.bool:
      return encodeBool;
    case OID.int8:
    case OID.numeric:
      return numbers === 'json' ? encodeNumber : encodeString;
    case OID.int2:
    case OID.int4:
    case OID.float4:
    case OID.float8:
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
