// One part of a run: a database, a slot, a file or pipes, and some faults while transactions are
// written; then everything is compared.

import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { Dice } from '../support/dice.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { TestDatabase } from '../support/server.ts';
import { modeName, modeOptions, pressed } from '../support/stream-modes.ts';
import { lsnOf } from '../support/tail.ts';
import { until } from '../support/until.ts';
import { FAULTS, noHang, PATIENCE, type Victims } from './faults.ts';
import { type Check, judge, type Truth, type Verdict } from './judge.ts';
import type { DeliveredOutput } from './outputs.ts';
import { SupervisedTail } from './supervised-tail.ts';
import { PUBLISHED, SCHEMA, Writers } from './writers.ts';

export interface LegOptions {
  readonly server: EmbeddedServer;
  readonly proxy: FaultProxy;
  readonly output: DeliveredOutput;
  /** The names of the faults, in order. */
  readonly faults: readonly string[];
  readonly seed: number;
}

export interface LegResult extends Verdict {
  /** The options that pgtail ran with. */
  readonly mode: string;
  readonly starts: number;
}

const SESSIONS = 3;
/** A connection may be lost already: then nothing arrives, and it is not waited for. In ms. */
const MOMENT = 1000;

export async function runLeg(options: LegOptions): Promise<LegResult> {
  const { server, seed } = options;
  await using database = await TestDatabase.create(server);
  await database.sql(SCHEMA);
  await database.sql(`CREATE PUBLICATION shop FOR TABLE ${PUBLISHED}`);
  const slot = `${database.name}_slot`;
  await database.sql(`SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput')`);
  const dice = new Dice(seed + 1);
  await using writers = new Writers({
    connection: database.connection,
    dice,
    sessions: SESSIONS,
  });
  await writers.prepare(2); // they come late, if two-phase decoding is switched on
  await using leg = new Leg(options, database, slot, writers);
  for (const fault of options.faults) await leg.suffer(fault);
  return await leg.end();
}

class Leg implements AsyncDisposable {
  readonly #options: LegOptions;
  readonly #database: TestDatabase;
  readonly #slot: string;
  readonly #writers: Writers;
  readonly #dice: Dice;
  readonly #tail: SupervisedTail;
  readonly #mode: string;
  readonly #checks: Check[] = [];
  /** What was known to be acknowledged when each process started. */
  readonly #starts: bigint[] = [];
  #known = 0n;
  #fault = 'the start';

