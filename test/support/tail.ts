// What a test of the tail needs: a shop with a publication and a slot, and what was printed of it.

import { parseLsn } from '../../src/lsn.ts';
import { type SharedServer, sharedServer, TestDatabase } from './server.ts';

/** One NDJSON line. */
export type Line = Readonly<Record<string, unknown>> & {
  readonly op: string;
  readonly xid?: number;
  readonly end_lsn?: string;
  readonly commit_lsn?: string;
  readonly new?: Readonly<Record<string, unknown>>;
};

/** Whole lines of NDJSON; a torn last one is left out. */
export function linesOf(ndjson: string): Line[] {
  return ndjson
    .slice(0, ndjson.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

export const opsOf = (ndjson: string): string[] => linesOf(ndjson).map((line) => line.op);

/** The ids of the rows inserted, in order. */
export function insertedIds(ndjson: string): unknown[] {
  return linesOf(ndjson).flatMap((line) => (line.op === 'insert' ? [line.new?.id] : []));
}

/** Of the last commit line. */
export function lastEnd(ndjson: string): bigint {
  const commit = linesOf(ndjson).findLast((line) => line.op === 'commit');
  if (commit?.end_lsn === undefined) throw new Error(`no commit line in: ${ndjson}`);
  return lsnOf(commit.end_lsn);
}

export function lsnOf(text: string): bigint {
  const lsn = parseLsn(text);
  if (lsn === undefined) throw new Error(`not an LSN: ${text}`);
  return lsn;
}

/** A database with the table `orders`, the publication `shop` for all tables and a slot. */
export class Shop implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly slot: string;

  private constructor(database: TestDatabase) {
    this.database = database;
    this.slot = `${database.name}_slot`;
  }

  static async open(server: SharedServer = sharedServer()): Promise<Shop> {
    const shop = new Shop(await TestDatabase.create(server));
    await shop.database.sql('CREATE TABLE orders (id int PRIMARY KEY, note text)');
    await shop.database.sql('CREATE PUBLICATION shop FOR ALL TABLES');
    await shop.createSlot(shop.slot);
    return shop;
  }

  /** The options that tail it through its slot. */
  get args(): readonly string[] {
    return [...this.database.options, '-S', this.slot, '-P', 'shop'];
  }

  async createSlot(name: string, plugin = 'pgoutput'): Promise<void> {
    await this.database.query('SELECT pg_create_logical_replication_slot($1, $2)', [name, plugin]);
  }

  /** One transaction with these orders. */
  async order(...ids: readonly number[]): Promise<void> {
    const values = ids.map((id) => `(${id}, 'order ${id}')`).join(', ');
    await this.database.sql(`INSERT INTO orders VALUES ${values}`);
  }

  /** One transaction with many orders, each with a note of so many characters. */
  async orderMany(from: number, to: number, noteLength = 100): Promise<void> {
    await this.database.sql(
      `INSERT INTO orders SELECT id, repeat('n', ${noteLength}) FROM generate_series(${from}, ${to}) id`,
    );
  }

  /** What the server thinks was acknowledged. */
  async confirmed(): Promise<bigint> {
    return (await this.#slotRow()).confirmed;
  }

  async slotIsActive(): Promise<boolean> {
    return (await this.#slotRow()).active;
  }

  async #slotRow(): Promise<{ confirmed: bigint; active: boolean }> {
    const [row] = await this.database.query<{ lsn: string; active: boolean }>(
      `SELECT confirmed_flush_lsn::text AS lsn, active
         FROM pg_replication_slots WHERE slot_name = $1`,
      [this.slot],
    );
    if (row === undefined) throw new Error(`slot ${this.slot} is gone`);
    return { confirmed: lsnOf(row.lsn), active: row.active };
  }

  async position(): Promise<bigint> {
    const [row] = await this.database.query<{ lsn: string }>(
      'SELECT pg_current_wal_lsn()::text AS lsn',
    );
    return lsnOf(row!.lsn);
  }

  /** Of the whole server: not for the shared one. */
  async endWalsenders(): Promise<void> {
    await this.database.query('SELECT pg_terminate_backend(pid) FROM pg_stat_replication');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database.drop();
  }
}
