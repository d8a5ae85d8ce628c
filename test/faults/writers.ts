// Writes random transactions from several sessions at once, and keeps its own account of them in the
// same database, in the same transactions: what was committed is what the tables say.

import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig, DatabaseError, escapeLiteral } from 'pg';
import type { Dice } from '../support/dice.ts';

/**
 * `transactions` has a row for each transaction that was committed, `orders` its rows, `said` a row
 * for each non-transactional message that is in the WAL for sure. What is in `unpublished` is not to
 * be seen.
 */
export const SCHEMA = `
  CREATE TABLE transactions (txn int PRIMARY KEY, session int, messages int, prepared bool);
  CREATE TABLE orders (txn int, part int, note text, PRIMARY KEY (txn, part));
  CREATE TABLE said (message int PRIMARY KEY);
  CREATE TABLE beacons (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
  CREATE TABLE unpublished (txn int)`;
export const PUBLISHED = 'transactions, orders, said, beacons';

/** The prefix of messages in transactions, with the transaction's number as content, and of others. */
export const IN_TRANSACTION = 'in transaction';
export const ALONE = 'alone';

/** Rows of a large transaction. */
const LARGE = 4000;
const MOST_PREPARED = 8;
const SERVER_RETRY = 50;

export interface WritersOptions {
  readonly connection: ClientConfig;
  readonly dice: Dice;
  readonly sessions: number;
}

export class Writers implements AsyncDisposable {
  readonly #options: WritersOptions;
  readonly #sessions: readonly Session[];
  readonly #decider: Session;
  #rounds = 0;

