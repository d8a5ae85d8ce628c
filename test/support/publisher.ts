// A database with a publication and a slot, read in every mode and compared with its own tables.

import { escapeIdentifier } from 'pg';
import { expect } from 'vitest';
import { canonical, exactJson } from './exact-json.ts';
import { type PgtailResult, runPgtail, startPgtail } from './pgtail.ts';
import { Replica } from './replica.ts';
import { type SharedServer, sharedServer, TestDatabase } from './server.ts';
import {
  equalOutputs,
  type Mode,
  type ModeRun,
  modeName,
  modeOptions,
  modesOf,
  type Pressure,
  pressed,
} from './stream-modes.ts';
import { type Line, linesOf } from './tail.ts';
import { tailInProcess } from './tail-in-process.ts';

export interface PublisherOptions {
  /** Statements that come before the slot. */
  readonly schema: string;
  /** What each publication is FOR; their names are the keys. Default: `shop`, for all tables. */
  readonly publications?: Readonly<Record<string, string>>;
  readonly server?: SharedServer;
  /** What follows CREATE DATABASE. */
  readonly database?: string;
}

export interface Reading {
  /** Tables that must end up equal, each with the query of what is published of it; may be none. */
  readonly tables: Readonly<Record<string, string>>;
  readonly pressure?: Pressure;
  /** Default: all that the server has. */
  readonly modes?: (mode: Mode) => boolean;
  /** gids that nobody has decided in the end; to be given, if only as none, where any is prepared. */
  readonly undecided?: readonly string[];
  /** What may be said on the way; default: nothing. */
  readonly notices?: readonly string[];
}

/** A run against a certain major takes its time; the default run is quick. */
const EVERY_MODE = process.env.PGTAIL_TEST_MAJOR !== undefined;

/** --two-phase changes nothing where nothing is prepared: there two modes with it are enough. */
function isWanted(mode: Mode, { modes, undecided }: Reading): boolean {
  if (modes !== undefined && !modes(mode)) return false;
  if (EVERY_MODE || undecided !== undefined || !mode.twoPhase) return true;
  return mode.binary && (mode.streaming === 'off' || mode.streaming === 'buffer');
}

/** `schema.table` → all its rows. */
export function wholeTables(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `SELECT * FROM ${name}`]));
}

