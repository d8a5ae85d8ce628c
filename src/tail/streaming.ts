// One connection's stream from its start to its end, with what it leaves to be delivered.

import { setTimeout as delay } from 'node:timers/promises';
import { ByteWriter } from '../byte-writer.ts';
import { type RunQuery, withCatalog } from '../catalog/catalog-connection.ts';
import { standbyNames } from '../catalog/standby-names.ts';
import type { PrintedAnnouncements } from '../changes/announcements.ts';
import type { PartitionRoots } from '../changes/partition-roots.ts';
import type { NamedTable } from '../changes/table-pattern.ts';
import { within } from '../deadline.ts';
import { EXIT, PgtailError } from '../errors.ts';
import type { Formatter } from '../format/formatter.ts';
import { INVALID_LSN, type Lsn } from '../lsn.ts';
import type { TupleValues } from '../pgoutput/decoder.ts';
import { pgoutputOptions } from '../pgoutput/plugin-options.ts';
import { BinaryTuples } from '../pgtypes/binary/tuple-text.ts';
import { EncodedTuples } from '../pgtypes/encoding/encoded-tuples.ts';
import { nameReader } from '../pgtypes/encoding/text-encoding.ts';
import type { TypeRegistry } from '../pgtypes/type-registry.ts';
import type { RowOp } from '../silence/reasons.ts';
import type { Silence } from '../silence/silence-watch.ts';
import { startReplication } from '../walsender/commands.ts';
import { streamSettings } from '../walsender/pinned-settings.ts';
import { isSynchronousStandby } from '../walsender/preflight.ts';
import { hasSqlState, slotHolder, startFailure, streamFailure } from '../walsender/server-error.ts';
import type { ReplicationSession } from '../walsender/session.ts';
import type { Delivery } from './delivery.ts';
import type { TailEnvironment, TailOptions } from './environment.ts';
import type { FileTarget } from './file-target.ts';
import { catalogOf, type Source } from './prepare.ts';
import { withReaderPatience } from './stopping.ts';
import { StreamRun } from './stream-run.ts';
import { TypeLookup } from './type-lookup.ts';

/** Some transactions the server can decode whole, but not while they are in progress. */
const INTERNAL_ERROR = 'XX000';
/** A reader that has just ended may hold the slot a moment longer, in ms. */
const SLOT_PATIENCE = 2000;
const SLOT_RETRY = 200;
/** wal_sender_timeout's default, in ms: how long a silent server is waited for if it has none. */
const USUAL_SERVER_TIMEOUT = 60_000;

/** A connection that is ready to stream, and what for. */
export interface Connected {
  readonly session: ReplicationSession;
  readonly source: Source;
  readonly options: TailOptions;
  readonly environment: TailEnvironment;
  /** Where to start; undefined: at the slot's own position. */
  readonly from: Lsn | undefined;
  /** Everything committed before this position is wanted, then the end; undefined: no end. */
  readonly stopAt: Lsn | undefined;
  /** The walsenders of the connections before, which may not know yet that we are gone. */
  readonly ownWalsenders: readonly number[];
  /** The highest position that this run has acknowledged, or found acknowledged. */
  readonly acknowledged: Lsn;
  /** How long a server may be silent before it is taken for lost, in ms; undefined: as it says. */
  readonly silencePatience: number | undefined;
  /** The attempts it took since a server was last heard of. */
  readonly attempts: number;
  /** The first stream of the run has started, on a connection before. */
  readonly hasStartedBefore: boolean;
  /** Called when the stream starts, before its first message. */
  readonly onStarted: () => void;
}

/** What lines are printed with, on every connection of a run. */
export interface Printing {
  readonly delivery: Delivery;
  readonly formatter: Formatter;
  readonly types: TypeRegistry;
  readonly roots: PartitionRoots;
  readonly printed: PrintedAnnouncements;
}

