// What is known of each type OID: its name to show, and how its values become JSON.

import { isDeepStrictEqual } from 'node:util';
import { Block, ByteWriter } from '../byte-writer.ts';
import type { TypeName } from '../pgoutput/messages.ts';
import type { Relation } from '../pgoutput/relation.ts';
import type { TupleData } from '../pgoutput/tuple.ts';
import { arrayEncoder } from './array.ts';
import { binaryToJson } from './binary/binary-to-json.ts';
import {
  builtinArrayElement,
  builtinType,
  builtinTypeNamed,
  isBuiltinType,
  OID,
} from './builtin-types.ts';
import { encodeChar, encodeTextWithChars } from './char.ts';
import { type CompositeField, type CompositeFields, compositeEncoder } from './composite.ts';
import {
  type ColumnEncoder,
  checked,
  encodeBool,
  encodeInt2vector,
  encodeJson,
  encodeNumber,
  encodeOidvector,
  encodeString,
  encodeTimestamp,
  encodeTimestamptz,
} from './encoder.ts';
import { hstoreEncoder } from './hstore.ts';
import { jsonString } from './json-text.ts';
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
  /** Called once for a type that the catalog does not have, with its name in the stream. */
  readonly onTypeNotFound?: (typeName: string) => void;
}

/** A type that was asked for in vain: gone, or made by a transaction that nobody else can see yet. */
interface MissingType {
  readonly tries: number;
  /** From this unit on it is asked for again. */
  readonly againIn: number;
}

/** What checking a relation's rows takes. */
interface RelationTypes {
  readonly relation: Relation;
  readonly version: number;
  /** Columns whose values hold composites. */
  readonly composites: readonly number[];
  readonly hasOwnTypes: boolean;
}

/**
 * Built-in types are known from the start. A Type message announces the name of any other before
 * the first relation that uses it, and the catalog tells the rest: see `unknownTypes`.
 */
export class TypeRegistry {
  readonly #values: 'json' | 'text';
  readonly #numbers: 'json' | 'string';
  readonly #onServerCast: (typeName: string) => void;
  readonly #onTypeNotFound: (typeName: string) => void;
  readonly #announced = new Map<number, TypeName>();
  readonly #facts = new Map<number, TypeFacts>();
  /** `typeId:typmod` → what format_type() prints. */
  readonly #names = new Map<string, string>();
  /** By `typeId:typmod`, as all that was asked for. */
  readonly #missing = new Map<string, MissingType>();
  readonly #asked = new Map<string, ColumnType>();
  /** Types that were looked up in the present unit. */
  readonly #fresh = new Set<number>();
  #unit = 0;
  #version = 0;
  #wasUsed = false;
  /** The relation of the last row, if its types need no checking. */
  #plain: Relation | null = null;
  readonly #encoders = new Map<number, ColumnEncoder>();
  readonly #attributeEncoders = new Map<number, ColumnEncoder>();
  readonly #composites = new Map<number, Composite>();
  readonly #warned = new Set<number>();
  /** By relation id. */
  readonly #relationTypes = new Map<number, RelationTypes>();
  readonly #scratch = new ByteWriter(256);

  constructor(options: TypeRegistryOptions = {}) {
    this.#values = options.values ?? 'json';
    this.#numbers = options.numbers ?? 'json';
    this.#onServerCast = options.onServerCast ?? (() => {});
    this.#onTypeNotFound = options.onTypeNotFound ?? (() => {});
  }

  /** Changes when encoders made before are not those that would be made now. */
  get version(): number {
    return this.#version;
  }

