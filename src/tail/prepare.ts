// Everything that is checked or made before the stream: server, publications and slot, in the order
// in which a mistake is cheapest to mend.

import { withCatalog } from '../catalog/catalog-connection.ts';
import { type Catalog, catalogNames } from '../catalog/catalog-names.ts';
import { type PublishedColumn, readPublishedColumns } from '../catalog/published-columns.ts';
import { type OpenTransaction, tellingSlotWaits } from '../catalog/slot-wait.ts';
import { readTypes } from '../catalog/type-catalog.ts';
import type { ConnectionSettings } from '../connection/settings.ts';
import { EXIT, PgtailError } from '../errors.ts';
import type { Lsn } from '../lsn.ts';
import { type PgoutputRequest, unsupportedOption } from '../pgoutput/plugin-options.ts';
import { hasBinaryDecoder } from '../pgtypes/binary/binary-to-text.ts';
import { isBuiltinType } from '../pgtypes/builtin-types.ts';
import type { TextEncoding } from '../pgtypes/encoding/text-encoding.ts';
import type { TypeRegistry } from '../pgtypes/type-registry.ts';
import type { MoneyLocale } from '../walsender/money-locale.ts';
import {
  checkRecovery,
  checkSlot,
  checkStart,
  checkTwoPhase,
  checkUnconvertedNames,
  checkWalLevel,
  choosePublications,
  isSynchronousStandby,
  readPreflight,
  type ServerFacts,
} from '../walsender/preflight.ts';
import type { ReplicationSession } from '../walsender/session.ts';
import { prepareSlot, type ReadySlot } from '../walsender/slot.ts';
import { identifySystem, type SystemIdentity } from '../walsender/timeline.ts';
import { checkFileOfNewSlot, type FileOptions } from './file-target.ts';

export interface SourceOptions extends PgoutputRequest {
  readonly connection: ConnectionSettings;
  /** Undefined: a temporary slot. */
  readonly slot: string | undefined;
  readonly createSlot: boolean;
  /** What text is in; undefined: the server converts it to UTF8. */
  readonly encoding: TextEncoding | undefined;
  /** Read a temporary copy of the slot, which stays as it is. */
  readonly peek: boolean;
  /** Where to start; undefined: at the slot's position. */
  readonly startLsn: Lsn | undefined;
  /** Written in the place of the output, with every unit exactly once; NDJSON only. */
  readonly file: FileOptions | undefined;
  /** Do what is hard to undo. */
  readonly yes: boolean;
}

/** Whether values come in binary, and if not although it was asked for, why. */
export type ValueFormat =
  | { readonly kind: 'binary' }
  | {
      readonly kind: 'text';
      readonly because?:
        | PublishedColumn
        | 'temporary slot'
        | 'no connection'
        | 'encoding'
        | 'time zone';
    };

export interface Source {
  readonly identity: SystemIdentity;
  readonly server: ServerFacts;
  readonly slot: ReadySlot;
  readonly publications: readonly string[];
  readonly values: ValueFormat;
  readonly money: MoneyLocale;
  /** Prepared transactions are sent as such. */
  readonly isTwoPhase: boolean;
  /** The server takes us for a synchronous standby: COMMITs wait for what we acknowledge. */
  readonly commitsWait: boolean;
}

/** The registry learns the published types. @throws PgtailError: exit code 2, 4 or 6. */
export async function prepareSource(
  session: ReplicationSession,
  options: SourceOptions,
  temporaryName: string,
  types: TypeRegistry,
  onSlotWaits: (open: OpenTransaction) => void,
): Promise<Source> {
  const identity = await identifySystem(session);
  const found = await readPreflight(session, options.slot, options.publications);
  const { server, money } = found;
  checkWalLevel(server);
  checkRecovery(server, options.slot, found.slot);
  // a slot of another database first: a publication missing here is then no surprise
  if (found.slot !== undefined) checkSlot(options.slot!, found.slot, server.database);
  checkSupported(options, server.major);
  const publications = choosePublications(options.publications, found);
  if (options.encoding !== undefined) checkUnconvertedNames(publications, server);
  if (options.twoPhase && !options.yes && !options.peek && found.slot) {
    checkTwoPhase(options.slot!, found.slot);
  }
  if (options.startLsn !== undefined) checkStart(options.startLsn, options, found);
  if (options.file !== undefined && options.createSlot && found.slot === undefined) {
    checkFileOfNewSlot(options.file, options.slot!, identity);
  }
  const catalog = catalogOf(server, options.encoding);
  const learning = learnPublished(session, publications, catalog, types);
  const { slot: name, createSlot: create, peek } = options;
  const request = { name, create, peek, temporaryName };
  const preparing = prepareSlot(session, request, found);
  const slot = await tellingSlotWaits(session.ordinaryConfig, onSlotWaits, preparing);
  const values = valueFormat(options, await learning, types, server.major);
  const isTwoPhase = options.twoPhase || (found.slot?.twoPhase ?? false);
  const { applicationName } = options.connection;
  const commitsWait = isSynchronousStandby(applicationName, server.synchronousStandbyNames);
  return { identity, server, slot, publications, values, money, isTwoPhase, commitsWait };
}

/** How the catalog is asked, and what its text is read as. */
export function catalogOf(
  { major, encoding }: ServerFacts,
  readAs: TextEncoding | undefined,
): Catalog {
  return { major, names: catalogNames(encoding, readAs) };
}

/** Null if the catalog cannot be asked, which is no failure before a type is met that needs it. */
function learnPublished(
  session: ReplicationSession,
  publications: readonly string[],
  catalog: Catalog,
  types: TypeRegistry,
): Promise<readonly PublishedColumn[] | null> {
  const learning = withCatalog(session.ordinaryConfig, async (query) => {
    const columns = await readPublishedColumns(query, publications, catalog);
    const unknown = columns.filter(({ typeId }) => !isBuiltinType(typeId));
    types.learn(unknown, await readTypes(query, unknown, catalog));
    return columns;
  });
  return learning.catch(() => null);
}

function checkSupported(request: PgoutputRequest, major: number): void {
  const unsupported = unsupportedOption(request, major);
  if (unsupported === undefined) return;
  const { option, since } = unsupported;
  throw new PgtailError(
    EXIT.notReady,
    `${option} needs PostgreSQL ${since} or newer, this server is ${major}`,
  );
}

/**
 * Binary only if every published column can be decoded. A temporary slot is gone with its
 * connection, so it could not go on in text if another type turned up: it stays with text. What is
 * decoded here is decoded as UTF8 and in UTC.
 */
function valueFormat(
  { binary, slot, peek, encoding, connection }: SourceOptions,
  columns: readonly PublishedColumn[] | null,
  types: TypeRegistry,
  serverMajor: number,
): ValueFormat {
  if (!binary) return { kind: 'text' };
  if (encoding !== undefined) return { kind: 'text', because: 'encoding' };
  if (connection.timeZone.toUpperCase() !== 'UTC') return { kind: 'text', because: 'time zone' };
  if (slot === undefined && !peek) return { kind: 'text', because: 'temporary slot' };
  if (columns === null) return { kind: 'text', because: 'no connection' };
  const lookup = { serverMajor, shapeOf: (typeId: number) => types.shapeOf(typeId) };
  const column = columns.find(({ typeId }) => !hasBinaryDecoder(typeId, lookup));
  return column === undefined ? { kind: 'binary' } : { kind: 'text', because: column };
}