export class Publisher implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly slot: string;
  readonly publications: readonly string[];
  #copies = 0;

  private constructor(database: TestDatabase, publications: readonly string[]) {
    this.database = database;
    this.publications = publications;
    this.slot = `${database.name}_slot`;
  }

  static async open(options: PublisherOptions): Promise<Publisher> {
    const { schema, publications = { shop: 'FOR ALL TABLES' }, server = sharedServer() } = options;
    const database = await TestDatabase.create(server, options.database);
    const publisher = new Publisher(database, Object.keys(publications));
    try {
      await database.sql(schema);
      for (const [name, what] of Object.entries(publications)) {
        await database.sql(`CREATE PUBLICATION ${escapeIdentifier(name)} ${what}`);
      }
      await database.sql(`SET TimeZone TO 'UTC'`); // that of the lines
      await database.sql('SET extra_float_digits TO 3');
      await database.sql(`SET lock_timeout TO '15s'`); // a slot would wait for whoever hangs
      await publisher.createSlot(publisher.slot);
      return publisher;
    } catch (error) {
      await database.drop();
      throw error;
    }
  }

  get major(): number {
    return this.database.major;
  }

  /** Each text is one transaction. */
  async commit(...transactions: readonly string[]): Promise<void> {
    for (const text of transactions) await this.database.sql(text);
  }

  async createSlot(name: string, twoPhase = false): Promise<void> {
    const more = twoPhase ? ', false, true' : '';
    await this.database.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput'${more})`, [
      name,
    ]);
  }

  /** A slot that reads the same changes as the first one, from the start. */
  async copyOfSlot(): Promise<string> {
    const copy = `${this.slot}_${++this.#copies}`;
    await this.database.query('SELECT pg_copy_logical_replication_slot($1, $2)', [this.slot, copy]);
    return copy;
  }

  /** The options that read a slot up to now. */
  args(slot = this.slot): string[] {
    const publications = this.publications.flatMap((name) => ['-P', name]);
    return [...this.database.options, '-S', slot, ...publications];
  }

  /** Runs the program up to now. */
  run(slot: string, options: readonly string[] = [], pressure?: Pressure): Promise<PgtailResult> {
    const env = pressure === undefined ? {} : pressed(this.major, pressure);
    return runPgtail([...this.args(slot), '--no-follow', ...options], { env });
  }

  /** Starts the program: it follows what happens from now on. */
  async follow(slot: string, options: readonly string[] = [], pressure: Pressure = 'memory') {
    const env = pressed(this.major, pressure);
    const child = startPgtail([...this.args(slot), ...options], { env });
    await child.started();
    return child;
  }

  /**
   * Reads the slot in every mode: each must show the tables as they are, and those that must be the
   * same byte for byte are. The last mode, or the first too, is run as a program besides.
   */
  async readInEveryMode(reading: Reading): Promise<ModeRuns> {
    const modes = modesOf(this.major).filter((mode) => isWanted(mode, reading));
    const expected = await this.expectedRows(reading.tables);
    const env = pressed(this.major, reading.pressure ?? 'each change');
    if (this.major < 12)
      return new ModeRuns([await this.#runProgram(this.slot, modes[0]!)], this.major).check(
        expected,
        reading,
      );
    const slots: string[] = [];
    for (const _ of modes) slots.push(await this.copyOfSlot());
    const programModes = EVERY_MODE ? [...new Set([modes[0]!, modes.at(-1)!])] : [modes.at(-1)!];
    const programSlots: string[] = [];
    for (const _ of programModes) programSlots.push(await this.copyOfSlot());
    const [runs, programs] = await Promise.all([
      Promise.all(modes.map((mode, i) => this.#runHere(slots[i]!, mode, env))),
      Promise.all(programModes.map((mode, i) => this.#runProgram(programSlots[i]!, mode, env))),
    ]);
    for (const { mode, stdout } of programs) {
      const here = runs.find((run) => run.mode === mode)!;
      expect(stdout, `the program with ${modeName(mode)}`).toBe(here.stdout);
    }
    return new ModeRuns(runs, this.major).check(expected, reading);
  }

  /** What the server says of its tables, as the lines show values. */
  async expectedRows(tables: Reading['tables']): Promise<Map<string, string[]>> {
    const expected = new Map<string, string[]>();
    for (const [table, query] of Object.entries(tables)) {
      const rows = await this.database.query<{ row: string }>(
        `SELECT row_to_json(published)::text AS row FROM (${query}) AS published`,
      );
      expected.set(table, rows.map(({ row }) => canonical(exactJson(row))).sort());
    }
    return expected;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database.drop();
  }

  async #runHere(
    slot: string,
    mode: Mode,
    env: Readonly<Record<string, string>>,
  ): Promise<ModeRun> {
    const { host, port, user, name } = this.database;
    const result = await tailInProcess(
      {
        host,
        port: String(port),
        username: user,
        dbname: name,
        slot,
        publication: this.publications,
        follow: false,
        yes: mode.twoPhase,
        ...mode,
      },
      { PGSSLMODE: 'disable', ...(mode.streaming === 'off' ? {} : env) },
    );
    expect(result, `with ${modeName(mode)}`).toMatchObject({ code: 0 });
    return { mode, stdout: result.stdout, notices: result.notices };
  }

  async #runProgram(
    slot: string,
    mode: Mode,
    env: Readonly<Record<string, string>> = {},
  ): Promise<ModeRun> {
    const args = [...this.args(slot), '--no-follow', '-q', ...modeOptions(mode)];
    const { code, stdout, stderr } = await runPgtail(args, {
      env: mode.streaming === 'off' ? {} : env,
    });
    expect({ code, stderr }, `the program with ${modeName(mode)}`).toEqual({ code: 0, stderr: '' });
    return { mode, stdout, notices: [] };
  }
}

/** What each mode printed of the same changes. */
const UNCLEAR_ROLLBACK = 'again without buffer';
const NOTHING = '';

export class ModeRuns {
  readonly runs: readonly ModeRun[];
  readonly #major: number;
  readonly #replicas = new Map<string, Replica>();

  constructor(runs: readonly ModeRun[], major: number) {
    this.runs = runs;
    this.#major = major;
  }

  /** The lines of each mode that these belong to. */
  of(mode: Partial<Mode>): Line[][] {
    const wanted = Object.entries(mode);
    return this.runs
      .filter((run) => wanted.every(([name, value]) => run.mode[name as keyof Mode] === value))
      .map(({ stdout }) => linesOf(stdout));
  }

  /** The lines without any option. */
  get plain(): Line[] {
    return this.of({ streaming: 'off', binary: false, twoPhase: false })[0]!;
  }

  check(expected: ReadonlyMap<string, string[]>, reading: Reading): this {
    for (const { mode, stdout, notices } of this.runs) {
      const name = modeName(mode);
      // a kept message beside something rolled back is read again unstreamed
      const usual = mode.streaming === 'buffer' ? UNCLEAR_ROLLBACK : NOTHING;
      const told = notices.filter((notice) => notice !== usual);
      expect(told, `notices with ${name}`).toEqual(reading.notices ?? []);
      if (this.#mustStream(mode, reading)) expect(stdout, name).toContain('"op":"stream_');
      if (expected.size === 0) continue;
      const replica = this.#replicaOf(stdout);
      for (const [table, rows] of expected) {
        expect(replica.rows(table), `${table} with ${name}`).toEqual(rows);
      }
      const undecided = mode.twoPhase ? (reading.undecided ?? []) : [];
      expect(replica.undecided, `undecided with ${name}`).toEqual(undecided);
    }
    for (const [names, one, other] of equalOutputs(this.runs)) expect(one, names).toBe(other);
    return this;
  }
  /** Most modes print the same: it is read once. */
  #replicaOf(stdout: string): Replica {
    const replica = this.#replicas.get(stdout) ?? Replica.of(stdout);
    this.#replicas.set(stdout, replica);
    return replica;
  }

  /** Else the comparison would prove nothing. */
  #mustStream({ streaming }: Mode, { pressure = 'each change' }: Reading): boolean {
    const shown = streaming === 'on' || streaming === 'parallel';
    return shown && (pressure === 'memory' || this.#major >= 16);
  }
}
