// Random tables with random changes: every line says what row_to_json said of that change when it
// happened, and nothing that is not so. A failure names its seed: PGTAIL_TEST_SEED=… repeats it,
// PGTAIL_TEST_SECONDS=… tries for longer.

import { DatabaseError } from 'pg';
import { expect, it } from 'vitest';
import { pinSession } from '../pgtypes/encoded.ts';
import { Dice } from '../support/dice.ts';
import { insert, randomTransaction } from '../support/random-changes.ts';
import { type RandomTable, randomTables } from '../support/random-tables.ts';
import { arrayType, builtinTypes, HSTORE, userTypes } from '../support/random-types.ts';
import { createDatabase, sharedServer, type TestDatabase } from '../support/server.ts';
import { type Mode, modeName, pressed } from '../support/stream-modes.ts';
import { tailInProcess } from '../support/tail-in-process.ts';
import {
  expectedParts,
  rowParts,
  takeWitnessed,
  unchangedIn,
  WITNESS_TABLE,
  WITNESS_TRUNCATE,
  type WitnessedChange,
  witnessTriggers,
} from '../support/witness.ts';

const SECONDS = Number(process.env.PGTAIL_TEST_SECONDS ?? 12);
const SEED = Number(process.env.PGTAIL_TEST_SEED ?? Date.now() & 0x7fff_ffff);
/** Whatever is begun when the time is up. */
const LAST_ROUND_SECONDS = 100;

const PLAIN: Mode = { streaming: 'off', binary: false, twoPhase: false };
const OTHER_MODES: readonly Mode[] = [
  { ...PLAIN, streaming: 'buffer' },
  { ...PLAIN, binary: true },
  { ...PLAIN, streaming: 'buffer', binary: true },
];

const { major } = sharedServer();

it.skipIf(major < 14)(
  `random changes of random tables are told as they were (seed ${SEED})`,
  async () => {
    await using database = await openDatabase();
    const deadline = performance.now() + SECONDS * 1_000;
    let compared = 0;
    for (let seed = SEED; seed === SEED || performance.now() < deadline; seed++) {
      compared += await new Round(database, seed).run();
    }
    expect(compared).toBeGreaterThan(0);
  },
  (SECONDS + LAST_ROUND_SECONDS) * 1_000,
);

async function openDatabase(): Promise<TestDatabase> {
  const database = await createDatabase();
  await pinSession(database);
  await database.sql(`CREATE EXTENSION hstore; ${WITNESS_TABLE}; CREATE PUBLICATION shop FOR ALL TABLES;
    SET search_path TO shop, public; SET lock_timeout TO '15s'`);
  return database;
}

/** Some tables from their creation to the comparison of all that was printed of them. */
class Round {
  readonly #database: TestDatabase;
  readonly #seed: number;
  readonly #dice: Dice;
  readonly #tables: readonly RandomTable[];
  readonly #schema: string;

