// Notices that nothing arrives although the server writes, and finds out why, over an ordinary
// connection and beside the stream.

import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { Catalog } from '../catalog/catalog-names.ts';
import type { Lsn } from '../lsn.ts';
import { readActivity } from './activity.ts';
import { readPublished } from './published.ts';
import {
  changedTables,
  type Look,
  reasonKey,
  type SilenceFacts,
  type SilenceReason,
  silenceReasons,
} from './reasons.ts';

export interface Silence {
  /** Since something was printed, or since the start, in ms. */
  readonly duration: number;
  /** Bytes of WAL written since the look before. */
  readonly written: number;
  readonly reasons: readonly SilenceReason[];
}

export interface SilenceWatchOptions {
  /** After how long a silence is told, in ms. */
  readonly patience: number;
  readonly publications: readonly string[];
  readonly catalog: Catalog;
  readonly walsender: number;
  readonly isPrinted: SilenceFacts['isPrinted'];
  /** Runs catalog queries on an ordinary connection. */
  readonly withQuery: <T>(work: (query: RunQuery) => Promise<T>) => Promise<T>;
  /** A clock in ms that nobody sets. */
  readonly uptime: () => number;
  /** Bytes printed so far. */
  readonly printed: () => number;
  /** The end of WAL as the server last told it, and when it last said anything. */
  readonly walEnd: () => Lsn;
  readonly heardAt: () => number;
  /** Nothing is read from the server now: the silence is ours. */
  readonly isPaused: () => boolean;
  /** Asks the server where its WAL ends; it answers unless it is busy. */
  readonly poll: () => void;
  readonly onSilence: (silence: Silence) => void;
}

/** In ms. */
const SHORTEST_TICK = 50;
const LONGEST_TICK = 2 ** 31 - 1;

/**
 * What was told within so many times the patience is not told again of a new silence: between the
 * rows of a slow stream it would stand there all the time.
 */
const REMEMBERED = 6;

/** A reason that stays while nothing arrives is told again after twice as long each time. */
interface Told {
  /** When, in ms. */
  readonly at: number;
  readonly times: number;
  /** Looks left before it is told again. */
  readonly rest: number;
}

/**
 * Looks at the server when it starts, when something has just stopped arriving, and after each
 * `patience` of silence in which the end of WAL moved, or the server did not say where it is.
 */
export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #look: Look | null = null;
  #printedAt: number;
  #printed: number;
  /** When the server was asked; undefined: it was not since the look before. */
  #askedAt: number | undefined;
  #isLooking = false;
  /** Something was printed since the look. */
  #isStale = false;
  /** What was found last may change without any WAL: a decoder that works, an open transaction. */
  #mayChange = false;
  readonly #told = new Map<string, Told>();

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    this.#printed = options.printed();
    this.#printedAt = options.uptime();
  }

  started(): void {
    this.#printedAt = this.#options.uptime();
    void this.#looking(() => this.#lookAgain());
    const often = Math.max(this.#options.patience / 2, SHORTEST_TICK);
    this.#timer = setInterval(() => this.#tick(), Math.min(often, LONGEST_TICK));
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const { printed, uptime, isPaused, patience } = this.#options;
    const now = uptime();
    const hasArrived = printed() !== this.#printed;
    if (hasArrived) this.#forget(now - REMEMBERED * patience);
    if (hasArrived || isPaused()) {
      this.#printed = printed();
      this.#printedAt = now;
      this.#isStale = true;
      this.#askedAt = undefined;
      return;
    }
    // what was printed since is no reason for the silence that begins
    if (this.#isStale) void this.#looking(() => this.#lookAgain());
    this.#isStale = false;
    if (this.#askedAt === undefined) this.#ask(now);
    else if (now - this.#printedAt >= patience) this.#answered(this.#askedAt);
  }

  #ask(now: number): void {
    this.#askedAt = now;
    this.#options.poll();
  }

  /** A server that does nothing answers, and its WAL does not grow. */
  #answered(askedAt: number): void {
    const { walEnd, heardAt } = this.#options;
    const moved = walEnd() > (this.#look?.activity.walEnd ?? 0n);
    this.#askedAt = undefined;
    if (moved || heardAt() < askedAt || this.#mayChange) {
      void this.#looking(() => this.#explain());
    }
  }

  /** One at a time; a server that cannot be asked is asked again later. */
  async #looking(work: () => Promise<void>): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    await work().catch(() => {});
    this.#isLooking = false;
  }

  async #lookAgain(): Promise<void> {
    this.#look = await this.#options.withQuery((query) => this.#lookBy(query));
  }

  async #lookBy(query: RunQuery): Promise<Look> {
    const { walsender, catalog, uptime } = this.#options;
    return { activity: await readActivity(query, walsender, catalog), at: uptime() };
  }

  async #explain(): Promise<void> {
    const { withQuery, publications, catalog, isPrinted } = this.#options;
    const before = this.#look;
    if (before === null) return this.#lookAgain();
    const facts = await withQuery(async (query) => {
      const after = await this.#lookBy(query);
      const changed = [...changedTables(before.activity, after.activity).keys()];
      const published = await readPublished(query, changed, publications, catalog);
      return { before, after, published, isPrinted };
    });
    this.#look = facts.after;
    this.#tell(facts);
  }

  #tell(facts: SilenceFacts): void {
    const { printed, uptime, onSilence } = this.#options;
    if (printed() !== this.#printed) return; // it is over
    const all = silenceReasons(facts);
    this.#mayChange = all.some(({ kind }) => kind === 'decoding' || kind === 'open transaction');
    const reasons = all.filter((reason) => this.#isDue(reasonKey(reason)));
    if (reasons.length === 0) return;
    const { before, after } = facts;
    onSilence({
      duration: uptime() - this.#printedAt,
      written: Number(after.activity.walEnd - before.activity.walEnd),
      reasons,
    });
  }

  /** The next silence is another one: what was told before that moment is to be told again. */
  #forget(before: number): void {
    for (const [key, { at }] of this.#told) if (at < before) this.#told.delete(key);
  }

  #isDue(key: string): boolean {
    const told = this.#told.get(key);
    const times = (told?.times ?? 0) + 1;
    if (told !== undefined && told.rest > 0) {
      this.#told.set(key, { ...told, rest: told.rest - 1 });
      return false;
    }
    this.#told.set(key, { at: this.#options.uptime(), times, rest: 2 ** times - 1 });
    return true;
  }
}