/** Streams until there is a reason to stop, and delivers and acknowledges the rest. */
export async function streamFrom(connected: Connected, printing: Printing): Promise<StreamRun> {
  const { signal } = connected.environment;
  const stream = newStream(connected, printing);
  const onAbort = (): void => stream.stop({ reason: 'signal' });
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    await untilEnd(stream, connected, printing.delivery);
    stream.lastFlush();
    await endStream(stream, printing.delivery, signal);
  } finally {
    signal.removeEventListener('abort', onAbort);
    stream.close();
  }
  return stream;
}

function newStream(connected: Connected, printing: Printing): StreamRun {
  const { session, source, options, environment, stopAt, silencePatience } = connected;
  const { delivery, formatter, types, roots, printed } = printing;
  const { selection, limit } = options;
  return new StreamRun({
    session,
    delivery,
    changes: { formatter, selection, types, roots, printed, limit, stopAt },
    values: tupleValues(connected, printing),
    readText: options.encoding && nameReader(options.encoding, new ByteWriter()),
    typeLookup: new TypeLookup({
      session,
      catalog: catalogOf(source.server, options.encoding),
      types,
      onUnreachable: environment.onTypesUnknown,
    }),
    spoolDirectory: options.streaming === 'buffer' ? environment.spoolDirectory : undefined,
    stopAt,
    now: environment.now,
    uptime: environment.uptime,
    statusInterval: options.statusInterval,
    idleTimeout: options.idleTimeout,
    serverTimeout: source.server.walSenderTimeout,
    commitsWait: source.commitsWait,
    askCommitsWait: commitsWaitQuestion(connected),
    onCommitsWait: environment.onCommitsWait,
    silencePatience: silencePatience ?? usualPatience(source),
    silence: silenceQuestion(connected),
    // positions that were printed are of the timeline that is known when they are compared
    watchPromotion: source.server.inRecovery,
  });
}

/** What is needed to say why nothing arrives; null: nobody wants to know. */
function silenceQuestion({ session, source, options, environment, stopAt }: Connected) {
  const { explainAfter: patience, selection } = options;
  if (patience === 0 || stopAt !== undefined) return null;
  return {
    patience,
    publications: source.publications,
    catalog: catalogOf(source.server, options.encoding),
    walsender: session.backendPid,
    isPrinted: (table: NamedTable, op: RowOp) =>
      selection.showsTable(table) && selection.opensFrame(op),
    withQuery: <T>(work: (query: RunQuery) => Promise<T>) =>
      withCatalog(session.ordinaryConfig, work),
    onSilence: (silence: Silence) => environment.onSilence(silence, source),
  };
}

/** Who may not ask is not told, and does not ask again. */
function commitsWaitQuestion({ session, options }: Connected): () => Promise<boolean> {
  let mayAsk = true;
  return async () => {
    if (!mayAsk) return false;
    try {
      const names = await withCatalog(session.ordinaryConfig, standbyNames);
      return isSynchronousStandby(options.connection.applicationName, names);
    } catch {
      mayAsk = false;
      return false;
    }
  };
}

export const usualPatience = ({ server }: Source): number =>
  server.walSenderTimeout || USUAL_SERVER_TIMEOUT;

function tupleValues(
  { source, options }: Connected,
  { types, formatter }: Printing,
): TupleValues | null {
  if (source.values.kind === 'binary') {
    const shapeOf = (typeId: number) => types.shapeOf(typeId);
    const isRead = (typeId: number) => formatter.readsBinary(typeId);
    return new BinaryTuples({ serverMajor: source.server.major, shapeOf }, isRead);
  }
  if (options.encoding === undefined) return null;
  return new EncodedTuples(options.encoding, (typeId) => types.baseType(typeId));
}

