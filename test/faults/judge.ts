// Compares what was delivered with what the tables say, and what was acknowledged with what had
// been delivered by then.

import type { Line } from '../support/tail.ts';
import type { DeliveredOutput } from './outputs.ts';
import { type Unit, type Units, unitsOf } from './units.ts';
import { ALONE, IN_TRANSACTION } from './writers.ts';

/** What the tables say when all is over. */
export interface Truth {
  readonly transactions: ReadonlyMap<number, Witness>;
  /** By transaction: its rows, each a part and a note. */
  readonly orders: ReadonlyMap<number, ReadonlyMap<number, string>>;
  /** Numbers of the messages outside transactions that are in the WAL for sure. */
  readonly said: ReadonlySet<number>;
}

export interface Witness {
  readonly session: number;
  readonly messages: number;
  readonly prepared: boolean;
}

/** How things stood at one moment: the slot was asked first. */
export interface Check {
  readonly fault: string;
  readonly confirmed: bigint;
  readonly position: bigint;
}

export interface Evidence {
  readonly kind: DeliveredOutput['kind'];
  /** One each file or process, in order. */
  readonly texts: readonly string[];
  readonly checks: readonly Check[];
  /** At the start of each process: up to here everything had been acknowledged. */
  readonly starts: readonly bigint[];
  readonly truth: Truth;
}

export interface Verdict {
  readonly transactions: number;
  readonly rows: number;
  readonly lost: readonly number[];
  readonly repeated: readonly string[];
  /** Units that came again because nobody had acknowledged them: to a pipe only. */
  readonly cameAgain: number;
  readonly problems: readonly string[];
}

export function judge(evidence: Evidence): Verdict {
  const parts = evidence.texts.map(unitsOf);
  const problems = parts.flatMap((part) => part.problems);
  const { units, repeated, cameAgain } = withoutRepeats(parts, evidence);
  problems.push(...(evidence.kind === 'file' ? fileProblems(parts, evidence) : []));
  problems.push(...orderProblems(evidence.kind === 'file' ? [units] : parts.map((p) => p.units)));
  problems.push(...evidence.checks.flatMap((check) => acknowledgedTooEarly(check, units)));
  const delivered = new Delivered(evidence.truth);
  for (const unit of units) delivered.take(unit);
  problems.push(...delivered.end());
  const lost = [...evidence.truth.transactions.keys()].filter((txn) => !delivered.has(txn));
  return {
    transactions: evidence.truth.transactions.size,
    rows: delivered.rows,
    lost,
    repeated,
    cameAgain,
    problems,
  };
}

/** Each unit where it came first. */
function withoutRepeats(parts: readonly Units[], { kind, starts }: Evidence) {
  const seenIn = new Map<string, number>();
  const units: Unit[] = [];
  const repeated: string[] = [];
  let cameAgain = 0;
  for (const [i, part] of parts.entries()) {
    for (const unit of part.units) {
      const name = nameOf(unit);
      const before = seenIn.get(name);
      seenIn.set(name, i);
      if (before === undefined) units.push(unit);
      else if (kind === 'file' || before === i || unit.end <= starts[i]!) repeated.push(name);
      else cameAgain++;
    }
  }
  return { units, repeated, cameAgain };
}

const nameOf = ({ op, end }: Unit): string => `${op} ending at ${end.toString(16)}`;

function fileProblems(parts: readonly Units[], { texts }: Evidence): string[] {
  return [
    ...parts.filter(({ torn }) => torn > 0).map(({ torn }) => `${torn} lines of no whole unit`),
    ...texts.filter((text) => !text.startsWith('{"op":"pgtail"')).map(() => 'a file has no header'),
    ...texts.filter((text) => !text.endsWith('\n')).map(() => 'a file ends in a torn line'),
    ...texts.filter((text) => text.includes('{"op":"restart"')).map(() => 'a restart in a file'),
  ];
}

/** Units end in the order of the WAL; a late Prepare is followed by what decided it. */
function orderProblems(rows: readonly (readonly Unit[])[]): string[] {
  const problems: string[] = [];
  for (const units of rows) {
    let highest = 0n;
    for (const [i, unit] of units.entries()) {
      const isLate = unit.op === 'prepare' && units[i + 1]?.op === 'commit_prepared';
      if (unit.end <= highest && !isLate) problems.push(`${nameOf(unit)} is out of order`);
      if (unit.end > highest) highest = unit.end;
    }
  }
  return problems;
}

/** Nothing that arrived later may have been confirmed already. */
function acknowledgedTooEarly(
  { fault, confirmed, position }: Check,
  units: readonly Unit[],
): string[] {
  return units
    .filter(({ end }) => position < end && end <= confirmed)
    .map((unit) => `${nameOf(unit)} was acknowledged before it arrived, after ${fault}`);
}

