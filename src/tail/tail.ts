// The main job, put together: session, decoder, change stream, formatter, output and progress, over as
// many connections as it takes.

import { withCatalog } from '../catalog/catalog-connection.ts';
import { retainedWal } from '../catalog/retained-wal.ts';
import { nothingPrinted } from '../changes/announcements.ts';
import { PartitionRoots } from '../changes/partition-roots.ts';
import { within } from '../deadline.ts';
import { EXIT, isTransient, PgtailError } from '../errors.ts';
import { formatLsn, type Lsn } from '../lsn.ts';
import { TypeRegistry } from '../pgtypes/type-registry.ts';
import {
  connectFirst,
  connectPromoted,
  connectWithout,
  type Departure,
  reconnect,
} from './connect.ts';
import { Delivery } from './delivery.ts';
import type { TailEnvironment, TailOptions } from './environment.ts';
import { unlessLate, withReaderPatience } from './stopping.ts';
import type { StreamEnd, StreamRun } from './stream-run.ts';
import { type Connected, type Printing, serverEndedStream, streamFrom } from './streaming.ts';

/** Tails until done or told to stop. @throws PgtailError with the exit code. */
export async function tail(options: TailOptions, environment: TailEnvironment): Promise<void> {
  const { onServerCast, onTypeNotFound } = environment;
  const types = new TypeRegistry({ ...options.rows, onServerCast, onTypeNotFound });
  // before a slot is made, which would stay behind if there is no output
  const delivery = await Delivery.open(environment.openOutput, options.file);
  const { file } = delivery;
  if (file !== null) environment.onHangup(() => file.reopen());
  try {
    const first = await connectFirst(options, environment, types);
    if (first === null) return;
    await tailFrom(first, types, delivery).finally(first.session.destroy);
  } finally {
    delivery.close();
  }
}

async function tailFrom(first: Connected, types: TypeRegistry, delivery: Delivery): Promise<void> {
  const { newFormatter } = first.environment;
  const roots = new PartitionRoots();
  const formatter = newFormatter({ writer: delivery.writer, types, leaves: roots });
  const printed = nothingPrinted();
  const printing: Printing = { delivery, formatter, types, roots, printed };
  for (let connected = first; ; ) {
    const stream = await streamFrom(connected, printing).finally(connected.session.destroy);
    const next = await goOn(connected, stream, printing);
    if (next === null) return await takeLeave(connected, stream, delivery);
    connected = next;
  }
}

async function takeLeave(
  connected: Connected,
  stream: StreamRun,
  delivery: Delivery,
): Promise<void> {
  const { signal } = connected.environment;
  if (stream.hasStarted && stream.answeredAtEnd) await tellCost(connected);
  // a reader that is still there gets what was printed before the connection was lost
  const isCut = stream.isLost || stream.end?.reason === 'server stops';
  if (isCut) await withReaderPatience(delivery.allAccepted(), signal);
}

/** How long the end of a run waits to hear what its slot costs, in ms; and after a user's stop. */
const COST_PATIENCE = 2000;
const COST_PATIENCE_AFTER_STOP = 300;

/** What stays behind on the server. Who cannot ask for it, or gets no answer, is told nothing. */
async function tellCost({ source, session, environment }: Connected): Promise<void> {
  const { name, temporary } = source.slot;
  if (temporary) return;
  const asking = withCatalog(session.ordinaryConfig, (query) => retainedWal(query, name));
  const soon = unlessLate(asking, environment.signal, COST_PATIENCE_AFTER_STOP);
  const bytes = await within(soon, COST_PATIENCE, () => undefined).catch(() => undefined);
  if (bytes !== undefined) environment.onSlotKept(name, bytes);
}

/** The connection to go on with; null: it is over. @throws PgtailError */
async function goOn(
  connected: Connected,
  stream: StreamRun,
  printing: Printing,
): Promise<Connected | null> {
  const { end } = stream;
  const loss = lossOf(end);
  const mayGoOn = loss !== null || end?.reason === 'again' || end?.reason === 'promoted';
  if (!mayGoOn) return throwIfFailed(end);
  if (loss !== null && !connected.options.reconnect) throw loss;
  const position = stream.lastEnd ?? connected.from;
  const departure: Departure = { connected, stream, position };
  const known = position ?? connected.source.slot.position;
  await voidUnfinished(stream, printing, known);
  const next = await nextConnection(loss, departure, printing.types);
  if (next?.source.slot.temporary && next.from === undefined) printGap(known, next, printing);
  if (next !== null && wasMoved(next)) tellMoved(known, next, printing);
  return next;
}

async function nextConnection(
  loss: PgtailError | null,
  departure: Departure,
  types: TypeRegistry,
): Promise<Connected | null> {
  const { end } = departure.stream;
  if (loss !== null) return await reconnect(loss, departure, types);
  if (end?.reason === 'again') return await connectWithout(end.without, departure, types);
  return await connectPromoted(departure, types);
}

/** What was not printed whole comes again: a file forgets it, and a reader is told. */
async function voidUnfinished(
  { unfinished }: StreamRun,
  { delivery, formatter, printed }: Printing,
  after: Lsn | undefined,
): Promise<void> {
  delivery.flush();
  if (delivery.file !== null) {
    await delivery.file.cutBack();
    printed.relations.clear();
    printed.types.clear();
    return;
  }
  if (unfinished.length > 0) formatter.restart(after, unfinished);
  delivery.flush();
}

/** Somebody else has moved the slot, or made it anew, while we were away. */
function wasMoved({ source, acknowledged }: Connected): boolean {
  const { position, temporary } = source.slot;
  return !temporary && position !== undefined && position > acknowledged;
}

/** @throws PgtailError (exit code 6) for a file, which must not have a gap. */
function tellMoved(after: Lsn | undefined, next: Connected, printing: Printing): void {
  if (printing.delivery.file === null) return printGap(after, next, printing);
  next.session.destroy();
  const { name, position } = next.source.slot;
  throw new PgtailError(
    EXIT.slot,
    `slot ${JSON.stringify(name)} was moved to ${formatLsn(position!)} by somebody else: changes before that are missing in the file`,
    { hint: 'begin a new file with it, if it may have that gap' },
  );
}

/** Nobody kept what was written meanwhile: the slot was gone with its connection, or moved. */
function printGap(after: Lsn | undefined, { source }: Connected, { formatter }: Printing): void {
  if (source.slot.position !== undefined) formatter.gap(after, source.slot.position);
}

function throwIfFailed(end: StreamEnd | null): null {
  if (end?.reason === 'error') throw end.error;
  return null;
}

/** What may be mended by a new connection. */
function lossOf(end: StreamEnd | null): PgtailError | null {
  if (end?.reason === 'server stops') return serverEndedStream();
  if (end?.reason !== 'error') return null;
  return isTransient(end.error) ? end.error : null;
}
