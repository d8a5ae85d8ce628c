// The stream cannot go on before the catalog was asked.

import type { ColumnType } from '../pgtypes/type-facts.ts';

/**
 * Thrown for a message that was not taken: it is to be handed over again, after
 * `TypeRegistry.learn` has been called for these types, whatever the answer was.
 */
export class TypesWanted extends Error {
  readonly types: readonly ColumnType[];

  constructor(types: readonly ColumnType[]) {
    super('types are not known yet');
    this.types = types;
  }
}