async function untilEnd(
  stream: StreamRun,
  connected: Connected,
  delivery: Delivery,
): Promise<void> {
  const { session, source, options } = connected;
  try {
    const unconverted = options.encoding !== undefined;
    const settings = session.query(streamSettings({ unconverted, money: source.money }));
    settings.catch(() => {}); // awaited below, unless there is a reason to stop
    await answered(Promise.race([settings, stream.ended]));
    if (stream.end !== null) return;
    session.attach(stream);
    const started = await startStream(stream, connected, delivery);
    if (started === null) return;
    stream.started();
    await Promise.race([stream.ended, started.ended]);
    if (stream.end === null) stream.stop({ reason: 'error', error: serverEndedStream() });
  } catch (error) {
    if (stream.end !== null) return;
    if (options.streaming === 'buffer' && hasSqlState(error, INTERNAL_ERROR)) {
      return stream.stop({ reason: 'again', without: 'buffer' });
    }
    const failure = streamFailure(error, source.slot, source.server.encoding);
    stream.stop({ reason: 'error', error: failure });
  }
}

/** A server that is there answers a simple query soon, in ms. */
const ANSWER_PATIENCE = 30_000;

/** @throws PgtailError (transient) if it takes too long: the network may be cut. */
export async function answered<T>(promise: Promise<T>): Promise<T> {
  return await within(promise, ANSWER_PATIENCE, () => {
    throw new PgtailError(EXIT.failure, 'the server does not answer', { transient: true });
  });
}

/** Null if there is a reason to stop before it has started. */
async function startStream(
  stream: StreamRun,
  connected: Connected,
  { file, writer }: Delivery,
): Promise<{ readonly ended: Promise<void> } | null> {
  const { session, source, options, environment } = connected;
  const own = connected.from ?? INVALID_LSN;
  const from = file === null ? own : await file.startPosition(session, source);
  const { slot, publications, server } = source;
  const { uptime } = environment;
  const binary = source.values.kind === 'binary';
  // a copy of a slot has lost this
  const twoPhase = source.slot.copyOf === undefined ? options.twoPhase : source.isTwoPhase;
  const plugin = pgoutputOptions({ ...options, publications, binary, twoPhase }, server.major);
  const command = startReplication({ slot: slot.name, from, options: plugin });
  const asked = uptime();
  while (stream.end === null) {
    try {
      return await session.start(command, () => {
        onStarted(stream, connected, () => file?.started(source, writer.offset));
      });
    } catch (error) {
      const holder = slotHolder(error);
      if (holder === undefined) throw startFailure(error, slot.name);
      const isOurs = connected.ownWalsenders.includes(holder);
      const patience = isOurs ? SLOT_PATIENCE + usualPatience(source) : SLOT_PATIENCE;
      if (uptime() - asked >= patience) throw startFailure(error, slot.name);
      if (isOurs) await endOwnWalsender(session, holder);
    }
    await Promise.race([stream.ended, delay(SLOT_RETRY)]);
  }
  return null;
}

/** Called from within the connection, where an error would be lost. */
function onStarted(stream: StreamRun, connected: Connected, openFile: () => void): void {
  try {
    openFile();
    connected.onStarted();
  } catch (error) {
    stream.stop({ reason: 'error', error });
  }
}

/** After a cut of the network the server may still wait for us; who may not end it waits, too. */
async function endOwnWalsender(session: ReplicationSession, pid: number): Promise<void> {
  await session.query(`SELECT pg_terminate_backend(${pid})`).catch(() => {});
}

/**
 * Ends the connection once what was formatted is delivered, unless somebody waits for us to stop: a
 * server comes before a reader that may never read, and a connection that is lost before both.
 */
async function endStream(
  stream: StreamRun,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<void> {
  if (stream.isLost) return;
  if (delivery.file !== null) {
    await withReaderPatience(settle(delivery.file, stream), signal);
  } else if (stream.end?.reason !== 'server stops') {
    await withReaderPatience(delivery.allAccepted(), signal);
  }
  await stream.endSession();
}

async function settle(file: FileTarget, stream: StreamRun): Promise<void> {
  await file.cutBack();
  const timeline = await stream.newTimeline();
  if (timeline !== undefined) file.timelineChanged(timeline);
}

export function serverEndedStream(): PgtailError {
  return new PgtailError(EXIT.failure, 'the server ended the stream: it may be shutting down', {
    transient: true,
  });
}
