// One connection's stream: frames in, lines out, acknowledgements back, until there is a reason to
// stop.

import {
  BufferedChangeStream,
  IncompleteStream,
  type Replay,
} from '../changes/buffered-change-stream.ts';
import { ChangeStream, type ChangeStreamOptions } from '../changes/change-stream.ts';
import { TypesWanted } from '../changes/types-wanted.ts';
import { EXIT, isTransient, PgtailError, ProtocolViolation } from '../errors.ts';
import { formatLsn, type Lsn, lsnFromWords } from '../lsn.ts';
import { PgoutputDecoder, type TupleValues } from '../pgoutput/decoder.ts';
import { NoBinaryDecoder } from '../pgtypes/binary/conversion.ts';
import type { TypeRegistry } from '../pgtypes/type-registry.ts';
import { SilenceWatch, type SilenceWatchOptions } from '../silence/silence-watch.ts';
import { PromotionWatch } from '../walsender/promotion-watch.ts';
import type { ReplicationSession, StreamHandler } from '../walsender/session.ts';
import { ShutdownWatch } from '../walsender/shutdown-watch.ts';
import type { TextReader } from '../wire/cursor.ts';
import {
  PRIMARY_KEEPALIVE,
  readKeepalive,
  readWalStart,
  XLOG_DATA,
  XLOG_DATA_HEADER_LENGTH,
} from '../wire/replication.ts';
import { Acknowledger } from './acknowledger.ts';
import type { Delivery, DeliveryListener } from './delivery.ts';
import type { TypeLookup } from './type-lookup.ts';

/**
 * `binary`: a value turned up that only the server can turn into text. `buffer`: a transaction
 * cannot be read streamed, or what was kept of it does not say all.
 */
export type DroppedOption = 'binary' | 'buffer';

/** Why a stream ended. */
export type StreamEnd =
  | { readonly reason: 'done' | 'signal' | 'reader gone' | 'server stops' }
  /** The standby that is read has become a primary, on another timeline. */
  | { readonly reason: 'promoted' }
  /** It can only go on without an option: on a new connection, behind the last unit. */
  | { readonly reason: 'again'; readonly without: DroppedOption }
  | { readonly reason: 'error'; readonly error: unknown };

export interface StreamRunOptions {
  readonly session: ReplicationSession;
  readonly delivery: Delivery;
  /** All but the listener of units, which is this stream. */
  readonly changes: Omit<ChangeStreamOptions, 'units'>;
  /** How values become text in UTF-8; null: they come so. */
  readonly values: TupleValues | null;
  /** How names are read; undefined: they come in UTF-8. */
  readonly readText: TextReader | undefined;
  /** For types that are first met in mid-stream. */
  readonly typeLookup: TypeLookup;
  /** A folder to keep streamed transactions in until they commit; undefined: they are shown live. */
  readonly spoolDirectory: string | undefined;
  /** Everything committed before this position is wanted, then the end; undefined: no end. */
  readonly stopAt: Lsn | undefined;
  /** Unix time in ms. */
  readonly now: () => number;
  /** A clock in ms that nobody sets. */
  readonly uptime: () => number;
  /** See AcknowledgerOptions. */
  readonly statusInterval: number;
  readonly serverTimeout: number;
  readonly commitsWait: boolean;
  /** Asks whether they wait by now. */
  readonly askCommitsWait: () => Promise<boolean>;
  /** They did not at the start, and do now. */
  readonly onCommitsWait: () => void;
  /** Stop between units when no message came for so many ms; undefined: never. */
  readonly idleTimeout: number | undefined;
  /** After so many ms without a sign of life the server is taken for lost; half of it: asked. */
  readonly silencePatience: number;
  /** Nothing printed for a while is explained; null: it is not. */
  readonly silence: Omit<
    SilenceWatchOptions,
    'uptime' | 'printed' | 'walEnd' | 'heardAt' | 'isPaused' | 'poll'
  > | null;
  /** The server is a standby, and it matters to know when it is none any more. */
  readonly watchPromotion: boolean;
}

