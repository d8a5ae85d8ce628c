// Everything that is checked or made before the stream: server, publications and slot, in the order
// in which a mistake is cheapest to mend.

import { withCatalog } from '../catalog/catalog-connection.ts';
import { readPublishedTypes, type TextOnlyColumn } from '../catalog/published-types.ts';
import type { ConnectionSettings } from '../connection/settings.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { type PgoutputRequest, unsupportedOption } from '../pgoutput/plugin-options.ts';
import type { BinaryTypeLookup } from '../pgtypes/binary/type-lookup.ts';
import {
  checkSlot,
  checkTwoPhase,
  checkWalLevel,
  choosePublications,
  readPreflight,
  type ServerFacts,
} from '../walsender/preflight.ts';
import type { ReplicationSession } from '../walsender/session.ts';
import { prepareSlot, type ReadySlot } from '../walsender/slot.ts';

export interface SourceOptions extends PgoutputRequest {
  readonly connection: ConnectionSettings;
  /** Undefined: a temporary slot. */
  readonly slot: string | undefined;
  readonly createSlot: boolean;
  /** Do what is hard to undo. */
  readonly yes: boolean;
}

/** Whether values come in binary, and if not although it was asked for, why. */
export type ValueFormat =
  | { readonly kind: 'binary'; readonly types: BinaryTypeLookup }
  | {
      readonly kind: 'text';
      readonly because?: TextOnlyColumn | 'temporary slot' | 'no connection';
    };

export interface Source {
  readonly server: ServerFacts;
  readonly slot: ReadySlot;
  /** See Preflight. */
  readonly partialRoots: readonly number[];
  readonly publications: readonly string[];
  readonly values: ValueFormat;
}

/** @throws PgtailError: exit code 2, 4 or 6. */
export async function prepareSource(
  session: ReplicationSession,
  options: SourceOptions,
  temporaryName: string,
): Promise<Source> {
  const found = await readPreflight(session, options.slot);
  const { server, partialRoots } = found;
  checkWalLevel(server);
  // a slot of another database first: a publication missing here is then no surprise
  if (found.slot !== undefined) checkSlot(options.slot!, found.slot, server.database);
  checkSupported(options, server.major);
  const publications = choosePublications(options.publications, found);
  if (options.twoPhase && !options.yes && found.slot) checkTwoPhase(options.slot!, found.slot);
  const values = await valueFormat(session, options, publications, server.major);
  const request = { name: options.slot, create: options.createSlot, temporaryName };
  const slot = await prepareSlot(session, request, found);
  return { server, slot, partialRoots, publications, values };
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
 * connection, so it could not go on in text if another type turned up: it stays with text.
 */
async function valueFormat(
  session: ReplicationSession,
  { binary, slot }: SourceOptions,
  publications: readonly string[],
  major: number,
): Promise<ValueFormat> {
  if (!binary) return { kind: 'text' };
  if (slot === undefined) return { kind: 'text', because: 'temporary slot' };
  const found = await withCatalog(session.ordinaryConfig, (query) =>
    readPublishedTypes(query, publications, major),
  ).catch(() => undefined);
  if (found === undefined) return { kind: 'text', because: 'no connection' };
  const [column] = found.textOnly;
  if (column !== undefined) return { kind: 'text', because: column };
  return { kind: 'binary', types: found.lookup };
}
