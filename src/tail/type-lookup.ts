// Asks the catalog for types while the stream is held, and does without if it cannot be asked.

import { setTimeout as delay } from 'node:timers/promises';
import { CatalogConnection } from '../catalog/catalog-connection.ts';
import type { Catalog } from '../catalog/catalog-names.ts';
import { readTypes } from '../catalog/type-catalog.ts';
import type { CatalogTypes, ColumnType } from '../pgtypes/type-facts.ts';
import type { TypeRegistry } from '../pgtypes/type-registry.ts';
import type { ReplicationSession } from '../walsender/session.ts';

export interface TypeLookupOptions {
  readonly session: ReplicationSession;
  readonly catalog: Catalog;
  readonly types: TypeRegistry;
  /** The catalog cannot be asked; called once. */
  readonly onUnreachable: (error: unknown) => void;
}

const ATTEMPTS = 3;
/** Pause between attempts, in ms. */
const RETRY = 500;

export class TypeLookup {
  readonly #options: TypeLookupOptions;
  readonly #connection: CatalogConnection;
  #attempts = ATTEMPTS;
  #closed = false;

  constructor(options: TypeLookupOptions) {
    this.#options = options;
    this.#connection = new CatalogConnection(options.session.ordinaryConfig);
  }

  /**
   * Settles, without an error, when the registry has learnt all that can be found out, or soon
   * after `givenUp`.
   */
  async learn(types: readonly ColumnType[], givenUp: Promise<void>): Promise<void> {
    const answer = await this.#ask(types, givenUp);
    this.#options.types.learn(types, answer);
  }

  /** Learns what is other than before, beside the stream. An answer that does not come is no loss. */
  async refresh(types: readonly ColumnType[]): Promise<void> {
    const answer = await this.#read(types).catch(() => null);
    if (answer !== null && !this.#closed) this.#options.types.learn(types, answer);
  }

  close(): void {
    this.#closed = true;
    void this.#connection.close();
  }

  async #ask(types: readonly ColumnType[], givenUp: Promise<void>): Promise<CatalogTypes | null> {
    let over = false;
    void givenUp.then(() => {
      over = true;
    });
    for (let attempt = 1; !over; attempt++) {
      try {
        return await this.#read(types);
      } catch (error) {
        if (attempt >= this.#attempts) {
          if (this.#attempts === ATTEMPTS) this.#options.onUnreachable(error);
          this.#attempts = 1; // the next types will not be waited for as long
          break;
        }
      }
      await Promise.race([givenUp, delay(RETRY)]);
    }
    return null;
  }

  #read(types: readonly ColumnType[]): Promise<CatalogTypes> {
    const { catalog } = this.#options;
    return this.#connection.run((query) => readTypes(query, types, catalog));
  }
}
