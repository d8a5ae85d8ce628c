// What the decoder pushes into: one method a message, called in the order of the wire.

import type {
  Begin,
  Commit,
  CommitPrepared,
  LogicalMessage,
  Origin,
  Prepare,
  RollbackPrepared,
  StreamAbort,
  StreamCommit,
  StreamStart,
  TruncateOptions,
  TypeName,
} from './messages.ts';
import type { Relation } from './relation.ts';
import type { TupleData } from './tuple.ts';

/** Where a message stands. Borrowed: the decoder reuses it for the next message. */
export interface MessagePosition {
  /** The halves of the XLogData frame's walStart; both 0 for Relation and Type. */
  readonly lsnHigh: number;
  readonly lsnLow: number;
  /** Inside a stream block: the (sub)transaction the message belongs to. Else 0. */
  readonly streamXid: number;
}

/** Tuples, message contents and positions are borrowed: valid until the method returns. */
export interface PgoutputHandler {
  begin(begin: Begin): void;
  commit(commit: Commit): void;
  origin(origin: Origin): void;
  relation(relation: Relation): void;
  type(type: TypeName): void;
  insert(at: MessagePosition, relation: Relation, newRow: TupleData): void;
  /** `oldRow` comes only if the key changed (role `key`) or REPLICA IDENTITY is FULL (`old`). */
  update(
    at: MessagePosition,
    relation: Relation,
    newRow: TupleData,
    oldRow: TupleData | null,
  ): void;
  delete(at: MessagePosition, relation: Relation, oldRow: TupleData): void;
  truncate(at: MessagePosition, relations: readonly Relation[], options: TruncateOptions): void;
  message(at: MessagePosition, message: LogicalMessage): void;
  streamStart(start: StreamStart): void;
  streamStop(): void;
  streamCommit(commit: StreamCommit): void;
  streamAbort(abort: StreamAbort): void;
  beginPrepare(prepare: Prepare): void;
  prepare(prepare: Prepare): void;
  commitPrepared(commit: CommitPrepared): void;
  rollbackPrepared(rollback: RollbackPrepared): void;
  streamPrepare(prepare: Prepare): void;
}
