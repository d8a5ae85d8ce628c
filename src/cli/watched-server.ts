// A server that is looked at again and again: connected to when need be, and again after a failure.

import type { CatalogConnection } from '../catalog/catalog-connection.ts';
import { openCatalog } from '../catalog/open-catalog.ts';
import type { ConnectionSettings } from '../connection/settings.ts';
import { PgtailError } from '../errors.ts';
import { readSlotsReport, type SlotsReport } from '../slots/report.ts';
import { queryFailure } from '../walsender/server-error.ts';

export class WatchedServer {
  readonly #settings: ConnectionSettings;
  #catalog: CatalogConnection | undefined;
  #isClosed = false;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  /** @throws PgtailError */
  async slots(): Promise<SlotsReport> {
    // a connection that was lost between two looks is worth no word if there is another one
    const report = await this.#catalog?.run(readSlotsReport).catch(() => undefined);
    return report ?? (await this.#slotsAnew());
  }

  async #slotsAnew(): Promise<SlotsReport> {
    this.#catalog = undefined; // it has closed by itself what failed
    try {
      return await (await this.#connect()).run(readSlotsReport);
    } catch (error) {
      throw error instanceof PgtailError ? error : queryFailure(error);
    }
  }

  async #connect(): Promise<CatalogConnection> {
    const catalog = await openCatalog(this.#settings, { readOnly: true });
    if (this.#isClosed) await catalog.close();
    else this.#catalog = catalog;
    return catalog;
  }

  /** What is still connecting is closed as soon as it is connected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#catalog?.close();
  }
}