/** What one committed transaction holds. */
interface Content {
  readonly txns: readonly number[];
  readonly orders: ReadonlyMap<number, ReadonlyMap<number, string>>;
  readonly messages: readonly string[];
}

/** Takes the units in order, as a consumer would. */
class Delivered {
  readonly #truth: Truth;
  readonly #txns = new Set<number>();
  readonly #messages = new Set<number>();
  /** By gid. */
  readonly #prepared = new Map<string, Unit>();
  /** By session: its last transaction. */
  readonly #lastOf = new Map<number, number>();
  readonly #problems: string[] = [];
  rows = 0;

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  has(txn: number): boolean {
    return this.#txns.has(txn);
  }

  take(unit: Unit): void {
    const gid = String(unit.lines[0]?.gid);
    switch (unit.op) {
      case 'commit':
        return this.#commit(unit);
      case 'prepare':
        this.#prepared.set(gid, unit);
        return;
      case 'commit_prepared': {
        const prepared = this.#prepared.get(gid);
        // one that changes nothing published is not shown when it is prepared; another counts as lost
        if (prepared !== undefined) this.#commit(prepared);
        return;
      }
      case 'rollback_prepared':
        this.#prepared.delete(gid);
        return;
      case 'message':
        return this.#message(Number(unit.lines[0]!.content), unit.lines[0]!.prefix === ALONE);
      default:
        unit.op satisfies never;
    }
  }

  /** What is wrong with all of it. */
  end(): string[] {
    const unheard = [...this.#truth.said].filter((message) => !this.#messages.has(message));
    return [...this.#problems, ...unheard.map((message) => `message ${message} is lost`)];
  }

  #commit(unit: Unit): void {
    const { txns, orders, messages } = contentOf(unit);
    this.rows += unit.lines.filter(({ op }) => op in CHANGES).length;
    if (txns.length > 1) this.#problems.push(`${nameOf(unit)} is several transactions in one`);
    const owners = new Set([...orders.keys(), ...messages.map(Number)]);
    for (const owner of owners) {
      if (owner !== txns[0]) this.#problems.push(`${nameOf(unit)} has changes of ${owner}`);
    }
    const [txn] = txns;
    if (txn !== undefined) this.#check(txn, orders.get(txn) ?? new Map(), messages.length);
  }

  #check(txn: number, orders: ReadonlyMap<number, string>, messages: number): void {
    const witness = this.#truth.transactions.get(txn);
    if (witness === undefined) {
      this.#problems.push(`transaction ${txn} was never committed`);
      return;
    }
    if (this.#txns.has(txn)) this.#problems.push(`transaction ${txn} came twice`);
    this.#txns.add(txn);
    if (!sameRows(orders, this.#truth.orders.get(txn) ?? new Map())) {
      this.#problems.push(`transaction ${txn} has other rows than its table`);
    }
    if (messages !== witness.messages) {
      this.#problems.push(`transaction ${txn} has ${messages} messages`);
    }
    if (!witness.prepared) this.#checkOrder(txn, witness.session);
  }

  /** A session commits one transaction after the other. */
  #checkOrder(txn: number, session: number): void {
    const last = this.#lastOf.get(session) ?? 0;
    if (txn < last) this.#problems.push(`transaction ${txn} comes behind ${last}`);
    this.#lastOf.set(session, txn);
  }

  #message(message: number, isOurs: boolean): void {
    if (!isOurs || this.#messages.has(message)) {
      this.#problems.push(`message ${message} came twice, or is none of ours`);
    }
    this.#messages.add(message);
  }
}

const CHANGES = { insert: true, update: true, delete: true };

function contentOf({ lines }: Unit): Content {
  const txns: number[] = [];
  const orders = new Map<number, Map<number, string>>();
  const messages: string[] = [];
  for (const line of lines) {
    if (line.op === 'message' && line.prefix === IN_TRANSACTION) messages.push(`${line.content}`);
    else if (line.table === 'transactions') txns.push(Number(line.new?.txn));
    else if (line.table === 'orders') applyOrder(line, orders);
  }
  return { txns, orders, messages };
}

/** Transactions change rows of their own only. */
function applyOrder(line: Line, orders: Map<number, Map<number, string>>): void {
  const { txn, part, note } = (line.new ?? line.key) as Readonly<Record<string, unknown>>;
  const rows = orders.get(Number(txn)) ?? new Map<number, string>();
  orders.set(Number(txn), rows);
  if (line.op === 'delete') rows.delete(Number(part));
  else rows.set(Number(part), String(note));
}

function sameRows(a: ReadonlyMap<number, string>, b: ReadonlyMap<number, string>): boolean {
  return a.size === b.size && [...a].every(([part, note]) => b.get(part) === note);
}
