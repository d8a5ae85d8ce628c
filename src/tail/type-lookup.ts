// Asks the catalog for types while the stream is held, and does without if it cannot be asked.

import { withCatalog } from '../catalog/catalog-connection.ts';
import { readTypes } from '../catalog/type-catalog.ts';
import type { CatalogTypes, ColumnType } from '../pgtypes/type-facts.ts';
import type { TypeRegistry } from '../pgtypes/type-registry.ts';
import type { ReplicationSession } from '../walsender/session.ts';

export interface TypeLookupOptions {
  readonly session: ReplicationSession;
  readonly serverMajor: number;
  readonly types: TypeRegistry;
  /** The catalog cannot be asked; called once. */
  readonly onUnreachable: (error: unknown) => void;
}

const ATTEMPTS = 3;
/** Pause between attempts, in ms. */
const RETRY = 500;

const NOTHING: CatalogTypes = { facts: [], names: [] };

export class TypeLookup {
  readonly #options: TypeLookupOptions;
  #attempts = ATTEMPTS;

  constructor(options: TypeLookupOptions) {
    this.#options = options;
  }

  /**
   * Settles, without an error, when the registry has learnt all that can be found out, or soon
   * after `given up`. A type that nobody can tell of is then known as such.
   */
  async learn(types: readonly ColumnType[], givenUp: Promise<void>): Promise<void> {
    this.#options.types.learn(types, await this.#ask(types, givenUp));
  }

  async #ask(types: readonly ColumnType[], givenUp: Promise<void>): Promise<CatalogTypes> {
    const { session, serverMajor, onUnreachable } = this.#options;
    let over = false;
    void givenUp.then(() => {
      over = true;
    });
    for (let attempt = 1; !over; attempt++) {
      try {
        return await withCatalog(session.ordinaryConfig, (query) =>
          readTypes(query, types, serverMajor),
        );
      } catch (error) {
        if (attempt >= this.#attempts) {
          if (this.#attempts === ATTEMPTS) onUnreachable(error);
          this.#attempts = 1; // the next types will not be waited for as long
          break;
        }
      }
      await Promise.race([givenUp, new Promise((resolve) => setTimeout(resolve, RETRY))]);
    }
    return NOTHING;
  }
}
