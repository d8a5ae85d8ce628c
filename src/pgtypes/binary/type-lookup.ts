// What must be known of a database's own types before their binary values can be read.
// https://www.postgresql.org/docs/current/catalog-pg-type.html

/** pg_type.typtype, with what the type is made of. */
export type BinaryTypeShape =
  | { readonly kind: 'enum' }
  /** Also fits a base type that borrows another's send and output functions, as citext does. */
  | { readonly kind: 'domain'; readonly base: number }
  | {
      readonly kind: 'array';
      readonly element: number;
      /** pg_type.typdelim of the element. */
      readonly delimiter: string;
    }
  /** The types of the attributes that are not dropped. */
  | { readonly kind: 'composite'; readonly attributes: readonly number[] }
  | { readonly kind: 'range'; readonly subtype: number }
  | { readonly kind: 'multirange'; readonly range: number };

export interface BinaryTypeLookup {
  /** The major release of the server: 15 and 17 began to print a value or two differently. */
  readonly serverMajor: number;
  /** Undefined for what is not known, and for base types; built-in types need not be known. */
  shapeOf(typeId: number): BinaryTypeShape | undefined;
}
