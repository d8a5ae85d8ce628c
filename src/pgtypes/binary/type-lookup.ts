// What must be known of a database's own types before their binary values can be read.

import type { TypeShape } from '../type-facts.ts';

export interface BinaryTypeLookup {
  /** The major release of the server: 15 and 17 began to print a value or two differently. */
  readonly serverMajor: number;
  /** Undefined for what is not known, and for base types; built-in types need not be known. */
  shapeOf(typeId: number): TypeShape | undefined;
}