  constructor(options: WritersOptions) {
    this.#options = options;
    this.#sessions = Array.from(
      { length: options.sessions },
      (_, number) => new Session(number + 1, options.connection),
    );
    this.#decider = new Session(0, options.connection);
  }

  /** Rounds that are over. */
  get rounds(): number {
    return this.#rounds;
  }

  /** Each session has one transaction in each round, and all end at the same moment. */
  async write(rounds: number): Promise<void> {
    for (let i = 0; i < rounds; i++) {
      const { dice } = this.#options;
      const plans = this.#sessions.map((session) => session.plan(dice));
      await this.#together((session, i) => session.begin(plans[i]!.body));
      const deciding = dice.oneIn(3) ? this.decideOne() : Promise.resolve();
      await this.#together((session, i) => session.end(plans[i]!));
      await deciding;
      this.#rounds++;
    }
  }

  async writeLarge(): Promise<void> {
    await unlessServerIsGone(() => this.#decider.writeLarge());
  }

  /** Commits or rolls back one of those that are prepared, if there is any. */
  async decideOne(): Promise<void> {
    const { dice } = this.#options;
    await unlessServerIsGone(async () => {
      const gids = await this.#decider.preparedGids();
      if (gids.length === 0) return;
      const verb = dice.oneIn(4) ? 'ROLLBACK' : 'COMMIT';
      await this.#decider.query(`${verb} PREPARED ${escapeLiteral(dice.pick(gids))}`);
    });
  }

  /** None is left prepared. The server must be there. */
  async decideAll(): Promise<void> {
    await this.#decider.close(); // it may not know yet that it was cut off
    while ((await this.#decider.preparedGids()).length > 0) await this.decideOne();
  }

  /** Prepares so many. */
  async prepare(count: number): Promise<void> {
    const [session] = this.#sessions;
    for (let i = 0; i < count; i++) {
      const plan = session!.plan(this.#options.dice, 'prepare');
      await session!.begin(plan.body);
      await session!.end(plan);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of [...this.#sessions, this.#decider]) await session.close();
  }

  async #together(work: (session: Session, i: number) => Promise<void>): Promise<void> {
    await Promise.all(
      this.#sessions.map((session, i) => unlessServerIsGone(() => work(session, i))),
    );
  }
}

type Ending = 'commit' | 'rollback' | 'prepare';

/** As often as each is to be. */
const ENDINGS: readonly Ending[] = [
  ...['commit', 'commit', 'commit', 'commit', 'commit'],
  ...['prepare', 'prepare', 'rollback'],
] as const;

/** What a transaction will do. */
interface Plan {
  readonly txn: number;
  readonly body: readonly string[];
  readonly ending: Ending;
}

/** A session that connects again after it was cut off, and then waits for the server. */
class Session {
  readonly #number: number;
  readonly #connection: ClientConfig;
  #client: Client | null = null;
  #inTransaction = false;
  #transactions = 0;
  #messages = 0;
  /** Messages that were written but maybe not to the disk yet. */
  #unsaid: number[] = [];

  constructor(number: number, connection: ClientConfig) {
    this.#number = number;
    this.#connection = connection;
  }

  plan(dice: Dice, wanted?: Ending): Plan {
    const txn = this.#own(++this.#transactions);
    const ending = wanted ?? dice.pick(ENDINGS);
    // one that changes nothing published has no witness: nothing must come of it
    if (dice.oneIn(10)) {
      return { txn, body: [`INSERT INTO unpublished VALUES (${txn})`], ending };
    }
    const parts = dice.times(dice.between(1, 4), (i) => this.#part(dice, txn, i * LARGE));
    const messages = parts.filter(({ isMessage }) => isMessage).length;
    const witness = `INSERT INTO transactions
      VALUES (${txn}, ${this.#number}, ${messages}, ${ending === 'prepare'})`;
    return { txn, body: [...parts.map(({ sql }) => sql), witness], ending };
  }

  async begin(body: readonly string[]): Promise<void> {
    await this.#ready();
    await this.query('BEGIN');
    this.#inTransaction = true;
    for (const sql of body) await this.query(sql);
  }

  async end({ txn, ending }: Plan): Promise<void> {
    if (!this.#inTransaction) return;
    this.#inTransaction = false;
    if (ending === 'rollback') await this.query('ROLLBACK');
    else if (ending === 'prepare') await this.#prepare(txn);
    else await this.#commit();
  }

  async query<Row extends object>(sql: string): Promise<Row[]> {
    await this.#connected();
    try {
      return (await this.#client!.query<Row>(sql)).rows;
    } catch (error) {
      if (isServerGone(error)) await this.close();
      throw error;
    }
  }

  /** One whose lines take a moment to write. */
  async writeLarge(): Promise<void> {
    const txn = this.#own(++this.#transactions);
    await this.query(`INSERT INTO orders SELECT ${txn}, part, repeat('n', 80)
        FROM generate_series(1, ${5 * LARGE}) part;
      INSERT INTO transactions VALUES (${txn}, ${this.#number}, 0, false)`);
  }

  async preparedGids(): Promise<string[]> {
    const rows = await this.query<{ gid: string }>(
      'SELECT gid FROM pg_prepared_xacts WHERE database = current_database() ORDER BY gid',
    );
    return rows.map(({ gid }) => gid);
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    this.#inTransaction = false;
    await client?.end().catch(() => undefined);
  }

  /** A number that no other session has. */
  #own(count: number): number {
    return this.#number * 100_000 + count;
  }

  #part(dice: Dice, txn: number, from: number): { sql: string; isMessage?: boolean } {
    const rows = (count: number, at = from): string =>
      `INSERT INTO orders SELECT ${txn}, part, 'order ' || part || ' ' || repeat('n', 80)
         FROM generate_series(${at + 1}, ${at + count}) part`;
    const few = rows(dice.between(1, 5));
    switch (dice.below(12)) {
      case 0:
        return { sql: rows(dice.between(LARGE / 4, LARGE)) };
      case 1:
        return { sql: `SAVEPOINT s; ${few}; ROLLBACK TO s` };
      case 2:
        return { sql: `${few}; SAVEPOINT s; ${rows(700, from + 10)}; ROLLBACK TO s; RELEASE s` };
      case 3:
        return { sql: `${few}; UPDATE orders SET note = 'changed' WHERE txn = ${txn}` };
      case 4:
        return { sql: `${few}; DELETE FROM orders WHERE (txn, part) = (${txn}, ${from + 1})` };
      case 5:
        return {
          sql: `SELECT pg_logical_emit_message(true, '${IN_TRANSACTION}', '${txn}')`,
          isMessage: true,
        };
      case 6:
        return { sql: this.#messageAlone() };
      case 7:
        return { sql: `SAVEPOINT s; ${few}; RELEASE s` };
      default:
        return { sql: few };
    }
  }

  #messageAlone(): string {
    const message = this.#own(++this.#messages);
    this.#unsaid.push(message);
    return `SELECT pg_logical_emit_message(false, '${ALONE}', '${message}')`;
  }

  async #prepare(txn: number): Promise<void> {
    const prepared = await this.preparedGids();
    if (prepared.length >= MOST_PREPARED) await this.query('ROLLBACK');
    else await this.query(`PREPARE TRANSACTION 'txn ${txn}'`);
  }

  /** Everything that this session wrote before its commit is in the WAL for good after it. */
  async #commit(): Promise<void> {
    const said = this.#unsaid.splice(0);
    if (said.length > 0) {
      await this.query(
        `INSERT INTO said VALUES ${said.map((message) => `(${message})`).join(', ')}`,
      );
    }
    await this.query('COMMIT');
  }

  /** Messages of a session that was cut off may never have reached the server. */
  async #ready(): Promise<void> {
    if (this.#client === null) this.#unsaid = [];
    await this.#connected();
  }

  async #connected(): Promise<void> {
    while (this.#client === null) {
      const client = new Client(this.#connection);
      client.on('error', () => undefined); // the next query tells
      try {
        await client.connect();
        this.#client = client;
      } catch (error) {
        await client.end().catch(() => undefined);
        if (!isServerGone(error)) throw error;
        await delay(SERVER_RETRY);
      }
    }
  }
}

async function unlessServerIsGone(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isServerGone(error)) throw error;
  }
}

/** 57P01 to 57P03: it stops, or starts. What is no report of the server is a lost connection. */
function isServerGone(error: unknown): boolean {
  if (error instanceof TypeError) return false; // a mistake of the test
  return !(error instanceof DatabaseError) || (error.code ?? '').startsWith('57P');
}
