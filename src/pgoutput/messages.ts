// The logical replication messages that are not rows, each as a plain object.
// https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html

import type { Lsn } from '../lsn.ts';
import type { PgTimestamp } from '../wire/timestamp.ts';

export interface Begin {
  /** Where the commit record starts: the transaction's identity, together with nothing else. */
  readonly commitLsn: Lsn;
  /** May be an origin's clock, or 2000-01-01. */
  readonly commitTime: PgTimestamp;
  readonly xid: number;
}

export interface Commit {
  readonly commitLsn: Lsn;
  /** Where the commit record ends: the position to acknowledge, exactly. */
  readonly endLsn: Lsn;
  readonly commitTime: PgTimestamp;
}

export interface Origin {
  readonly originLsn: Lsn;
  readonly name: string;
}

export interface LogicalMessage {
  readonly transactional: boolean;
  /** The end of the message's WAL record: a position that may be acknowledged. */
  readonly lsn: Lsn;
  readonly prefix: string;
  /** Any bytes. Borrowed: valid until the handler returns. */
  readonly content: Buffer;
}

/** Announces a type that is not built in, before the first relation that uses it. */
export interface TypeName {
  readonly typeId: number;
  readonly schema: string;
  /** For a domain: the name of its base type. */
  readonly name: string;
}

export interface TruncateOptions {
  readonly cascade: boolean;
  readonly restartIdentity: boolean;
}

export interface StreamStart {
  readonly xid: number;
  /** The first block of this transaction. */
  readonly first: boolean;
}

export interface StreamCommit extends Commit {
  readonly xid: number;
}

export interface StreamAbort {
  readonly xid: number;
  /** The subtransaction that was rolled back; equal to xid if all was. */
  readonly subxid: number;
  /** Only sent with streaming 'parallel'. */
  readonly abort: { readonly lsn: Lsn; readonly time: PgTimestamp } | undefined;
}

/** Begin Prepare, Prepare and Stream Prepare share these fields. */
export interface Prepare {
  readonly prepareLsn: Lsn;
  readonly endLsn: Lsn;
  readonly prepareTime: PgTimestamp;
  readonly xid: number;
  readonly gid: string;
}

export interface CommitPrepared {
  readonly commitLsn: Lsn;
  readonly endLsn: Lsn;
  readonly commitTime: PgTimestamp;
  readonly xid: number;
  readonly gid: string;
}

export interface RollbackPrepared {
  readonly prepareEndLsn: Lsn;
  readonly rollbackEndLsn: Lsn;
  readonly prepareTime: PgTimestamp;
  readonly rollbackTime: PgTimestamp;
  readonly xid: number;
  readonly gid: string;
}
