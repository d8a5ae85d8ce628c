// What the tail is asked to do, and what it needs of the world; all of it is passed in.

import type { OpenTransaction } from '../catalog/slot-wait.ts';
import type { Selection } from '../changes/selection.ts';
import type { PgtailError } from '../errors.ts';
import type { Formatter, FormatterContext } from '../format/formatter.ts';
import type { Lsn } from '../lsn.ts';
import type { Output, OutputListener } from '../output/output.ts';
import type { TypeRegistryOptions } from '../pgtypes/type-registry.ts';
import type { Silence } from '../silence/silence-watch.ts';
import type { ServerNotice } from '../walsender/session.ts';
import type { Source, SourceOptions } from './prepare.ts';
import type { DroppedOption } from './stream-run.ts';

export interface TailOptions extends SourceOptions {
  readonly selection: Selection;
  /** How values become text. */
  readonly rows: Pick<TypeRegistryOptions, 'values' | 'numbers'>;
  /** Stop after this many row and truncate lines. */
  readonly limit: number | undefined;
  /** Prints what was committed at or before this position, then stops. */
  readonly endLsn: Lsn | undefined;
  /** Stop between transactions when nothing came for so many ms. */
  readonly idleTimeout: number | undefined;
  /** False: stop once everything committed before the start was printed. */
  readonly follow: boolean;
  /** Try again when the connection is lost. */
  readonly reconnect: boolean;
  /** Say why nothing arrives after so many ms; 0: never. */
  readonly explainAfter: number;
  /** Milliseconds between status updates; 0: only when asked. */
  readonly statusInterval: number;
}

export interface TailEnvironment {
  /** Aborted: stop cleanly. */
  readonly signal: AbortSignal;
  /** Unix time in ms. */
  readonly now: () => number;
  /** A clock in ms that nobody sets. */
  readonly uptime: () => number;
  /** A folder for temporary files. */
  readonly spoolDirectory: string;
  /** From 0 to 1. */
  readonly random: () => number;
  /** A name for a temporary slot, each time another one, unique on the server. */
  readonly temporarySlotName: () => string;
  readonly openOutput: (listener: OutputListener) => Promise<Output>;
  readonly newFormatter: (context: FormatterContext) => Formatter;
  /** Calls back when the file is to be opened anew. */
  readonly onHangup: (reopen: () => void) => void;
  /** The slot cannot be made before this transaction is over; called every few seconds. */
  readonly onSlotWaits: (open: OpenTransaction) => void;
  /** The stream has started; nothing of it was printed yet. */
  readonly onStart: (source: Source) => void;
  /** The server writes, and nothing has arrived for a while: why. */
  readonly onSilence: (silence: Silence, source: Source) => void;
  /** The server has begun to take us for a synchronous standby. */
  readonly onCommitsWait: () => void;
  /** The stream begins anew without an option that turned out not to do. */
  readonly onAgain: (without: DroppedOption) => void;
  /** The standby that is read has become a primary: the stream begins anew on its new timeline. */
  readonly onPromoted: () => void;
  /** The connection was lost, or cannot be made again yet; called for every attempt. */
  readonly onLost: (error: PgtailError, attempt: number) => void;
  /** The stream goes on behind this position; undefined: where the slot stands. */
  readonly onReconnected: (from: Lsn | undefined) => void;
  /** The run is over, its slot stays, and this many bytes of WAL with it. */
  readonly onSlotKept: (slot: string, retained: number) => void;
  /** Only the server could make JSON of this type's values; called once for each type. */
  readonly onServerCast: (typeName: string) => void;
  /** The catalog does not have this type (yet, or any more); called once for each type. */
  readonly onTypeNotFound: (typeName: string) => void;
  /** The catalog cannot be asked about types; called at most once for each connection. */
  readonly onTypesUnknown: (error: unknown) => void;
  readonly onServerNotice: (notice: ServerNotice) => void;
}
