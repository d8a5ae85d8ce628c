// What a database's catalog says of one of its types: all that its values' text does not say.
// https://www.postgresql.org/docs/current/catalog-pg-type.html

export interface TypeAttribute {
  readonly name: string;
  readonly typeId: number;
}

/** pg_type.typtype, with what the type is made of. */
export type TypeShape =
  | { readonly kind: 'enum' }
  /** Also fits a base type that borrows another's send and output functions, as citext does. */
  | { readonly kind: 'domain'; readonly base: number }
  | {
      readonly kind: 'array';
      readonly element: number;
      /** pg_type.typdelim of the element. */
      readonly delimiter: string;
    }
  /** The attributes that are not dropped, in their order. */
  | { readonly kind: 'composite'; readonly attributes: readonly TypeAttribute[] }
  | { readonly kind: 'range'; readonly subtype: number }
  | { readonly kind: 'multirange'; readonly range: number };

/**
 * How row_to_json writes a value of a type that is neither array nor composite nor domain: a cast
 * to json made in this database wins over the type's text. That of hstore is known; what any other
 * would return (`server`) only the server can say.
 */
export type JsonCast = 'none' | 'hstore' | 'server';

export interface TypeFacts {
  readonly typeId: number;
  readonly schema: string;
  /** pg_type.typname */
  readonly typeName: string;
  /** Undefined: a base type. */
  readonly shape: TypeShape | undefined;
  readonly jsonCast: JsonCast;
}

/** A type as a column has it: its OID and its modifier, -1 if it has none. */
export interface ColumnType {
  readonly typeId: number;
  readonly typmod: number;
}

/** What format_type() prints for a column's type. */
export interface FormattedType extends ColumnType {
  readonly name: string;
}

/** An answer of the catalog. What was asked for and is not in it does not exist any more. */
export interface CatalogTypes {
  /** The types asked for that are not built in, and all that they are made of. */
  readonly facts: readonly TypeFacts[];
  readonly names: readonly FormattedType[];
}
