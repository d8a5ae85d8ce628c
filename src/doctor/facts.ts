// All that the checks are made from: what was asked for, and what was read of the server.

import type { ServerSummary } from '../catalog/server-summary.ts';
import type { ConnectionSettings } from '../connection/settings.ts';
import type { IdentityReport } from '../identity/report.ts';
import type { Slot, SlotSettings } from '../slots/slot.ts';
import type { AccessFacts } from './read-access.ts';
import type { PublicationFacts } from './read-publications.ts';
import type { RoleFacts } from './read-role.ts';
import type { ServerState } from './read-server.ts';
import type { OpenTransactions } from './read-transactions.ts';
import type { Settings } from './settings.ts';

/** As the tail would be asked. */
export interface DoctorRequest {
  readonly connection: ConnectionSettings;
  /** Undefined: a temporary slot. */
  readonly slot: string | undefined;
  readonly publications: readonly string[];
  /** What text is to be read in; undefined: the server converts it to UTF8. */
  readonly encoding: string | undefined;
}

export interface DoctorFacts {
  readonly request: DoctorRequest;
  readonly server: ServerSummary;
  readonly settings: Settings;
  readonly state: ServerState;
  readonly role: RoleFacts;
  readonly access: AccessFacts;
  readonly publications: PublicationFacts;
  /** Of the tables that are published; undefined: no publication is chosen. */
  readonly identities: Pick<IdentityReport, 'tables' | 'findings'> | undefined;
  readonly transactions: OpenTransactions;
  readonly slotSettings: SlotSettings;
  /** Every slot of the server. */
  readonly slots: readonly Slot[];
  /** The one asked for; undefined: there is none, or none was asked for. */
  readonly slot: Slot | undefined;
}
