// The main job, put together: session, decoder, change stream, formatter, output and progress.

import { ByteWriter } from '../byte-writer.ts';
import { ChangeStream } from '../changes/change-stream.ts';
import type { Selection } from '../changes/selection.ts';
import { EXIT, PgtailError, ProtocolViolation } from '../errors.ts';
import type { Formatter, FormatterContext } from '../format/formatter.ts';
import { formatLsn, INVALID_LSN, type Lsn, lsnFromWords } from '../lsn.ts';
import type { Output, OutputListener } from '../output/output.ts';
import { PgoutputDecoder } from '../pgoutput/decoder.ts';
import { pgoutputOptions } from '../pgoutput/plugin-options.ts';
import { TypeRegistry } from '../pgtypes/type-registry.ts';
import { startReplication } from '../walsender/commands.ts';
import { STREAM_SEARCH_PATH } from '../walsender/pinned-settings.ts';
import { hasSqlState, startFailure, streamFailure } from '../walsender/server-error.ts';
import { ReplicationSession, type ServerNotice, type StreamHandler } from '../walsender/session.ts';
import { ShutdownWatch } from '../walsender/shutdown-watch.ts';
import {
  PRIMARY_KEEPALIVE,
  readKeepalive,
  readWalStart,
  XLOG_DATA,
  XLOG_DATA_HEADER_LENGTH,
} from '../wire/replication.ts';
import { Acknowledger } from './acknowledger.ts';
import { prepareSource, type Source, type SourceOptions } from './prepare.ts';

export interface TailOptions extends SourceOptions {
  readonly selection: Selection;
  /** Stop after this many row and truncate lines. */
  readonly limit: number | undefined;
  /** False: stop once everything committed before the start was printed. */
  readonly follow: boolean;
  /** Ask for logical messages. */
  readonly messages: boolean;
  /** Milliseconds between status updates; 0: only when asked. */
  readonly statusInterval: number;
}

/** What the tail needs of the world; all of it is passed in. */
export interface TailEnvironment {
  /** Aborted: stop cleanly. */
  readonly signal: AbortSignal;
  /** Unix time in ms. */
  readonly now: () => number;
  /** A clock in ms that nobody sets. */
  readonly uptime: () => number;
  /** The name of a temporary slot, unique on the server. */
  readonly temporarySlotName: string;
  readonly openOutput: (listener: OutputListener) => Promise<Output>;
  readonly newFormatter: (context: FormatterContext) => Formatter;
  /** The stream has started; nothing of it was printed yet. */
  readonly onStart: (source: Source) => void;
  readonly onServerNotice: (notice: ServerNotice) => void;
}

/** Tails until done or told to stop. @throws PgtailError with the exit code. */
export async function tail(options: TailOptions, environment: TailEnvironment): Promise<void> {
  const { signal } = environment;
  const connecting = ReplicationSession.connect(options.connection, environment.onServerNotice);
  const session = await unlessAborted(connecting, signal);
  if (session === null) return;
  try {
    const source = await preparedSource(session, options, environment);
    if (source !== null) await new Tail(session, options, environment, source).run();
  } finally {
    session.destroy();
  }
}

const CANCEL_INTERVAL = 200;

/** Null if the user stopped meanwhile; a slot that was about to be made is then not made. */
async function preparedSource(
  session: ReplicationSession,
  options: TailOptions,
  { signal, temporarySlotName }: TailEnvironment,
): Promise<Source | null> {
  let again: NodeJS.Timeout | undefined;
  // repeated: the first request may come before the server has begun what is to be cancelled
  const cancel = (): void => {
    session.cancel();
    again = setInterval(() => session.cancel(), CANCEL_INTERVAL);
  };
  signal.addEventListener('abort', cancel);
  try {
    const source = await prepareSource(session, options, temporarySlotName);
    return signal.aborted ? null : source;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    clearInterval(again);
  }
}

/** Why a tail stops. */
type Stop =
  | { readonly reason: 'done' | 'signal' | 'reader gone' | 'server stops' }
  | { readonly reason: 'error'; readonly error: unknown };

const SLOT_IN_USE = '55006';
/** A reader that has just ended may hold the slot a moment longer. */
const SLOT_PATIENCE = 2000;
const SLOT_RETRY = 200;

/** With more than this unwritten nothing is read from the server; with half of it, it goes on. */
const OUTPUT_HIGH_WATER = 1024 * 1024;
/** How long a reader may keep us from reading before a shutdown is watched for, in ms. */
const SHUTDOWN_WATCH_AFTER = 500;
/** How long a user's stop waits for a reader that does not read, in ms. */
const LAST_WRITE_PATIENCE = 500;
/** How often the server is asked how far it is, when the tail ends once it has caught up, in ms. */
const CATCH_UP_INTERVAL = 100;