  constructor(options: LegOptions, database: TestDatabase, slot: string, writers: Writers) {
    this.#options = options;
    this.#database = database;
    this.#slot = slot;
    this.#writers = writers;
    this.#dice = new Dice(options.seed);
    const { proxy, output } = options;
    const mode = {
      streaming: this.#dice.pick(['off', 'buffer'] as const),
      binary: this.#dice.oneIn(2),
      twoPhase: this.#dice.oneIn(2),
    };
    this.#mode = modeName(mode);
    const connection = ['-h', '127.0.0.1', '-p', String(proxy.port), '-U', database.user];
    const source = ['-d', database.name, '-S', slot, '-P', 'shop'];
    const pressure = mode.streaming === 'buffer' ? pressed(database.major, 'memory') : {};
    this.#tail = new SupervisedTail({
      args: [...connection, ...source, ...modeOptions(mode)],
      // without a limit the first connection waits for ever, as psql does
      env: { PGSSLMODE: 'disable', PGCONNECT_TIMEOUT: '10', ...pressure },
      output,
      onStart: () => this.#starts.push(this.#known),
    });
    this.#tail.start();
  }

  /** Comes at a random moment of some transactions; what it leaves is looked at, or the next comes. */
  async suffer(fault: string): Promise<void> {
    const { output } = this.#options;
    this.#fault = fault;
    const rounds = this.#dice.between(2, 6);
    const before = this.#writers.rounds;
    const at = before + this.#dice.below(rounds);
    const writing = this.#writers.write(rounds);
    writing.catch(() => {}); // awaited below
    await until(() => this.#writers.rounds >= at, { timeout: PATIENCE, interval: 2 });
    if (this.#dice.oneIn(3)) await this.#insideLarge();
    else await delay(this.#dice.below(100));
    await FAULTS[output.kind][fault]!(this.#victims());
    await writing;
    await this.#confirmed();
    if (this.#dice.oneIn(2)) await this.#caughtUp();
  }

  /** A moment at which a large transaction is likely to have arrived in part. */
  async #insideLarge(): Promise<void> {
    const { output } = this.#options;
    const before = output.size();
    await this.#writers.writeLarge();
    const begun = performance.now();
    const isInside = (): boolean => output.size() > before + this.#dice.below(1_000_000);
    await until(() => isInside() || performance.now() - begun > MOMENT, { interval: 1 });
  }

  /** All that was written arrives in the end. */
  async end(): Promise<LegResult> {
    const { output } = this.#options;
    this.#fault = 'all faults';
    await this.#writers.decideAll();
    await this.#caughtUp();
    await this.#confirmed();
    await noHang(this.#tail.end('SIGTERM'), 'the last stop');
    await this.#confirmed();
    const verdict = judge({
      kind: output.kind,
      texts: output.texts(),
      checks: this.#checks,
      starts: this.#starts,
      truth: await this.#truth(),
    });
    const problems = [...this.#tail.problems, ...verdict.problems];
    return { ...verdict, problems, mode: this.#mode, starts: this.#tail.starts };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tail[Symbol.asyncDispose]();
  }

  #victims(): Victims {
    const { server, proxy, output } = this.#options;
    return {
      server,
      proxy,
      output,
      tail: this.#tail,
      dice: this.#dice,
      slot: this.#slot,
      ask: (sql) => this.#ask(sql),
      confirmed: () => this.#confirmed(),
      onCrash: () => {
        this.#known = 0n;
        this.#starts[this.#starts.length - 1] = 0n; // it may not have read the slot yet
      },
    };
  }

  /** Asks the slot first: what arrives in between is not held against it. */
  async #confirmed(): Promise<bigint> {
    const [row] = await this.#ask<{ lsn: string }>(
      `SELECT confirmed_flush_lsn::text AS lsn
         FROM pg_replication_slots WHERE slot_name = '${this.#slot}'`,
    );
    const confirmed = lsnOf(row!.lsn);
    const position = this.#options.output.position();
    this.#checks.push({ fault: this.#fault, confirmed, position });
    this.#known = confirmed;
    return confirmed;
  }

  /** Everything that was committed until now has arrived. Nothing else may be written meanwhile. */
  async #caughtUp(): Promise<void> {
    const [row] = await this.#ask<{ lsn: string }>(
      'SELECT pg_current_wal_insert_lsn()::text AS lsn',
    );
    const before = lsnOf(row!.lsn);
    await this.#ask('INSERT INTO beacons DEFAULT VALUES');
    const { output } = this.#options;
    try {
      await until(() => output.position() > before, { timeout: PATIENCE, what: 'all to arrive' });
    } catch (cause) {
      const said = this.#tail.stderr.slice(-2000);
      throw new Error(`after ${this.#fault}, ${this.#mode}: ${said}`, { cause });
    }
  }

  async #ask<Row extends object>(sql: string): Promise<Row[]> {
    const client = await this.#database.connect();
    try {
      return (await client.query<Row>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async #truth(): Promise<Truth> {
    const transactions = await this.#ask<{
      txn: number;
      session: number;
      messages: number;
      prepared: boolean;
    }>('SELECT * FROM transactions');
    const said = await this.#ask<{ message: number }>('SELECT message FROM said');
    const rows = await this.#ask<{ txn: number; part: number; note: string }>(
      'SELECT txn, part, note FROM orders',
    );
    const orders = new Map<number, Map<number, string>>();
    for (const { txn, part, note } of rows) {
      const own = orders.get(txn) ?? new Map<number, string>();
      orders.set(txn, own.set(part, note));
    }
    return {
      transactions: new Map(transactions.map(({ txn, ...witness }) => [txn, witness])),
      said: new Set(said.map(({ message }) => message)),
      orders,
    };
  }
}
