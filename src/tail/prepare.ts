// Everything that is checked or made before the stream: server, publications and slot, in the order
// in which a mistake is cheapest to mend.

import type { ConnectionSettings } from '../connection/settings.ts';
import {
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
}

/** @throws PgtailError: exit code 4 or 6. */
export async function prepareSource(
  session: ReplicationSession,
  options: SourceOptions,
  temporaryName: string,
): Promise<Source> {
  const found = await readPreflight(session, options.slot);
  checkWalLevel(found.server);
  const publications = choosePublications(options.publications, found);
  const request = { name: options.slot, create: options.createSlot, temporaryName };
  const slot = await prepareSlot(session, request, found);
  return { server: found.server, slot, partialRoots: found.partialRoots, publications };
}
