// The connections of a run, one after the other: the first one, and each that goes on where the one
// before was lost or could not go on.

import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionSettings } from '../connection/settings.ts';
import { isTransient, type PgtailError } from '../errors.ts';
import { type Lsn, laterLsn } from '../lsn.ts';
import type { TypeRegistry } from '../pgtypes/type-registry.ts';
import { ReplicationSession } from '../walsender/session.ts';
import type { ReadySlot } from '../walsender/slot.ts';
import { checkSameHistory, checkWithinWal } from '../walsender/timeline.ts';
import { backoff } from './backoff.ts';
import { unlessCancelled } from './cancelling.ts';
import type { TailEnvironment, TailOptions } from './environment.ts';
import { prepareSource, type Source } from './prepare.ts';
import { unlessAborted } from './stopping.ts';
import type { DroppedOption, StreamRun } from './stream-run.ts';
import { answered, type Connected, usualPatience } from './streaming.ts';

/** Null: told to stop meanwhile. @throws PgtailError; the first connection is not tried again. */
export async function connectFirst(
  options: TailOptions,
  environment: TailEnvironment,
  types: TypeRegistry,
): Promise<Connected | null> {
  const opened = await open(options, environment, types, undefined);
  if (opened === null) return null;
  const { source } = opened;
  return {
    ...opened,
    options,
    environment,
    from: options.startLsn,
    stopAt: stopAt(options, source),
    ownWalsenders: [],
    // where nobody told the position, no move of the slot can be told either
    acknowledged: source.slot.position ?? BEYOND_ALL,
    silencePatience: undefined,
    attempts: 0,
    hasStartedBefore: false,
    onStarted: () => environment.onStart(source),
  };
}

/** Before what was committed there the stream stops: at the end of now, and behind --end-lsn. */
function stopAt({ follow, endLsn }: TailOptions, { server }: Source): Lsn | undefined {
  const wanted = endLsn === undefined ? undefined : endLsn + 1n;
  if (follow) return wanted;
  return wanted !== undefined && wanted < server.walEnd ? wanted : server.walEnd;
}

/** What a new connection goes on from. */
export interface Departure {
  readonly connected: Connected;
  readonly stream: StreamRun;
  /** The end of the last unit that was printed whole; undefined: none was. */
  readonly position: Lsn | undefined;
}

/** To go on with a server that was promoted meanwhile. Null: told to stop meanwhile. */
export async function connectPromoted(
  departure: Departure,
  types: TypeRegistry,
): Promise<Connected | null> {
  const { environment, options } = departure.connected;
  environment.onPromoted();
  return await connectAtOnce(departure, options, types);
}

/** To go on without an option that turned out not to do. Null: told to stop meanwhile. */
export async function connectWithout(
  dropped: DroppedOption,
  departure: Departure,
  types: TypeRegistry,
): Promise<Connected | null> {
  const { connected } = departure;
  connected.environment.onAgain(dropped);
  const options: TailOptions = {
    ...connected.options,
    ...(dropped === 'binary' ? { binary: false } : { streaming: 'off' }),
  };
  return await connectAtOnce(departure, options, types);
}

async function connectAtOnce(
  departure: Departure,
  options: TailOptions,
  types: TypeRegistry,
): Promise<Connected | null> {
  try {
    return await connectOnce(departure, options, types);
  } catch (error) {
    if (!options.reconnect || !isTransient(error)) throw error;
    const connected = { ...departure.connected, options };
    return await reconnect(error, { ...departure, connected }, types);
  }
}

/**
 * Tries until it succeeds, waiting longer each time. Null: told to stop meanwhile.
 * @throws PgtailError what will not go away by itself
 */
export async function reconnect(
  loss: PgtailError,
  departure: Departure,
  types: TypeRegistry,
): Promise<Connected | null> {
  const { connected, stream } = departure;
  const { environment, options, attempts } = connected;
  const { signal, random, onLost, onReconnected } = environment;
  let reason = loss;
  // a server that ends each connection at once is not asked more often than one that is away
  for (let attempt = stream.heard ? 1 : attempts + 1; !signal.aborted; attempt++) {
    onLost(reason, attempt);
    await unlessAborted(delay(backoff(attempt, random)), signal);
    if (signal.aborted) return null;
    try {
      const next = await connectOnce(departure, options, types);
      if (next === null) return null;
      const onAgain = (): void => onReconnected(next.from);
      const onStarted = next.hasStartedBefore ? onAgain : next.onStarted;
      return { ...next, attempts: attempt, onStarted };
    } catch (error) {
      if (!isTransient(error)) throw error;
      reason = error;
    }
  }
  return null;
}

