// What every output format implements: one method a printed line, called in the order of printing.

import type { ByteWriter } from '../byte-writer.ts';
import type { Lsn } from '../lsn.ts';
import type {
  Commit,
  CommitPrepared,
  LogicalMessage,
  Origin,
  Prepare,
  RollbackPrepared,
  StreamAbort,
  StreamCommit,
  TruncateOptions,
  TypeName,
} from '../pgoutput/messages.ts';
import type { Relation } from '../pgoutput/relation.ts';
import type { TupleData } from '../pgoutput/tuple.ts';
import type { TypeRegistry } from '../pgtypes/type-registry.ts';
import type { PgTimestamp } from '../wire/timestamp.ts';

/** What a formatter is made from. */
export interface FormatterContext {
  readonly writer: ByteWriter;
  readonly types: TypeRegistry;
  readonly leaves: LeafIdentities;
}

/** What the leaves of a partitioned table, published as their root, do not tell of old rows. */
export interface LeafLimits {
  /** Where the root is FULL: a NULL in an old row may be a value that was not sent. */
  readonly oldIsPartial: boolean;
  /** For each column: had it changed, a key tuple would have said so. */
  readonly keptColumns: readonly boolean[];
}

export interface LeafIdentities {
  /** Undefined for a table that is no such root; may change when the stream shows another leaf. */
  limitsOf(relation: Relation): LeafLimits | undefined;
}

/** The transaction that lines belong to. Immutable; one object for a transaction's whole life. */
export type Transaction =
  | {
      readonly kind: 'committed';
      readonly xid: number;
      readonly commitLsn: Lsn;
      readonly commitTime: PgTimestamp;
    }
  | {
      readonly kind: 'prepared';
      readonly xid: number;
      readonly gid: string;
      readonly prepareLsn: Lsn;
      readonly prepareTime: PgTimestamp;
    }
  /** Streamed while in progress: nobody knows yet whether it will commit. */
  | { readonly kind: 'streamed'; readonly xid: number };

/** The place of a row, truncate or message. Borrowed: valid until the method returns. */
export interface Change {
  readonly transaction: Transaction;
  /** Counts what the server sent in the transaction, from 1, before filters. */
  readonly seq: number;
  readonly lsnHigh: number;
  readonly lsnLow: number;
  /** The subtransaction inside a streamed transaction; 0 if it is the transaction itself. */
  readonly subxid: number;
}

/**
 * Appends text for each call to a byte writer it was made with. Does no I/O and reads no clock.
 * Tuples, message contents and Changes are borrowed: valid until the method returns.
 */
export interface Formatter {
  /** Whether it reads binary values of this type; all others must have been made text. */
  readsBinary(typeId: number): boolean;
  begin(transaction: Transaction): void;
  commit(transaction: Transaction, commit: Commit, changes: number): void;
  origin(transaction: Transaction, origin: Origin): void;
  /** Comes before the first line that needs it; `previous` is what was last printed for that id. */
  relation(relation: Relation, previous: Relation | undefined): void;
  type(type: TypeName): void;
  insert(change: Change, relation: Relation, newRow: TupleData): void;
  update(change: Change, relation: Relation, newRow: TupleData, oldRow: TupleData | null): void;
  delete(change: Change, relation: Relation, oldRow: TupleData): void;
  truncate(change: Change, relations: readonly Relation[], options: TruncateOptions): void;
  /** `change` is null for a non-transactional message, which stands alone. */
  message(change: Change | null, message: LogicalMessage): void;
  beginPrepare(transaction: Transaction, prepare: Prepare): void;
  prepare(transaction: Transaction, prepare: Prepare, changes: number): void;
  commitPrepared(commit: CommitPrepared): void;
  rollbackPrepared(rollback: RollbackPrepared): void;
  streamStart(transaction: Transaction, first: boolean): void;
  streamStop(transaction: Transaction): void;
  streamCommit(transaction: Transaction, commit: StreamCommit, changes: number): void;
  streamAbort(transaction: Transaction, abort: StreamAbort): void;
  streamPrepare(transaction: Transaction, prepare: Prepare, changes: number): void;
  /**
   * The stream begins anew behind `afterLsn` (undefined: nothing was printed whole yet): the lines
   * of these transactions are void, and come again.
   */
  restart(afterLsn: Lsn | undefined, voidXids: readonly number[]): void;
  /** Changes between these positions may be missing: a temporary slot was gone with its connection. */
  gap(afterLsn: Lsn | undefined, resumedAt: Lsn): void;
}