/** How long a reader may keep us from reading before a shutdown is watched for, in ms. */
const SHUTDOWN_WATCH_AFTER = 500;
/** How often the server is asked how far it is, when the tail ends once it has caught up, in ms. */
const CATCH_UP_INTERVAL = 100;
/** A kept transaction comes out in slices of this many messages, with room for timers between. */
const REPLAY_SLICE = 2000;
/** The server is listened to ten times in its patience: it has half of that to answer. */
const ANSWER_CHECKS = 5;
/** The longest a timer can wait, in ms. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** How often it is looked whether the server is silent, at most, in ms. */
const SHORTEST_LISTEN = 100;
/** Types may have been altered, and what was not found may be there by now, so much later, in ms. */
const LOOK_AGAIN_AFTER = 10_000;

export class StreamRun implements StreamHandler, DeliveryListener {
  /** Settles, without a value, when there is a reason to stop. */
  readonly ended: Promise<void>;
  readonly #session: ReplicationSession;
  readonly #delivery: Delivery;
  readonly #changes: ChangeStream;
  readonly #buffered: BufferedChangeStream | null;
  readonly #decoder: PgoutputDecoder;
  readonly #acknowledger: Acknowledger;
  readonly #shutdownWatch: ShutdownWatch;
  readonly #promotionWatch: PromotionWatch | null;
  readonly #silenceWatch: SilenceWatch | null;
  readonly #stopAt: Lsn | undefined;
  readonly #types: TypeRegistry;
  readonly #typeLookup: TypeLookup;
  readonly #askCommitsWait: () => Promise<boolean>;
  readonly #onCommitsWait: () => void;
  readonly #uptime: () => number;
  readonly #walStart = { high: 0, low: 0 };
  readonly #silencePatience: number;
  readonly #idleTimeout: number | undefined;
  #messageAt: number;
  #idleTimer: NodeJS.Timeout | undefined;
  #heardAt: number;
  #heard = false;
  /** How often nothing was heard since the server was asked; 0: it was not. */
  #unanswered = 0;
  #isSilent = false;
  #silenceTimer: NodeJS.Timeout | undefined;
  #watchTimer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #paused = false;
  /** What arrives is kept until a replay or a lookup is over. */
  #holding = false;
  #lookedAt: number;
  #lastEnd: Lsn | undefined;
  #hasStarted = false;
  #answeredAtEnd = false;
  #end: StreamEnd | null = null;
  #resolveEnded: () => void = () => {};

