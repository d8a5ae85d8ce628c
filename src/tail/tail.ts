// The main job, put together: session, decoder, change stream, formatter, output and progress.

import { ByteWriter } from '../byte-writer.ts';
import { nothingPrinted, type PrintedAnnouncements } from '../changes/announcements.ts';
import { PartitionRoots } from '../changes/partition-roots.ts';
import type { Selection } from '../changes/selection.ts';
import { EXIT, PgtailError } from '../errors.ts';
import type { Formatter, FormatterContext } from '../format/formatter.ts';
import { INVALID_LSN, type Lsn } from '../lsn.ts';
import type { Output, OutputListener } from '../output/output.ts';
import type { TupleValues } from '../pgoutput/decoder.ts';
import { pgoutputOptions } from '../pgoutput/plugin-options.ts';
import { BinaryTuples } from '../pgtypes/binary/tuple-text.ts';
import { EncodedTuples } from '../pgtypes/encoding/encoded-tuples.ts';
import { nameReader } from '../pgtypes/encoding/text-encoding.ts';
import { TypeRegistry, type TypeRegistryOptions } from '../pgtypes/type-registry.ts';
import { startReplication } from '../walsender/commands.ts';
import { streamSettings } from '../walsender/pinned-settings.ts';
import { hasSqlState, startFailure, streamFailure } from '../walsender/server-error.ts';
import { ReplicationSession, type ServerNotice } from '../walsender/session.ts';
import { Delivery } from './delivery.ts';
import { catalogOf, prepareSource, type Source, type SourceOptions } from './prepare.ts';
import { type DroppedOption, type StreamEnd, StreamRun } from './stream-run.ts';
import { TypeLookup } from './type-lookup.ts';

export interface TailOptions extends SourceOptions {
  readonly selection: Selection;
  /** How values become text. */
  readonly rows: Pick<TypeRegistryOptions, 'values' | 'numbers'>;
  /** Stop after this many row and truncate lines. */
  readonly limit: number | undefined;
  /** False: stop once everything committed before the start was printed. */
  readonly follow: boolean;
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
  /** A folder for temporary files. */
  readonly spoolDirectory: string;
  /** The name of a temporary slot, unique on the server. */
  readonly temporarySlotName: string;
  readonly openOutput: (listener: OutputListener) => Promise<Output>;
  readonly newFormatter: (context: FormatterContext) => Formatter;
  /** The stream has started; nothing of it was printed yet. */
  readonly onStart: (source: Source) => void;
  /** The stream begins anew without an option that turned out not to do. */
  readonly onAgain: (without: DroppedOption) => void;
  /** Only the server could make JSON of this type's values; called once for each type. */
  readonly onServerCast: (typeName: string) => void;
  /** The catalog does not have this type (yet, or any more); called once for each type. */
  readonly onTypeNotFound: (typeName: string) => void;
  /** The catalog cannot be asked about types; called at most once for each connection. */
  readonly onTypesUnknown: (error: unknown) => void;
  readonly onServerNotice: (notice: ServerNotice) => void;
}

