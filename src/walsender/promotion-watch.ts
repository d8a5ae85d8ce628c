// A standby that is promoted while it is read goes on sending, on another timeline, and does not say
// so: it is asked over an ordinary connection.
// https://www.postgresql.org/docs/current/functions-admin.html (recovery control, backup control)

import type { ClientConfig } from 'pg';
import * as z from 'zod/mini';
import { CatalogConnection } from '../catalog/catalog-connection.ts';

/** How long after something arrived it is asked, in ms: until then it counts as of the old timeline. */
const LOOK_AFTER = 200;

/** The name of a WAL file begins with its timeline; in recovery no file has one yet. */
const TIMELINE_SQL = `SELECT CASE WHEN pg_is_in_recovery() THEN NULL
  ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END AS timeline`;

const timelineRow = z.object({ timeline: z.nullable(z.string()) });

/** A server that cannot be asked is asked again later. */
export class PromotionWatch {
  readonly #connection: CatalogConnection;
  readonly #onPromoted: () => void;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(config: ClientConfig, onPromoted: () => void) {
    this.#connection = new CatalogConnection(config);
    this.#onPromoted = onPromoted;
  }

  /** Something has arrived, perhaps from the new timeline. */
  lookSoon(): void {
    this.#timer ??= setTimeout(() => void this.#look(), LOOK_AFTER);
  }

  /** Where it writes now; undefined: nowhere yet, or it cannot be asked. */
  async timeline(): Promise<number | undefined> {
    const answer = await this.#connection.run((query) => query(TIMELINE_SQL)).catch(() => null);
    if (answer === null) return undefined;
    const { timeline } = timelineRow.parse(answer[0]?.[0]);
    return timeline === null ? undefined : Number.parseInt(timeline, 16);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    void this.#connection.close();
  }

  async #look(): Promise<void> {
    const promoted = (await this.timeline()) !== undefined;
    this.#timer = undefined;
    if (promoted && !this.#closed) this.#onPromoted();
  }
}