  constructor(database: TestDatabase, seed: number) {
    const dice = new Dice(seed);
    const builtin = builtinTypes(dice);
    // only the server can turn an hstore into text: with one there is no --binary
    const simple = dice.oneIn(4) ? [...builtin, ...dice.times(5, () => HSTORE)] : builtin;
    const made = userTypes(dice, simple, dice.between(2, 8));
    const several = [...simple, ...made, ...made, ...made];
    const arrays = dice.some(several, 20).map(arrayType);
    const large = several.filter((type) => type.large !== undefined);
    this.#database = database;
    this.#seed = seed;
    this.#dice = dice;
    this.#tables = randomTables(dice, [...several, ...arrays, ...large], dice.between(1, 4));
    this.#schema = [
      ...made.flatMap(({ create }) => create ?? []),
      ...this.#tables.map(({ create }) => create),
    ].join(';\n');
  }

  /** How many changes were compared. */
  async run(): Promise<number> {
    try {
      return await this.#compared();
    } catch (error) {
      throw new Error(`PGTAIL_TEST_SEED=${this.#seed}\n${this.#schema}`, { cause: error });
    }
  }

  async #compared(): Promise<number> {
    const other = this.#dice.pick(OTHER_MODES);
    await this.#makeTables();
    const [slot, copy] = ['round', 'round_copy'].map((name) => `${this.#database.name}_${name}`);
    await this.#database.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [slot]);
    await this.#change();
    await this.#database.query('SELECT pg_copy_logical_replication_slot($1, $2)', [slot, copy]);
    const witnessed = await takeWitnessed(this.#database);
    const ndjson = await this.#print(slot!, PLAIN);
    this.#compare(ndjson, witnessed);
    expectSameLines(await this.#print(copy!, other), ndjson, modeName(other));
    await this.#removeTables(slot!, copy!);
    return witnessed.length;
  }

  async #makeTables(): Promise<void> {
    await this.#database.sql('CREATE SCHEMA shop');
    await this.#database.sql(this.#schema);
    await this.#database.sql(WITNESS_TRUNCATE);
    for (const table of this.#tables) await this.#database.sql(witnessTriggers(table));
  }

  async #removeTables(...slots: readonly string[]): Promise<void> {
    for (const slot of slots)
      await this.#database.query('SELECT pg_drop_replication_slot($1)', [slot]);
    await this.#database.sql('SET client_min_messages TO warning; DROP SCHEMA shop CASCADE');
  }

  async #change(): Promise<void> {
    const inserts = this.#tables.flatMap((table) =>
      this.#dice.times(2, () => [insert(this.#dice, table)]),
    );
    const transactions = this.#dice.times(12, () => randomTransaction(this.#dice, this.#tables));
    for (const statements of [...inserts, ...transactions]) await this.#commit(statements);
  }

  async #commit(statements: readonly string[]): Promise<void> {
    for (const statement of statements) {
      try {
        await this.#database.sql(statement);
      } catch (error) {
        if (!isRefused(error)) throw new Error(`${error}\n${statement}`, { cause: error });
        await this.#database.sql('ROLLBACK');
        return;
      }
    }
  }

  async #print(slot: string, mode: Mode): Promise<string> {
    const { host, port, user, name } = this.#database;
    const to = { host, port: String(port), username: user, dbname: name };
    const env = mode.streaming === 'off' ? {} : pressed(major, 'each change');
    const { code, stdout, notices } = await tailInProcess(
      { ...to, slot, publication: ['shop'], follow: false, ...mode },
      { PGSSLMODE: 'disable', ...env },
    );
    expect({ code, notices }, modeName(mode)).toMatchObject({ code: 0 });
    return stdout;
  }

  #compare(ndjson: string, witnessed: readonly WitnessedChange[]): void {
    const left = [...witnessed];
    for (const line of ndjson.split('\n').filter(isChange)) {
      if (line.startsWith('{"op":"truncate"')) this.#compareTruncate(line, left);
      else this.#compareRow(line, left.shift());
    }
    expect(left, 'not printed').toEqual([]);
  }

  #compareRow(line: string, change: WitnessedChange | undefined): void {
    const { op, table: name } = JSON.parse(line) as Record<string, unknown>;
    expect([op, name], line).toEqual([change?.op, change?.table]);
    const table = this.#tables.find((each) => each.name === name)!;
    const unchanged = unchangedIn(line, change!, table);
    const expected = expectedParts(change!, table, unchanged);
    const both = `${line}\nis not what was witnessed:\n${JSON.stringify(change)}`;
    expect(rowParts(line), both).toEqual(expected);
  }

  /** Each of the tables tells of it. */
  #compareTruncate(line: string, left: WitnessedChange[]): void {
    const { tables } = JSON.parse(line) as { readonly tables: readonly { table: string }[] };
    const told = left.splice(0, tables.length).map(({ op, table }) => `${op} ${table}`);
    expect(told.sort(), line).toEqual(tables.map(({ table }) => `truncate ${table}`).sort());
  }
}

/** One by one, so that a difference names its line and not the whole output. */
function expectSameLines(actual: string, expected: string, mode: string): void {
  const lines = actual.split('\n');
  for (const [i, line] of expected.split('\n').entries()) expect(lines[i], mode).toBe(line);
  expect(actual.length, mode).toBe(expected.length);
}

const isChange = (line: string): boolean => /^\{"op":"(insert|update|delete|truncate)"/.test(line);

/** Two keys that are equal, or one too large for its index. */
function isRefused(error: unknown): boolean {
  return error instanceof DatabaseError && /^23|^54000$/.test(error.code ?? '');
}