  /** Another unit of the stream begins: what was not found before may be there now. */
  nextUnit(): void {
    this.#unit++;
    if (this.#fresh.size > 0) this.#fresh.clear();
  }

  announce(type: TypeName): void {
    const { typeId, schema, name } = type;
    const before = this.#announced.get(typeId) ?? this.#nameInCatalog(typeId);
    this.#announced.set(typeId, type);
    const renamed = before && (before.schema !== schema || before.name !== name);
    if (renamed) this.#forget(typeId);
  }

  /** The announced types among these. */
  announcedAmong(columns: readonly { readonly typeId: number }[]): readonly TypeName[] {
    if (this.#announced.size === 0) return NO_NAMES;
    const typeIds = new Set(columns.map(({ typeId }) => typeId));
    return [...typeIds].flatMap((typeId) => this.#announced.get(typeId) ?? []);
  }

  /** The column types that must be asked for before the relation's rows can be read. */
  unknownTypes(relation: Relation): readonly ColumnType[] {
    return relation.columns
      .filter((column) => !this.#isKnown(column))
      .map(({ typeId, typmod }) => ({ typeId, typmod }));
  }

  /** Its composite types, unless they were just looked up: they may have been altered as well. */
  alterableTypes(relation: Relation): readonly ColumnType[] {
    const columns = this.#typesOf(relation).composites.map((column) => relation.columns[column]!);
    return columns
      .filter(({ typeId }) => !this.#fresh.has(typeId))
      .map(({ typeId, typmod }) => ({ typeId, typmod }));
  }

  /** What the catalog answered when it was asked for these types; null: it could not be asked. */
  learn(asked: readonly ColumnType[], answer: CatalogTypes | null): void {
    const { facts, names } = answer ?? NO_ANSWER;
    for (const each of facts) this.#learnFacts(each);
    for (const { typeId, typmod, name } of names) this.#names.set(nameKey(typeId, typmod), name);
    for (const type of asked) this.#settle(type, answer !== null);
    this.#encoders.clear();
    this.#attributeEncoders.clear();
    this.#plain = null;
    for (const [typeId, composite] of this.#composites) {
      composite.lookedUp(this.#fieldsOf(typeId));
    }
  }

  /** All types that were found, if values of such types came since this was last asked. */
  takeUsedTypes(): readonly ColumnType[] {
    if (!this.#wasUsed) return NO_TYPES;
    this.#wasUsed = false;
    return [...this.#asked.values()].filter(({ typeId }) => this.#facts.has(typeId));
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
    const known = this.#names.get(nameKey(typeId, typmod));
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
    if (this.#values === 'text') {
      return this.#holds(typeId, isChar) ? encodeTextWithChars : encodeString;
    }
    return this.#made(typeId, this.#encoders, (encoder) => encoder);
  }

  /** For binary values; undefined: they are to be made text first. */
  binaryEncoder(typeId: number): ColumnEncoder | undefined {
    if (this.#values === 'text') return undefined;
    const isQuoted = this.#numbers === 'string' && isLongNumber(typeId);
    return isQuoted ? undefined : binaryToJson(typeId);
  }

  /**
   * What must be asked for before the row can be read: types that were not found before, and
   * composite types that its values do not fit and that have not been looked at since. They were
   * altered, which no message tells.
   */
  outdatedTypes(relation: Relation, row: TupleData): readonly ColumnType[] {
    if (relation === this.#plain) return NO_TYPES;
    const { composites, hasOwnTypes } = this.#typesOf(relation);
    if (!hasOwnTypes) this.#plain = relation;
    this.#wasUsed ||= hasOwnTypes;
    const unknown = this.#missing.size > 0 ? this.unknownTypes(relation) : NO_TYPES;
    return unknown.length > 0 ? unknown : this.#misfits(relation, row, composites);
  }

  /** What did not fit, or was not found, may be looked at again. */
  forgetFailures(): void {
    for (const composite of this.#composites.values()) composite.forgetMismatches();
    for (const [key, { tries }] of this.#missing) this.#missing.set(key, { tries, againIn: 0 });
  }

  #misfits(relation: Relation, row: TupleData, columns: readonly number[]): readonly ColumnType[] {
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

  #learnFacts(facts: TypeFacts): void {
    const before = this.#facts.get(facts.typeId);
    this.#fresh.add(facts.typeId);
    if (before !== undefined && isDeepStrictEqual(before, facts)) return;
    this.#facts.set(facts.typeId, facts);
    this.#version++;
  }

  /** Notes whether an answer came; what was known and is gone by now stays known. */
  #settle(type: ColumnType, wasAnswered: boolean): void {
    const key = nameKey(type.typeId, type.typmod);
    this.#asked.set(key, type);
    this.#fresh.add(type.typeId);
    if (this.#facts.has(type.typeId) && this.#names.has(key)) {
      this.#missing.delete(key);
      return;
    }
    const tries = (this.#missing.get(key)?.tries ?? 0) + 1;
    // asked for less and less often: it may be gone for good
    this.#missing.set(key, { tries, againIn: this.#unit + 2 ** (tries - 1) });
    if (tries === 1 && wasAnswered) this.#onTypeNotFound(this.name(type.typeId, type.typmod));
  }

  #isKnown({ typeId, typmod }: ColumnType): boolean {
    if (isBuiltinType(typeId)) return true;
    const key = nameKey(typeId, typmod);
    if (this.#facts.has(typeId) && this.#names.has(key)) return true;
    const missing = this.#missing.get(key);
    return missing !== undefined && this.#unit < missing.againIn;
  }

  #typesOf(relation: Relation): RelationTypes {
    const known = this.#relationTypes.get(relation.relationId);
    if (known?.relation === relation && known.version === this.#version) return known;
    const typeIds = relation.columns.map(({ typeId }) => typeId);
    const all = this.#values === 'json' ? typeIds.map((_, column) => column) : NO_COLUMNS;
    const types = {
      relation,
      version: this.#version,
      composites: all.filter((column) => this.#holds(typeIds[column]!, isComposite)),
      hasOwnTypes: !typeIds.every(isBuiltinType),
    };
    this.#relationTypes.set(relation.relationId, types);
    return types;
  }

  /** Whether values of the type are of a wanted one, or have one within. */
  #holds(typeId: number, isWanted: TypeTest, within: readonly number[] = []): boolean {
    const shape = this.shapeOf(typeId);
    if (isWanted(typeId, shape)) return true;
    if (within.includes(typeId)) return false;
    return this.#parts(typeId, shape).some((part) =>
      this.#holds(part, isWanted, [...within, typeId]),
    );
  }

  #parts(typeId: number, shape: TypeShape | undefined): readonly number[] {
    if (shape?.kind === 'domain') return [shape.base];
    if (shape?.kind === 'array') return [shape.element];
    if (shape?.kind === 'composite') return shape.attributes.map((attribute) => attribute.typeId);
    const part = builtinArrayElement(typeId)?.typeId ?? this.#announcedBase(typeId);
    return part === undefined ? [] : [part];
  }

  /** A domain is announced with the name of its base type, which says nothing of its own. */
  #nameInCatalog(typeId: number): Pick<TypeName, 'schema' | 'name'> | undefined {
    const facts = this.#facts.get(typeId);
    if (!facts || facts.shape?.kind === 'domain') return undefined;
    return { schema: facts.schema, name: facts.typeName };
  }

  #forget(typeId: number): void {
    this.#facts.delete(typeId);
    this.#version++;
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
    composite.lookedUp(this.#fieldsOf(typeId));
    return composite;
  }

  #fieldsOf(typeId: number): readonly CompositeField[] {
    const shape = this.shapeOf(typeId);
    const attributes: readonly TypeAttribute[] =
      shape?.kind === 'composite' ? shape.attributes : [];
    return attributes.map((attribute) => ({
      key: Block.of(`${jsonString(attribute.name)}:`),
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

const NO_ANSWER: CatalogTypes = { facts: [], names: [] };
type TypeTest = (typeId: number, shape: TypeShape | undefined) => boolean;

const isChar: TypeTest = (typeId) => typeId === OID.char;
const isComposite: TypeTest = (_, shape) => shape?.kind === 'composite';

const NO_TYPES: readonly ColumnType[] = [];
const NO_NAMES: readonly TypeName[] = [];
const NO_COLUMNS: readonly number[] = [];

const nameKey = (typeId: number, typmod: number): string => `${typeId}:${typmod}`;
const code = (character: string): number => character.charCodeAt(0);

/** A composite type that columns of the stream have. */
class Composite implements CompositeFields {
  #fields: readonly CompositeField[] = [];
  /** Numbers of fields that were met, and that it did not have even after a look. */
  readonly #odd = new Set<number>();
  /** The number of fields of a value that did not fit since the last look. */
  #misfit: number | undefined;

  get fields(): readonly CompositeField[] {
    return this.#fields;
  }

  get isOutdated(): boolean {
    return this.#misfit !== undefined;
  }

  mismatch(count: number): void {
    if (!this.#odd.has(count)) this.#misfit = count;
  }

  lookedUp(fields: readonly CompositeField[]): void {
    this.#fields = fields;
    this.#odd.delete(fields.length);
    if (this.#misfit !== undefined && this.#misfit !== fields.length) this.#odd.add(this.#misfit);
    this.#misfit = undefined;
  }

  forgetMismatches(): void {
    this.#odd.clear();
  }
}

/** Its numbers may have more digits than a reader of JSON can hold. */
const isLongNumber = (typeId: number): boolean => typeId === OID.int8 || typeId === OID.numeric;

/** The categories of row_to_json: whatever is none of these is a string. */
function scalarEncoder(typeId: number, numbers: 'json' | 'string'): ColumnEncoder {
  switch (typeId) {
    case OID.bool:
      return encodeBool;
    case OID.char:
      return encodeChar;
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
      return encodeInt2vector;
    case OID.oidvector:
      return encodeOidvector;
    default:
      return encodeString;
  }
}