  constructor(options: StreamRunOptions) {
    const { session, delivery, spoolDirectory, now, uptime } = options;
    this.#session = session;
    this.#delivery = delivery;
    this.#stopAt = options.stopAt;
    this.#types = options.changes.types;
    this.#typeLookup = options.typeLookup;
    this.#askCommitsWait = options.askCommitsWait;
    this.#onCommitsWait = options.onCommitsWait;
    this.#uptime = uptime;
    this.#silencePatience = options.silencePatience;
    this.#idleTimeout = options.idleTimeout;
    this.#messageAt = uptime();
    this.#heardAt = uptime();
    this.#lookedAt = uptime();
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#acknowledger = new Acknowledger({
      output: delivery,
      send: (statusUpdate) => session.sendStatus(statusUpdate),
      now,
      uptime,
      interval: options.statusInterval,
      serverTimeout: options.serverTimeout,
      commitsWait: options.commitsWait,
    });
    const changes = { ...options.changes, units: this.#units() };
    this.#buffered =
      spoolDirectory === undefined
        ? null
        : new BufferedChangeStream({ ...changes, spoolDirectory });
    this.#changes = this.#buffered ?? new ChangeStream(changes);
    this.#decoder = new PgoutputDecoder(this.#changes, options.values, options.readText);
    if (this.#buffered !== null) this.#buffered.decoder = this.#decoder;
    const onShutdown = (): void => this.stop({ reason: 'server stops' });
    this.#shutdownWatch = new ShutdownWatch(session.ordinaryConfig, onShutdown);
    const onPromoted = (): void => this.stop({ reason: 'promoted' });
    this.#promotionWatch = options.watchPromotion
      ? new PromotionWatch(session.ordinaryConfig, onPromoted)
      : null;
    this.#silenceWatch =
      options.silence === null
        ? null
        : new SilenceWatch({
            ...options.silence,
            uptime,
            printed: () => delivery.writer.offset,
            walEnd: () => this.#acknowledger.received,
            heardAt: () => this.#heardAt,
            isPaused: () => this.#paused,
            poll: () => this.#acknowledger.poll(),
          });
    // who waits for our acknowledgement is not to wait a millisecond longer
    if (options.commitsWait) session.isPatient = false;
    delivery.listener = this;
  }

  /** The reason to stop, once there is one. */
  get end(): StreamEnd | null {
    return this.#end;
  }

  /** The highest end of a unit, if one has ended. */
  get lastEnd(): Lsn | undefined {
    return this.#lastEnd;
  }

  /** The connection is gone: nothing can be acknowledged any more. */
  get isLost(): boolean {
    return this.#end?.reason === 'error' && isTransient(this.#end.error);
  }

  /** The server was taken for lost because it did not answer. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** The highest position that was acknowledged. */
  get acknowledged(): Lsn {
    return this.#acknowledger.acknowledged;
  }

  /** The server ended the connection in its turn. */
  get answeredAtEnd(): boolean {
    return this.#answeredAtEnd;
  }

  /** The slot was ours. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** The timeline of a standby that was promoted since the stream began; undefined: it was not. */
  async newTimeline(): Promise<number | undefined> {
    return await this.#promotionWatch?.timeline();
  }

  /** The server has said something. */
  get heard(): boolean {
    return this.#heard;
  }

  /** See ChangeStream. */
  get settledLines(): number {
    return this.#changes.settledLines;
  }

  get unfinished(): readonly number[] {
    return this.#changes.unfinished;
  }

  /** The stream has started. */
  started(): void {
    this.#hasStarted = true;
    this.#heardAt = this.#uptime();
    const often = Math.max(this.#silencePatience / 10, SHORTEST_LISTEN);
    this.#silenceTimer = setInterval(() => this.#listen(), often);
    this.#messageAt = this.#uptime();
    this.#silenceWatch?.started();
    this.#scheduleIdle();
    if (this.#stopAt === undefined) return;
    // an idle server tells its position only when asked
    this.#acknowledger.poll();
    this.#pollTimer = setInterval(() => this.#acknowledger.poll(), CATCH_UP_INTERVAL);
  }

  stop(end: StreamEnd): void {
    // an output that breaks while the last lines are written is worse than the reason to stop
    if (this.#end === null || end.reason === 'error') this.#end = end;
    clearInterval(this.#pollTimer);
    this.#resolveEnded();
  }

  /** Nothing more is read from now on: what was formatted is handed over. */
  lastFlush(): void {
    this.#session.pause();
    this.#setPaused(true);
    this.#delivery.flush();
  }

  /** Acknowledges what has arrived, and ends the connection. */
  async endSession(): Promise<void> {
    const { halfReceived } = this.#acknowledger;
    this.#answeredAtEnd = await this.#session.finish(this.#acknowledger.lastStatus(), halfReceived);
  }

  close(): void {
    clearInterval(this.#silenceTimer);
    clearTimeout(this.#idleTimer);
    this.#setPaused(false);
    this.#acknowledger.close();
    clearInterval(this.#pollTimer);
    this.#buffered?.discard();
    this.#typeLookup.close();
    this.#promotionWatch?.close();
    this.#silenceWatch?.close();
  }

  /** From the session: one message of the replication stream. */
  frame(bytes: Buffer, start: number, end: number): void {
    if (this.#end !== null) return;
    const wanted = this.#guardedReceive(bytes, start, end);
    if (wanted !== undefined) void this.#lookUp(wanted, Buffer.from(bytes.subarray(start, end)));
    else if (this.#buffered !== null) this.#startReplay();
  }

  /** From the session: what arrived together has been handed over. */
  batchEnd(): void {
    this.#heardAt = this.#uptime();
    this.#heard = true;
    this.#unanswered = 0;
    this.#flush();
    this.#lookAgain();
    this.#promotionWatch?.lookSoon();
    if (this.#end === null) this.#acknowledger.update();
  }

  /** From the delivery: more of what was written has arrived. */
  progressed(): void {
    if (this.#end !== null) return;
    this.#acknowledger.update();
    if (this.#paused && !this.#holding && this.#delivery.hasRoom) {
      this.#setPaused(false);
      this.#session.resume();
    }
  }

  deliveryEnded(failure: PgtailError | null): void {
    if (failure === null) this.stop({ reason: 'reader gone' });
    else this.stop({ reason: 'error', error: failure });
  }

  #units() {
    return {
      unitOpened: () => this.#acknowledger.unitOpened(),
      unitSetAside: () => this.#acknowledger.unitSetAside(),
      unitEnded: (endLsn: Lsn) => {
        this.#checkPlace(endLsn);
        // one that was prepared before the slot knew of such may end before others that came already
        if (this.#lastEnd === undefined || endLsn > this.#lastEnd) this.#lastEnd = endLsn;
        this.#delivery.unitEnded(endLsn);
        this.#acknowledger.unitEnded(endLsn, this.#delivery.writer.offset);
      },
    };
  }

  /** As guarded; no function is made for each message. */
  #guardedReceive(bytes: Buffer, start: number, end: number): TypesWanted | undefined {
    const wholeLines = this.#delivery.writer.length;
    try {
      this.#receive(bytes, start, end);
    } catch (error) {
      return this.#failed(error, wholeLines);
    }
    if (this.#changes.finished) this.stop({ reason: 'done' });
    return undefined;
  }

  #guarded(work: () => void): TypesWanted | undefined {
    const wholeLines = this.#delivery.writer.length;
    try {
      work();
    } catch (error) {
      return this.#failed(error, wholeLines);
    }
    if (this.#changes.finished) this.stop({ reason: 'done' });
    return undefined;
  }

  /**
   * A message that fails leaves no half of a line, and ends the stream. One that wants types is to
   * be taken again.
   */
  #failed(error: unknown, wholeLines: number): TypesWanted | undefined {
    this.#delivery.writer.length = wholeLines;
    if (error instanceof TypesWanted) return error;
    this.stop(endBy(error));
    return undefined;
  }

  #receive(bytes: Buffer, start: number, end: number): void {
    const tag = start < end ? bytes[start] : undefined;
    switch (tag) {
      case XLOG_DATA:
        return this.#message(bytes, start, end);
      case PRIMARY_KEEPALIVE:
        return this.#keepalive(bytes, start, end);
      default:
        throw unknownReplicationMessage(tag);
    }
  }

  #message(bytes: Buffer, frameStart: number, end: number): void {
    if (this.#idleTimeout !== undefined) this.#messageAt = this.#uptime();
    const walStart = this.#walStart;
    readWalStart(bytes, frameStart, end, walStart);
    const start = frameStart + XLOG_DATA_HEADER_LENGTH;
    if (this.#buffered?.keep(bytes, start, end, walStart)) return;
    this.#decoder.decode(bytes, start, end, walStart);
  }

  /** What ends a unit stands at that unit's end: a position that does not is never acknowledged. */
  #checkPlace(endLsn: Lsn): void {
    const { high, low } = this.#walStart;
    if (endLsn === lsnFromWords(high, low)) return;
    throw new ProtocolViolation(
      'end lsn',
      `${formatLsn(endLsn)} is not where the message stands`,
      0,
    );
  }

  #keepalive(bytes: Buffer, start: number, end: number): void {
    const { walEnd, replyRequested } = readKeepalive(bytes, start, end);
    this.#acknowledger.keepalive(walEnd, this.#delivery.writer.offset, replyRequested);
    if (this.#stopAt === undefined || this.#acknowledger.halfReceived) return;
    if (walEnd >= this.#stopAt) this.stop({ reason: 'done' });
  }

  /** Holds the stream until the types of a message are known, then takes it again. */
  async #lookUp(first: TypesWanted, payload: Buffer): Promise<void> {
    this.#hold();
    let wanted: TypesWanted | undefined = first;
    while (wanted !== undefined && this.#end === null) {
      await this.#learn(wanted);
      if (this.#end === null) {
        wanted = this.#guardedReceive(payload, 0, payload.length);
      }
    }
    if (!this.#startReplay()) this.#release();
  }

  async #learn({ types }: TypesWanted): Promise<void> {
    await this.#typeLookup.learn(types, this.ended);
  }

  #scheduleIdle(): void {
    if (this.#idleTimeout === undefined) return;
    const dueIn = this.#messageAt + this.#idleTimeout - this.#uptime();
    const wait = Math.min(Math.max(dueIn, SHORTEST_LISTEN), LONGEST_TIMER);
    this.#idleTimer = setTimeout(() => this.#checkIdle(), wait);
  }

  /** A transaction that is half received is waited for, and so is an output that is full. */
  #checkIdle(): void {
    if (this.#end !== null) return;
    const idle = this.#uptime() - this.#messageAt;
    const busy = this.#acknowledger.halfReceived || this.#paused;
    if (idle >= this.#idleTimeout! && !busy) return this.stop({ reason: 'done' });
    this.#scheduleIdle();
  }

  /** A network that is cut does not say so: the server is asked, and must answer. */
  #listen(): void {
    if (this.#end !== null) return;
    // while nothing is read, nothing can be heard
    if (this.#paused) this.#heardAt = this.#uptime();
    const silence = this.#uptime() - this.#heardAt;
    if (silence < this.#silencePatience / 2) return;
    // we may have been stopped ourselves: only time in which an answer would have been heard counts
    if (this.#unanswered++ === 0) return this.#acknowledger.poll();
    if (silence < this.#silencePatience || this.#unanswered < ANSWER_CHECKS) return;
    this.#isSilent = true;
    this.stop({ reason: 'error', error: noAnswer(silence) });
  }

  /** No message tells that a type was altered, or a setting: they are looked at now and then. */
  #lookAgain(): void {
    if (this.#uptime() - this.#lookedAt < LOOK_AGAIN_AFTER) return;
    this.#lookedAt = this.#uptime();
    this.#types.forgetFailures();
    const used = this.#types.takeUsedTypes();
    if (used.length > 0) void this.#typeLookup.refresh(used);
    if (!this.#acknowledger.commitsWait) void this.#lookForWaitingCommits();
  }

  async #lookForWaitingCommits(): Promise<void> {
    const wait = await this.#askCommitsWait();
    if (!wait || this.#end !== null) return;
    this.#onCommitsWait();
    this.#delivery.file?.syncAtOnce();
    this.#session.isPatient = false;
    this.#acknowledger.commitsWaitFromNowOn();
  }

  #startReplay(): boolean {
    const replay = this.#end === null ? this.#buffered?.takeReplay() : undefined;
    if (!replay) return false;
    void this.#run(replay);
    return true;
  }

  /** Hands out a kept transaction as fast as the output takes it; what arrives meanwhile waits. */
  async #run(replay: Replay): Promise<void> {
    this.#hold();
    while (this.#end === null) {
      const next = this.#replaySlice(replay);
      if (next === 'over') break;
      if (next !== 'more') await this.#learn(next);
      this.#delivery.flush();
      await this.#delivery.roomAgain();
      await new Promise(setImmediate); // timers and signals have their turn
    }
    this.#release();
  }

  #replaySlice(replay: Replay): 'more' | 'over' | TypesWanted {
    for (let i = 0; i < REPLAY_SLICE && !this.#delivery.isFull; i++) {
      let over = true;
      const wanted = this.#guarded(() => {
        const { done, value: wantedTypes } = replay.next();
        over = done === true;
        if (wantedTypes) throw wantedTypes;
      });
      if (wanted !== undefined) return wanted;
      if (over || this.#end !== null) return 'over';
    }
    return 'more';
  }

  #hold(): void {
    this.#holding = true;
    this.#session.hold();
    this.#setPaused(true);
  }

  #release(): void {
    this.#holding = false;
    if (this.#end !== null) return;
    this.#setPaused(false);
    this.#session.resume();
    this.#session.release();
  }

  #flush(): void {
    this.#delivery.flush();
    if (this.#paused || !this.#delivery.isFull) return;
    this.#setPaused(true);
    this.#session.pause();
  }

  /** Nothing is read from the server while it is paused: it must not have to wait for us. */
  #setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#acknowledger.deaf = paused;
    clearTimeout(this.#watchTimer);
    if (paused) {
      this.#watchTimer = setTimeout(() => this.#shutdownWatch.start(), SHUTDOWN_WATCH_AFTER);
    } else this.#shutdownWatch.stop();
  }
}

function noAnswer(silence: number): PgtailError {
  const seconds = Math.round(silence / 1000);
  return new PgtailError(EXIT.failure, `the server has not answered for ${seconds} s`, {
    transient: true,
  });
}

function endBy(error: unknown): StreamEnd {
  if (error instanceof NoBinaryDecoder) return { reason: 'again', without: 'binary' };
  if (error instanceof IncompleteStream) return { reason: 'again', without: 'buffer' };
  return { reason: 'error', error };
}

function unknownReplicationMessage(tag: number | undefined): ProtocolViolation {
  const problem = tag === undefined ? 'an empty frame' : `unknown tag 0x${tag.toString(16)}`;
  return new ProtocolViolation('replication message', problem, 0);
}
