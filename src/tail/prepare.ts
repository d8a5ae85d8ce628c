// Everything that is checked or made before the stream: server, publications and slot, in the order
// in which a mistake is cheapest to mend.

import type { ConnectionSettings } from '../connection/settings.ts';
import type { Lsn } from '../lsn.ts';
import {
  checkSlot,
  checkWalLevel,
  choosePublications,
  readPreflight,
  type ServerFacts,
} from '../walsender/preflight.ts';
import type { ReplicationSession } from '../walsender/session.ts';
import { prepareSlot, type ReadySlot } from '../walsender/slot.ts';

export interface SourceOptions {
  readonly connection: ConnectionSettings;
  /** Undefined: a temporary slot. */
  readonly slot: string | undefined;
  readonly createSlot: boolean;
  /** Empty: the only one in the database. */
  readonly publications: readonly string[];
}

export interface Source {
  readonly server: ServerFacts;
  readonly slot: ReadySlot;
  /** See Preflight. */
  readonly partialRoots: readonly number[];
  readonly publications: readonly string[];
  /** What the slot has been acknowledged up to; undefined if it was just made. */
  readonly position: Lsn | undefined;
}

/** @throws PgtailError: exit code 4 or 6. */
export async function prepareSource(
  session: ReplicationSession,
  options: SourceOptions,
  temporaryName: string,
): Promise<Source> {
  const found = await readPreflight(session, options.slot);
  checkWalLevel(found.server);
  // a slot of another database first: a publication missing here is then no surprise
  if (found.slot !== undefined) checkSlot(options.slot!, found.slot, found.server.database);
  const publications = choosePublications(options.publications, found);
  const request = { name: options.slot, create: options.createSlot, temporaryName };
  const slot = await prepareSlot(session, request, found);
  const position = found.slot?.confirmedFlushLsn;
  return { server: found.server, slot, partialRoots: found.partialRoots, publications, position };
}