/** Tails until done or told to stop. @throws PgtailError with the exit code. */
export async function tail(options: TailOptions, environment: TailEnvironment): Promise<void> {
  const { signal } = environment;
  const connecting = ReplicationSession.connect(options.connection, environment.onServerNotice);
  const session = await unlessAborted(connecting, signal);
  if (session === null) return;
  try {
    const { onServerCast, onTypeNotFound } = environment;
    const types = new TypeRegistry({ ...options.rows, onServerCast, onTypeNotFound });
    const source = await preparedSource(session, options, environment, types);
    if (source !== null) await tailSource({ session, source, options, environment }, types);
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
  types: TypeRegistry,
): Promise<Source | null> {
  let again: NodeJS.Timeout | undefined;
  // repeated: the first request may come before the server has begun what is to be cancelled
  const cancel = (): void => {
    session.cancel();
    again = setInterval(() => session.cancel(), CANCEL_INTERVAL);
  };
  signal.addEventListener('abort', cancel);
  try {
    const source = await prepareSource(session, options, temporarySlotName, types);
    return signal.aborted ? null : source;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    clearInterval(again);
  }
}

const SLOT_IN_USE = '55006';
/** Some transactions the server can decode whole, but not while they are in progress. */
const INTERNAL_ERROR = 'XX000';
/** A reader that has just ended may hold the slot a moment longer. */
const SLOT_PATIENCE = 2000;
const SLOT_RETRY = 200;
/** How long a user's stop waits for a reader that does not read, in ms. */
const LAST_WRITE_PATIENCE = 500;

/** A connection that is ready to stream, and what for. */
interface Connected {
  readonly session: ReplicationSession;
  readonly source: Source;
  readonly options: TailOptions;
  readonly environment: TailEnvironment;
  /** Where to start; undefined: at the slot's own position. */
  readonly from?: Lsn | undefined;
}

/** What lines are printed with, on every connection of a run. */
interface Printing {
  readonly delivery: Delivery;
  readonly formatter: Formatter;
  readonly types: TypeRegistry;
  readonly roots: PartitionRoots;
  readonly printed: PrintedAnnouncements;
}

/** Over one connection, and another for each option that turns out not to do. */
async function tailSource(first: Connected, types: TypeRegistry): Promise<void> {
  const { openOutput, newFormatter } = first.environment;
  const delivery = await Delivery.open(openOutput);
  const roots = new PartitionRoots();
  const formatter = newFormatter({ writer: delivery.writer, types, leaves: roots });
  const printed = nothingPrinted();
  const printing: Printing = { delivery, formatter, types, roots, printed };
  try {
    for (let connected: Connected | null = first; connected !== null; ) {
      const stream = await streamFrom(connected, printing).finally(connected.session.destroy);
      if (stream.end?.reason !== 'again') return throwIfFailed(stream.end);
      const { unfinished } = stream;
      const after = stream.lastEnd ?? connected.from ?? first.source.slot.position;
      if (unfinished.length > 0) formatter.restart(after, unfinished);
      connected = await connectedAgain(connected, stream, stream.end.without);
    }
  } finally {
    delivery.close();
  }
}

/** A new connection, to go on behind the last unit that was printed whole; null: told to stop. */
async function connectedAgain(
  { options, source, environment, from }: Connected,
  before: StreamRun,
  without: DroppedOption,
): Promise<Connected | null> {
  environment.onAgain(without);
  const connecting = ReplicationSession.connect(options.connection, environment.onServerNotice);
  const session = await unlessAborted(connecting, environment.signal);
  if (session === null) return null;
  const limit = options.limit === undefined ? undefined : options.limit - before.settledLines;
  return {
    session,
    source: without === 'binary' ? { ...source, values: { kind: 'text' } } : source,
    options: { ...options, limit, ...(without === 'buffer' && { streaming: 'off' as const }) },
    environment,
    from: before.lastEnd ?? from,
  };
}

function throwIfFailed(end: StreamEnd | null): void {
  if (end?.reason === 'error') throw end.error;
  if (end?.reason === 'server stops') throw serverEndedStream();
}

/** Streams until there is a reason to stop, and delivers and acknowledges the rest. */
async function streamFrom(connected: Connected, printing: Printing): Promise<StreamRun> {
  const { signal } = connected.environment;
  const stream = newStream(connected, printing);
  const onAbort = (): void => stream.stop({ reason: 'signal' });
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    await untilEnd(stream, connected);
    await deliverRest(stream, printing.delivery, signal);
  } finally {
    signal.removeEventListener('abort', onAbort);
    stream.close();
  }
  return stream;
}

function newStream(connected: Connected, printing: Printing): StreamRun {
  const { session, source, options, environment } = connected;
  const { delivery, formatter, types, roots, printed } = printing;
  const { selection, limit } = options;
  const stopAt = options.follow ? undefined : source.server.walEnd;
  return new StreamRun({
    session,
    delivery,
    changes: { formatter, selection, types, roots, printed, limit, stopAt },
    values: tupleValues(connected, types),
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
    serverTimeout: source.server.walSenderTimeout,
  });
}

function tupleValues({ source, options }: Connected, types: TypeRegistry): TupleValues | null {
  if (source.values.kind === 'binary') {
    const shapeOf = (typeId: number) => types.shapeOf(typeId);
    return new BinaryTuples({ serverMajor: source.server.major, shapeOf });
  }
  if (options.encoding === undefined) return null;
  return new EncodedTuples(options.encoding, (typeId) => types.baseType(typeId));
}

async function untilEnd(stream: StreamRun, connected: Connected): Promise<void> {
  const { session, source, options } = connected;
  try {
    const unconverted = options.encoding !== undefined;
    await session.query(streamSettings({ unconverted, money: source.money }));
    session.attach(stream);
    const started = await startStream(stream, connected);
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

/** Null if there is a reason to stop before it has started. */
async function startStream(
  stream: StreamRun,
  { session, source, options, environment, from = INVALID_LSN }: Connected,
): Promise<{ readonly ended: Promise<void> } | null> {
  const { slot, publications, server } = source;
  const { uptime, onStart } = environment;
  const binary = source.values.kind === 'binary';
  const plugin = pgoutputOptions({ ...options, publications, binary }, server.major);
  const command = startReplication({ slot: slot.name, from, options: plugin });
  const deadline = uptime() + SLOT_PATIENCE;
  while (stream.end === null) {
    try {
      return await session.start(command, () => onStart(source));
    } catch (error) {
      const retry = hasSqlState(error, SLOT_IN_USE) && uptime() < deadline;
      if (!retry) throw startFailure(error, slot.name);
    }
    await Promise.race([stream.ended, delay(SLOT_RETRY)]);
  }
  return null;
}

/** Delivers what was formatted: to the end, unless somebody is waiting for us to stop. */
async function deliverRest(
  stream: StreamRun,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<void> {
  stream.lastFlush();
  // a server that waits for us comes before a reader that may never read
  if (stream.end?.reason === 'server stops') await stream.endSession();
  await Promise.race([delivery.allAccepted(), patienceOf(signal)]);
  await stream.endSession();
}

/** Ends some time after the user asked to stop. */
async function patienceOf(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  await delay(LAST_WRITE_PATIENCE);
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
