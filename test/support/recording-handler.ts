// A PgoutputHandler that keeps every call as plain data: deep copies of all that is borrowed.

import { type Lsn, lsnFromWords } from '../../src/lsn.ts';
import type { MessagePosition, PgoutputHandler } from '../../src/pgoutput/handler.ts';
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
} from '../../src/pgoutput/messages.ts';
import type { Relation } from '../../src/pgoutput/relation.ts';
import {
  COLUMN_BINARY,
  COLUMN_NULL,
  COLUMN_TEXT,
  COLUMN_UNCHANGED,
  type TupleData,
  type TupleRole,
} from '../../src/pgoutput/tuple.ts';

/** A column by its kind on the wire: NULL, unchanged TOAST value, text or binary. */
export type RecordedColumn =
  | { readonly kind: 'n' }
  | { readonly kind: 'u' }
  | { readonly kind: 't'; readonly text: string }
  | { readonly kind: 'b'; readonly bytes: Buffer };

export interface RecordedTuple {
  readonly role: TupleRole;
  readonly columns: readonly RecordedColumn[];
}

export interface RecordedPosition {
  readonly lsn: Lsn;
  readonly streamXid: number;
}

export type RecordedCall =
  | { readonly call: 'begin'; readonly begin: Begin }
  | { readonly call: 'commit'; readonly commit: Commit }
  | { readonly call: 'origin'; readonly origin: Origin }
  | { readonly call: 'relation'; readonly relation: Relation }
  | { readonly call: 'type'; readonly type: TypeName }
  | {
      readonly call: 'insert';
      readonly at: RecordedPosition;
      readonly relation: Relation;
      readonly newRow: RecordedTuple;
    }
  | {
      readonly call: 'update';
      readonly at: RecordedPosition;
      readonly relation: Relation;
      readonly newRow: RecordedTuple;
      readonly oldRow: RecordedTuple | null;
    }
  | {
      readonly call: 'delete';
      readonly at: RecordedPosition;
      readonly relation: Relation;
      readonly oldRow: RecordedTuple;
    }
  | {
      readonly call: 'truncate';
      readonly at: RecordedPosition;
      readonly relations: readonly Relation[];
      readonly options: TruncateOptions;
    }
  | { readonly call: 'message'; readonly at: RecordedPosition; readonly message: LogicalMessage }
  | { readonly call: 'streamStart'; readonly start: StreamStart }
  | { readonly call: 'streamStop' }
  | { readonly call: 'streamCommit'; readonly commit: StreamCommit }
  | { readonly call: 'streamAbort'; readonly abort: StreamAbort }
  | { readonly call: 'beginPrepare'; readonly prepare: Prepare }
  | { readonly call: 'prepare'; readonly prepare: Prepare }
  | { readonly call: 'commitPrepared'; readonly commit: CommitPrepared }
  | { readonly call: 'rollbackPrepared'; readonly rollback: RollbackPrepared }
  | { readonly call: 'streamPrepare'; readonly prepare: Prepare };

/** Relations are kept as they were handed over, not copied: they promise not to change. */
export class RecordingHandler implements PgoutputHandler {
  readonly calls: RecordedCall[] = [];

  begin(begin: Begin): void {
    this.calls.push({ call: 'begin', begin });
  }

  commit(commit: Commit): void {
    this.calls.push({ call: 'commit', commit });
  }

  origin(origin: Origin): void {
    this.calls.push({ call: 'origin', origin });
  }

  relation(relation: Relation): void {
    this.calls.push({ call: 'relation', relation });
  }

  type(type: TypeName): void {
    this.calls.push({ call: 'type', type });
  }

  insert(at: MessagePosition, relation: Relation, newRow: TupleData): void {
    this.calls.push({ call: 'insert', at: position(at), relation, newRow: copyTuple(newRow) });
  }

  update(
    at: MessagePosition,
    relation: Relation,
    newRow: TupleData,
    oldRow: TupleData | null,
  ): void {
    this.calls.push({
      call: 'update',
      at: position(at),
      relation,
      newRow: copyTuple(newRow),
      oldRow: oldRow === null ? null : copyTuple(oldRow),
    });
  }

  delete(at: MessagePosition, relation: Relation, oldRow: TupleData): void {
    this.calls.push({ call: 'delete', at: position(at), relation, oldRow: copyTuple(oldRow) });
  }

  truncate(at: MessagePosition, relations: readonly Relation[], options: TruncateOptions): void {
    this.calls.push({ call: 'truncate', at: position(at), relations: [...relations], options });
  }

  message(at: MessagePosition, message: LogicalMessage): void {
    const content = Buffer.from(message.content);
    this.calls.push({ call: 'message', at: position(at), message: { ...message, content } });
  }

  streamStart(start: StreamStart): void {
    this.calls.push({ call: 'streamStart', start });
  }

  streamStop(): void {
    this.calls.push({ call: 'streamStop' });
  }

  streamCommit(commit: StreamCommit): void {
    this.calls.push({ call: 'streamCommit', commit });
  }

  streamAbort(abort: StreamAbort): void {
    this.calls.push({ call: 'streamAbort', abort });
  }

  beginPrepare(prepare: Prepare): void {
    this.calls.push({ call: 'beginPrepare', prepare });
  }

  prepare(prepare: Prepare): void {
    this.calls.push({ call: 'prepare', prepare });
  }

  commitPrepared(commit: CommitPrepared): void {
    this.calls.push({ call: 'commitPrepared', commit });
  }

  rollbackPrepared(rollback: RollbackPrepared): void {
    this.calls.push({ call: 'rollbackPrepared', rollback });
  }

  streamPrepare(prepare: Prepare): void {
    this.calls.push({ call: 'streamPrepare', prepare });
  }
}

function position(at: MessagePosition): RecordedPosition {
  return { lsn: lsnFromWords(at.lsnHigh, at.lsnLow), streamXid: at.streamXid };
}

export function copyTuple(tuple: TupleData): RecordedTuple {
  const columns: RecordedColumn[] = [];
  for (let i = 0; i < tuple.columnCount; i++) columns.push(copyColumn(tuple, i));
  return { role: tuple.role, columns };
}

function copyColumn(tuple: TupleData, column: number): RecordedColumn {
  const kind = tuple.kinds[column];
  if (kind === COLUMN_NULL) return { kind: 'n' };
  if (kind === COLUMN_UNCHANGED) return { kind: 'u' };
  const bytes = tuple.bytes.subarray(tuple.starts[column], tuple.ends[column]);
  if (kind === COLUMN_TEXT) return { kind: 't', text: bytes.toString('utf8') };
  if (kind === COLUMN_BINARY) return { kind: 'b', bytes: Buffer.from(bytes) };
  throw new Error(`column ${column} has the unknown kind ${kind}`);
}
