// A replication slot as `pgtail slots` knows it: what it is, who reads it, what it costs.
// https://www.postgresql.org/docs/current/view-pg-replication-slots.html

import type { Lsn } from '../lsn.ts';

/** Who reads the slot at this moment. */
export interface SlotReader {
  readonly pid: number;
  /** Undefined from here on: the role may not see it, or there is none. */
  readonly application: string | undefined;
  readonly role: string | undefined;
  /** Undefined: over a Unix socket, or not readable. */
  readonly clientAddress: string | undefined;
  /** Between writing WAL here and having it flushed there, in ms. */
  readonly flushLag: number | undefined;
  /** Address and lag could be read, if there are any. */
  readonly readable: boolean;
}

/** What decoding had to put on disk, and what it sent of transactions in progress (14+). */
export interface DecodingCounters {
  readonly spillTransactions: number;
  readonly spillCount: number;
  readonly spillBytes: number;
  readonly streamTransactions: number;
  readonly streamCount: number;
  readonly streamBytes: number;
  readonly totalTransactions: number;
  readonly totalBytes: number;
}

/** What a server's version does not have, or what does not apply, is undefined. */
export interface Slot {
  readonly name: string;
  readonly kind: 'logical' | 'physical';
  readonly plugin: string | undefined;
  readonly database: string | undefined;
  readonly temporary: boolean;
  readonly twoPhase: boolean;
  readonly failover: boolean;
  /** Kept by a standby as a copy of its primary's. */
  readonly synced: boolean;
  readonly reader: SlotReader | undefined;
  /** ISO 8601 (17+). */
  readonly inactiveSince: string | undefined;
  /** In seconds. */
  readonly inactiveFor: number | undefined;
  /** `reserved`, `extended`, `unreserved` or `lost` (13+). */
  readonly walStatus: string | undefined;
  /** Why nobody can read it any more; undefined: it can be read. */
  readonly invalidation: string | undefined;
  readonly restartLsn: Lsn | undefined;
  readonly confirmedFlushLsn: Lsn | undefined;
  /** WAL that the server keeps for it, in bytes; undefined: none (any more). */
  readonly retained: number | undefined;
  /** From what its reader has confirmed to the end of the WAL, in bytes. */
  readonly behind: number | undefined;
  /** So many bytes more of WAL, and it may be lost (13+); 0: at any checkpoint; undefined: never. */
  readonly safeWal: number | undefined;
  /** How many transactions ago the rows were dead that it keeps VACUUM from removing. */
  readonly xminAge: number | undefined;
  /** The same for rows of the catalog. */
  readonly catalogXminAge: number | undefined;
  readonly counters: DecodingCounters | undefined;
}

/** The server's settings that decide what a slot may cost; sizes in bytes. */
export interface SlotSettings {
  readonly maxReplicationSlots: number;
  readonly maxWalSize: number;
  /** Undefined: no limit. */
  readonly maxSlotWalKeepSize: number | undefined;
  /** In seconds (18+); undefined: none. */
  readonly idleTimeout: number | undefined;
  readonly autovacuumFreezeMaxAge: number;
}