class Tail implements StreamHandler, OutputListener {
  readonly #session: ReplicationSession;
  readonly #options: TailOptions;
  readonly #environment: TailEnvironment;
  readonly #source: Source;
  readonly #writer = new ByteWriter();
  readonly #changes: ChangeStream;
  readonly #decoder: PgoutputDecoder;
  readonly #walStart = { high: 0, low: 0 };
  readonly #shutdownWatch: ShutdownWatch;
  #watchTimer: NodeJS.Timeout | undefined;
  #output!: Output; // set by run, before anything can arrive
  #acknowledger!: Acknowledger;
  #paused = false;
  #readerGone = false;
  #stop: Stop | null = null;
  readonly #stopped: Promise<void>;
  #resolveStopped: () => void = () => {};
  #resolveWritten: () => void = () => {};

  constructor(
    session: ReplicationSession,
    options: TailOptions,
    environment: TailEnvironment,
    source: Source,
  ) {
    this.#session = session;
    this.#options = options;
    this.#environment = environment;
    this.#source = source;
    this.#stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
    const types = new TypeRegistry();
    const partialRoots = new Set(source.partialRoots);
    const writer = this.#writer;
    this.#changes = new ChangeStream({
      formatter: environment.newFormatter({ writer, types, partialRoots }),
      selection: options.selection,
      types,
      partialRoots,
      units: {
        unitOpened: () => this.#acknowledger.unitOpened(),
        unitSetAside: () => this.#acknowledger.unitSetAside(),
        unitEnded: (endLsn) => this.#unitEnded(endLsn),
      },
      limit: options.limit,
      stopAt: options.follow ? undefined : source.server.walEnd,
    });
    this.#decoder = new PgoutputDecoder(this.#changes);
    const onShutdown = (): void => this.#end({ reason: 'server stops' });
    this.#shutdownWatch = new ShutdownWatch(session.ordinaryConfig, onShutdown);
  }

  async run(): Promise<void> {
    const { signal, now, uptime } = this.#environment;
    this.#output = await this.#environment.openOutput(this);
    this.#acknowledger = new Acknowledger({
      output: this.#output,
      send: (statusUpdate) => this.#session.sendStatus(statusUpdate),
      now,
      uptime,
      interval: this.#options.statusInterval,
      serverTimeout: this.#source.server.walSenderTimeout,
    });
    const onAbort = (): void => this.#end({ reason: 'signal' });
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    try {
      await this.#stream();
      // a server that waits for us comes before a reader that may never read
      if (this.#stop?.reason === 'server stops') await this.#endSession();
      await this.#lastWrites();
      await this.#endSession();
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#setPaused(false);
      this.#acknowledger.close();
      this.#output.close();
    }
    if (this.#stop?.reason === 'error') throw this.#stop.error;
    if (this.#stop?.reason === 'server stops') throw serverEndedStream();
  }

  /** From the session: one message of the replication stream. */
  frame(payload: Buffer): void {
    if (this.#stop !== null) return;
    const wholeLines = this.#writer.length;
    try {
      this.#receive(payload);
    } catch (error) {
      this.#writer.length = wholeLines; // the message that failed leaves no half of a line
      return this.#end({ reason: 'error', error });
    }
    if (this.#changes.finished) this.#end({ reason: 'done' });
  }

  /** From the session: what arrived together has been handed over. */
  batchEnd(): void {
    this.#flush();
    if (this.#stop === null) this.#acknowledger.update();
  }

  /** From the output: more of what was written has arrived. */
  progressed(): void {
    const { pending } = this.#output ?? { pending: 0 };
    if (pending === 0) this.#resolveWritten();
    if (this.#stop !== null) return;
    this.#acknowledger.update();
    if (this.#paused && pending <= OUTPUT_HIGH_WATER / 2) {
      this.#setPaused(false);
      this.#session.resume();
    }
  }

  readerGone(): void {
    this.#readerGone = true;
    this.#resolveWritten();
    this.#end({ reason: 'reader gone' });
  }

  failed(error: PgtailError): void {
    this.#readerGone = true;
    this.#resolveWritten();
    this.#end({ reason: 'error', error });
  }

  #end(stop: Stop): void {
    // an output that breaks while the last lines are written is worse than the reason to stop
    if (this.#stop === null || stop.reason === 'error') this.#stop = stop;
    this.#resolveStopped();
  }

  #receive(payload: Buffer): void {
    switch (payload[0]) {
      case XLOG_DATA:
        readWalStart(payload, this.#walStart);
        this.#decoder.decode(payload, XLOG_DATA_HEADER_LENGTH, payload.length, this.#walStart);
        return;
      case PRIMARY_KEEPALIVE:
        return this.#keepalive(payload);
      default:
        throw unknownReplicationMessage(payload[0]);
    }
  }

  /** What ends a unit stands at that unit's end: a position that does not is never acknowledged. */
  #unitEnded(endLsn: Lsn): void {
    const { high, low } = this.#walStart;
    if (endLsn !== lsnFromWords(high, low)) {
      throw new ProtocolViolation(
        'end lsn',
        `${formatLsn(endLsn)} is not where the message stands`,
        0,
      );
    }
    this.#acknowledger.unitEnded(endLsn, this.#writer.offset);
  }

  #keepalive(payload: Buffer): void {
    const { walEnd, replyRequested } = readKeepalive(payload);
    this.#acknowledger.keepalive(walEnd, this.#writer.offset, replyRequested);
    const caughtUp = walEnd >= this.#source.server.walEnd && !this.#acknowledger.halfReceived;
    if (!this.#options.follow && caughtUp) this.#end({ reason: 'done' });
  }

  #flush(): void {
    if (this.#readerGone || this.#writer.length === 0) return;
    this.#output.write(this.#writer.take());
    if (!this.#paused && this.#output.pending > OUTPUT_HIGH_WATER) {
      this.#setPaused(true);
      this.#session.pause();
    }
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

  /** Streams until there is a reason to stop. */
  async #stream(): Promise<void> {
    try {
      await this.#session.query(STREAM_SEARCH_PATH);
      this.#session.attach(this);
      const started = await this.#start();
      if (started === null) return;
      const poll = this.#options.follow ? undefined : this.#pollPosition();
      await Promise.race([this.#stopped, started.ended]).finally(() => clearInterval(poll));
      if (this.#stop === null) this.#end({ reason: 'error', error: serverEndedStream() });
    } catch (error) {
      if (this.#stop !== null) return;
      const failure =
        error instanceof PgtailError ? error : streamFailure(error, this.#source.slot.name);
      this.#end({ reason: 'error', error: failure });
    }
  }

  /** Null if there is a reason to stop before it has started. */
  async #start(): Promise<{ readonly ended: Promise<void> } | null> {
    const { slot, publications, server } = this.#source;
    const { messages } = this.#options;
    const options = pgoutputOptions({ publications, messages }, server.major);
    const command = startReplication({ slot: slot.name, from: INVALID_LSN, options });
    const { onStart } = this.#environment;
    const deadline = this.#environment.uptime() + SLOT_PATIENCE;
    while (this.#stop === null) {
      try {
        return await this.#session.start(command, () => onStart(this.#source));
      } catch (error) {
        const retry = hasSqlState(error, SLOT_IN_USE) && this.#environment.uptime() < deadline;
        if (!retry) throw startFailure(error, slot.name);
      }
      await Promise.race([this.#stopped, delay(SLOT_RETRY)]);
    }
    return null;
  }

  /** An idle server tells its position only when asked. */
  #pollPosition(): NodeJS.Timeout {
    this.#acknowledger.poll();
    return setInterval(() => this.#acknowledger.poll(), CATCH_UP_INTERVAL);
  }

  /** Delivers what was formatted: to the end, unless the user is waiting for us to stop. */
  async #lastWrites(): Promise<void> {
    this.#session.pause();
    this.#setPaused(true);
    this.#flush();
    if (this.#readerGone || this.#output.pending === 0) return;
    const written = new Promise<void>((resolve) => {
      this.#resolveWritten = resolve;
    });
    await Promise.race([written, this.#lastWritesDeadline()]);
  }

  async #lastWritesDeadline(): Promise<void> {
    const { signal } = this.#environment;
    if (!signal.aborted) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    }
    await delay(LAST_WRITE_PATIENCE);
  }

  /** Acknowledges what has arrived, and ends the connection. */
  async #endSession(): Promise<void> {
    const lastStatus = this.#acknowledger.lastStatus();
    await this.#session.finish(lastStatus, this.#acknowledger.halfReceived);
  }
}

function unknownReplicationMessage(tag: number | undefined): ProtocolViolation {
  const problem = tag === undefined ? 'an empty frame' : `unknown tag 0x${tag.toString(16)}`;
  return new ProtocolViolation('replication message', problem, 0);
}

function serverEndedStream(): PgtailError {
  return new PgtailError(EXIT.failure, 'the server ended the stream: it may be shutting down');
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Null if the signal comes first; what is being waited for is then left to itself. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  if (signal.aborted) return null;
  let onAbort = (): void => {};
  const aborted = new Promise<null>((resolve) => {
    onAbort = () => resolve(null);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  return Promise.race([promise, aborted]).finally(() =>
    signal.removeEventListener('abort', onAbort),
  );
}