async function connectOnce(
  { connected, stream, position }: Departure,
  options: TailOptions,
  types: TypeRegistry,
): Promise<Connected | null> {
  const { environment, source, session, stopAt } = connected;
  const opened = await open(options, environment, types, source);
  if (opened === null) return null;
  try {
    await checkHistory(opened, source, position);
  } catch (error) {
    opened.session.destroy();
    throw error;
  }
  const limit = options.limit === undefined ? undefined : options.limit - stream.settledLines;
  const hasStartedBefore = connected.hasStartedBefore || stream.hasStarted;
  return {
    ...opened,
    options: { ...options, limit },
    environment,
    from: startAgain(opened.source.slot, position),
    stopAt,
    ownWalsenders: [...connected.ownWalsenders, session.backendPid].slice(-MOST_WALSENDERS),
    acknowledged: laterLsn(connected.acknowledged, stream.acknowledged),
    silencePatience: longerPatience(connected, stream),
    attempts: 0,
    hasStartedBefore,
    // of a stream that was refused nobody has heard yet
    onStarted: hasStartedBefore ? () => {} : () => environment.onStart(opened.source),
  };
}

/** A new temporary slot begins where it was made, and the copy of another where that one stands. */
function startAgain({ temporary, copyOf, position: own }: ReadySlot, position: Lsn | undefined) {
  if (!temporary) return position;
  if (copyOf === undefined || position === undefined) return undefined;
  return own !== undefined && own > position ? undefined : position;
}

/** No LSN is higher. */
const BEYOND_ALL: Lsn = 2n ** 64n - 1n;

/** So many of our own walsenders are remembered: the last one that got the slot may hold it. */
const MOST_WALSENDERS = 50;

/** A server that is silent may only be busy, with a large row: as long as nothing comes it gets more time. */
function longerPatience({ silencePatience, source }: Connected, stream: StreamRun) {
  if (!stream.isSilent || stream.lastEnd !== undefined) return undefined;
  return (silencePatience ?? usualPatience(source)) * 2;
}

async function checkHistory(
  { session, source }: Opened,
  before: Source,
  position: Lsn | undefined,
): Promise<void> {
  if (position === undefined) return;
  if (isSameServer(before, source)) return;
  await checkSameHistory(session, before.identity, source.identity, position);
  if (source.identity.timeline !== before.identity.timeline) return;
  checkWithinWal(position, source.server.walEnd);
}

/** One that was not even restarted has sent only what is its history, also if it was promoted. */
const isSameServer = (before: Source, now: Source): boolean =>
  before.identity.system === now.identity.system &&
  before.server.startedAt === now.server.startedAt;

interface Opened {
  readonly session: ReplicationSession;
  readonly source: Source;
}

/** In ms. */
const RECONNECT_TIMEOUT = 10_000;

/** A network that is cut may swallow the attempt: it is not waited for as long as the user would. */
function patient(connection: ConnectionSettings): ConnectionSettings {
  return { ...connection, connectTimeout: connection.connectTimeout || RECONNECT_TIMEOUT };
}

/** `before`: what an earlier connection of this run read from. */
async function open(
  options: TailOptions,
  environment: TailEnvironment,
  types: TypeRegistry,
  before: Source | undefined,
): Promise<Opened | null> {
  const { signal, onServerNotice } = environment;
  const connecting = ReplicationSession.connect(
    before === undefined ? options.connection : patient(options.connection),
    onServerNotice,
  );
  const session = await unlessAborted(connecting, signal);
  if (session === null) {
    connecting.then((late) => late.destroy()).catch(() => {});
    return null;
  }
  const again = before && {
    ...options,
    createSlot: false,
    // it was checked, and the slot has moved on since
    startLsn: undefined,
    publications: before.publications,
  };
  try {
    const source = await preparedSource(session, again ?? options, environment, types);
    if (source !== null) return { session, source };
  } catch (error) {
    session.destroy();
    throw error;
  }
  session.destroy();
  return null;
}

/** Null if the user stopped meanwhile; a slot that was about to be made is then not made. */
async function preparedSource(
  session: ReplicationSession,
  options: TailOptions,
  { signal, temporarySlotName, onSlotWaits }: TailEnvironment,
  types: TypeRegistry,
): Promise<Source | null> {
  const preparing = prepareSource(session, options, temporarySlotName(), types, onSlotWaits);
  preparing.catch(() => {}); // a stop does not wait for it
  // making a slot may take its time
  const mayWait = options.createSlot || options.slot === undefined;
  return await unlessCancelled(session, mayWait ? preparing : answered(preparing), signal);
}
