// Between decoder and formatter: which lines are printed, in which order, and where a unit ends.

import { ProtocolViolation } from '../errors.ts';
import type { Change, Formatter, Transaction } from '../format/formatter.ts';
import type { Lsn } from '../lsn.ts';
import type { MessagePosition, PgoutputHandler } from '../pgoutput/handler.ts';
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
} from '../pgoutput/messages.ts';
import type { Relation } from '../pgoutput/relation.ts';
import type { TupleData } from '../pgoutput/tuple.ts';
import type { ColumnType } from '../pgtypes/type-facts.ts';
import type { TypeRegistry } from '../pgtypes/type-registry.ts';
import { Announcements, type PrintedAnnouncements, sameRelation } from './announcements.ts';
import type { PartitionRoots } from './partition-roots.ts';
import type { LineOp, Selection } from './selection.ts';
import { TypesWanted } from './types-wanted.ts';

/** Learns where the stream stands. A unit is what is acknowledged as a whole. */
export interface UnitListener {
  unitOpened(): void;
  /** The unit ends at `endLsn`, and all its lines have been formatted. */
  unitEnded(endLsn: Lsn): void;
  /** A block of a streamed transaction ended; the transaction has not. */
  unitSetAside(): void;
}

export interface ChangeStreamOptions {
  readonly formatter: Formatter;
  readonly selection: Selection;
  readonly types: TypeRegistry;
  /** What the formatter asks about partitioned tables; it learns from the stream. */
  readonly roots: PartitionRoots;
  readonly units: UnitListener;
  /** What earlier connections of this run have announced. */
  readonly printed?: PrintedAnnouncements | undefined;
  /** Stop after this many row and truncate lines. */
  readonly limit: number | undefined;
  /** Stop before what was committed at or after this position. */
  readonly stopAt: Lsn | undefined;
}

/** A transaction being received. */
interface OpenTransaction {
  readonly transaction: Transaction;
  /** What its begin line is made of; of a streamed transaction, its latest block's. */
  opening: Begin | Prepare | StreamStart;
  seq: number;
  /** Row and truncate lines printed. */
  changes: number;
  /** Its begin line was due: something of it is printed. */
  shown: boolean;
  /** The begin line of the current stream block was due. */
  blockShown: boolean;
  origin: Origin | undefined;
}

/**
 * A transaction's begin line is printed with its first line, and a relation's before the first line
 * that needs it, so what is filtered out leaves no trace. Once `finished`, nothing is printed and
 * no unit ends any more: the rest belongs to the next run.
 *
 * A relation or row that cannot be read without asking the catalog throws TypesWanted before
 * anything has changed here: the same message is to come again once the types have been learnt.
 */
export class ChangeStream implements PgoutputHandler {
  readonly #formatter: Formatter;
  readonly #selection: Selection;
  readonly #units: UnitListener;
  readonly #announcements: Announcements;
  readonly #types: TypeRegistry;
  readonly #roots: PartitionRoots;
  readonly #limit: number;
  readonly #stopAt: Lsn | undefined;
  readonly #streamed = new Map<number, OpenTransaction>();
  readonly #silentGids = new Set<string>();
  readonly #change = { transaction: NO_TRANSACTION, seq: 0, lsnHigh: 0, lsnLow: 0, subxid: 0 };
  readonly #opensFrame: Readonly<Record<RowOp, boolean>>;
  readonly #shows: Readonly<Record<RowOp, boolean>>;
  #open: OpenTransaction | null = null;
  #lines = 0;
  #settledLines = 0;
  #finished = false;

  constructor(options: ChangeStreamOptions) {
    this.#formatter = options.formatter;
    this.#selection = options.selection;
    this.#units = options.units;
    this.#roots = options.roots;
    this.#limit = options.limit ?? Number.POSITIVE_INFINITY;
    this.#stopAt = options.stopAt;
    this.#announcements = new Announcements(options);
    this.#types = options.types;
    this.#shows = perRowOp((op) => options.selection.shows(op));
    this.#opensFrame = perRowOp((op) => options.selection.opensFrame(op));
  }

  /** All that was wanted has been printed: the caller stops, and hands over no further message. */
  get finished(): boolean {
    return this.#finished;
  }

  /** Row and truncate lines of the units that ended. */
  get settledLines(): number {
    return this.#settledLines;
  }

  /** The transactions that lines were printed of, and whose end was not. */
  get unfinished(): readonly number[] {
    const open = [...(this.#open === null ? [] : [this.#open]), ...this.#streamed.values()];
    const shown = open.filter((each) => each.shown).map((each) => each.transaction.xid);
    return [...new Set(shown)];
  }

  begin(begin: Begin): void {
    if (this.#isOver() || this.#isTooLate(begin.commitLsn)) return;
    const { xid, commitLsn, commitTime } = begin;
    this.#openUnit({ kind: 'committed', xid, commitLsn, commitTime }, begin);
  }

  commit(commit: Commit): void {
    if (this.#finished) return;
    const open = this.#current('commit');
    const { transaction } = open;
    if (transaction.kind === 'committed' && transaction.commitLsn !== commit.commitLsn) {
      throw outOfOrder('commit and begin name different positions');
    }
    if (open.shown && this.#selection.shows('commit')) {
      this.#formatter.commit(open.transaction, commit, open.changes);
    }
    this.#closeUnit(commit.endLsn);
  }

  origin(origin: Origin): void {
    if (this.#isOver()) return;
    this.#current('origin').origin = origin;
  }

  relation(relation: Relation): void {
    if (this.#isOver()) return;
    if (this.#selection.showsTable(relation)) this.#checkAnnounced(relation);
    this.#announcements.relation(relation);
    this.#roots.announced(relation);
  }

  type(type: TypeName): void {
    if (this.#isOver()) return;
    this.#announcements.type(type);
  }

  insert(at: MessagePosition, relation: Relation, newRow: TupleData): void {
    const change = this.#rowChange(at, relation, 'insert', newRow, null);
    if (change !== null) this.#formatter.insert(change, relation, newRow);
  }

  update(
    at: MessagePosition,
    relation: Relation,
    newRow: TupleData,
    oldRow: TupleData | null,
  ): void {
    if (oldRow === null) this.#roots.updateWithoutOldRow(relation);
    const change = this.#rowChange(at, relation, 'update', newRow, oldRow);
    if (change !== null) this.#formatter.update(change, relation, newRow, oldRow);
  }

  delete(at: MessagePosition, relation: Relation, oldRow: TupleData): void {
    const change = this.#rowChange(at, relation, 'delete', oldRow, null);
    if (change !== null) this.#formatter.delete(change, relation, oldRow);
  }

  truncate(at: MessagePosition, relations: readonly Relation[], options: TruncateOptions): void {
    if (this.#isOver()) return;
    this.#roots.otherMessage();
    const open = this.#current('truncate');
    open.seq++;
    const shown = relations.filter((relation) => this.#announcements.isShown(relation));
    if (shown.length === 0 || !this.#opensFrame.truncate) return;
    this.#showFrame(open);
    for (const relation of shown) this.#announcements.announce(relation);
    if (!this.#shows.truncate) return;
    this.#countLine(open);
    this.#formatter.truncate(this.#changeAt(open, at), shown, options);
  }

  message(at: MessagePosition, message: LogicalMessage): void {
    if (this.#isOver()) return;
    if (message.transactional) this.#transactionalMessage(at, message);
    else this.#standaloneMessage(message);
  }

  streamStart(start: StreamStart): void {
    if (this.#isOver()) return;
    const { xid } = start;
    const open = this.#streamed.get(xid) ?? newTransaction({ kind: 'streamed', xid }, start);
    open.opening = start;
    open.blockShown = false;
    this.#types.nextUnit();
    this.#streamed.set(xid, open);
    this.#open = open;
    this.#units.unitOpened();
  }

  streamStop(): void {
    if (this.#isOver()) return;
    this.#roots.otherMessage();
    const open = this.#current('stream stop');
    if (open.blockShown && this.#selection.shows('stream_stop')) {
      this.#formatter.streamStop(open.transaction);
    }
    this.#open = null;
    this.#units.unitSetAside();
  }

  streamCommit(commit: StreamCommit): void {
    if (this.#isTooLate(commit.commitLsn)) return;
    const open = this.#streamed.get(commit.xid);
    this.#streamed.delete(commit.xid);
    if (open?.shown && this.#selection.shows('stream_commit')) {
      this.#formatter.streamCommit(open.transaction, commit, open.changes);
    }
    this.#settledLines += open?.changes ?? 0;
    this.#closeUnit(commit.endLsn);
  }

  streamAbort(abort: StreamAbort): void {
    if (this.#isOver()) return;
    const open = this.#streamed.get(abort.xid);
    if (abort.xid === abort.subxid) this.#streamed.delete(abort.xid);
    if (open?.shown && this.#selection.shows('stream_abort')) {
      this.#formatter.streamAbort(open.transaction, abort);
    }
  }

  beginPrepare(prepare: Prepare): void {
    if (this.#isOver() || this.#isTooLate(prepare.prepareLsn)) return;
    const { xid, gid, prepareLsn, prepareTime } = prepare;
    this.#openUnit({ kind: 'prepared', xid, gid, prepareLsn, prepareTime }, prepare);
  }

  prepare(prepare: Prepare): void {
    if (this.#finished) return;
    const open = this.#current('prepare');
    const { transaction } = open;
    if (transaction.kind === 'prepared' && transaction.gid !== prepare.gid) {
      throw outOfOrder('prepare and begin prepare name different transactions');
    }
    if (!open.shown) this.#silentGids.add(prepare.gid);
    else if (this.#selection.shows('prepare')) {
      this.#formatter.prepare(open.transaction, prepare, open.changes);
    }
    this.#closeUnit(prepare.endLsn);
  }

  streamPrepare(prepare: Prepare): void {
    if (this.#isTooLate(prepare.prepareLsn)) return;
    const open = this.#streamed.get(prepare.xid);
    this.#streamed.delete(prepare.xid);
    if (open === undefined || !open.shown) this.#silentGids.add(prepare.gid);
    else if (this.#selection.shows('stream_prepare')) {
      this.#formatter.streamPrepare(open.transaction, prepare, open.changes);
    }
    this.#settledLines += open?.changes ?? 0;
    this.#closeUnit(prepare.endLsn);
  }

  commitPrepared(commit: CommitPrepared): void {
    if (this.#isOver() || this.#isTooLate(commit.commitLsn)) return;
    const silent = this.#silentGids.delete(commit.gid);
    if (!silent && this.#selection.shows('commit_prepared')) this.#formatter.commitPrepared(commit);
    this.#closeUnit(commit.endLsn);
  }

  rollbackPrepared(rollback: RollbackPrepared): void {
    if (this.#isOver() || this.#isTooLate(rollback.rollbackEndLsn - 1n)) return;
    const silent = this.#silentGids.delete(rollback.gid);
    if (!silent && this.#selection.shows('rollback_prepared')) {
      this.#formatter.rollbackPrepared(rollback);
    }
    this.#closeUnit(rollback.rollbackEndLsn);
  }

  /** A row under this relation's id was left out. */
  protected rowSkipped(relationId: number): void {
    this.#roots.row(relationId);
  }

  /** Counts the row; returns its place if its line is to be printed, after what must precede it. */
  #rowChange(
    at: MessagePosition,
    relation: Relation,
    op: RowOp,
    row: TupleData,
    otherRow: TupleData | null,
  ): Change | null {
    if (this.#isOver()) return null;
    const open = this.#current(op);
    const shown = this.#announcements.isShown(relation);
    if (shown && this.#shows[op]) this.#checkTypes(relation, row, otherRow);
    this.#roots.row(relation.relationId);
    open.seq++;
    if (!this.#opensFrame[op] || !shown) return null;
    this.#showFrame(open);
    this.#announcements.announce(relation);
    if (!this.#shows[op]) return null;
    this.#countLine(open);
    return this.#changeAt(open, at);
  }

  /** @throws TypesWanted if it has types that are not known, or that may be others by now. */
  #checkAnnounced(relation: Relation): void {
    wantNone(this.#types.unknownTypes(relation));
    const before = this.#announcements.known(relation.relationId);
    if (before && !sameRelation(before, relation)) wantNone(this.#types.alterableTypes(relation));
  }

  /** @throws TypesWanted if a value does not fit what is known of its type. */
  #checkTypes(relation: Relation, row: TupleData, otherRow: TupleData | null): void {
    wantNone(this.#types.outdatedTypes(relation, row));
    if (otherRow !== null) wantNone(this.#types.outdatedTypes(relation, otherRow));
  }

  #transactionalMessage(at: MessagePosition, message: LogicalMessage): void {
    const open = this.#current('message');
    open.seq++;
    if (!this.#selection.wantsMessages || !this.#selection.opensFrame('message')) return;
    this.#showFrame(open);
    if (!this.#selection.shows('message')) return;
    this.#formatter.message(this.#changeAt(open, at), message);
  }

  #standaloneMessage(message: LogicalMessage): void {
    if (this.#isTooLate(message.lsn - 1n)) return;
    if (this.#selection.wantsMessages && this.#selection.shows('message')) {
      this.#formatter.message(null, message);
    }
    // inside a stream block it does not end the block
    if (this.#open === null) this.#units.unitEnded(message.lsn);
  }

  #openUnit(transaction: Transaction, opening: Begin | Prepare): void {
    if (this.#open !== null) throw outOfOrder('a transaction begins inside another one');
    this.#types.nextUnit();
    this.#open = newTransaction(transaction, opening);
    this.#units.unitOpened();
  }

  #closeUnit(endLsn: Lsn): void {
    this.#settledLines += this.#open?.changes ?? 0;
    this.#open = null;
    this.#units.unitEnded(endLsn);
    const reached = this.#stopAt !== undefined && endLsn >= this.#stopAt;
    if (reached || this.#lines >= this.#limit) this.#finished = true;
  }

  #showFrame(open: OpenTransaction): void {
    if (open.transaction.kind === 'streamed' ? open.blockShown : open.shown) return;
    const first = !open.shown;
    open.shown = true;
    open.blockShown = true;
    this.#printOpening(open);
    if (first && open.origin !== undefined && this.#selection.shows('origin')) {
      this.#formatter.origin(open.transaction, open.origin);
    }
  }

  #printOpening({ transaction, opening }: OpenTransaction): void {
    if ('first' in opening) {
      if (this.#selection.shows('stream_start')) {
        this.#formatter.streamStart(transaction, opening.first);
      }
    } else if ('gid' in opening) {
      if (this.#selection.shows('begin_prepare')) {
        this.#formatter.beginPrepare(transaction, opening);
      }
    } else if (this.#selection.shows('begin')) this.#formatter.begin(transaction);
  }

  #countLine(open: OpenTransaction): void {
    open.changes++;
    this.#lines++;
  }

  #changeAt(open: OpenTransaction, at: MessagePosition): Change {
    const change = this.#change;
    change.transaction = open.transaction;
    change.seq = open.seq;
    change.lsnHigh = at.lsnHigh;
    change.lsnLow = at.lsnLow;
    change.subxid = at.streamXid === open.transaction.xid ? 0 : at.streamXid;
    return change;
  }

  #current(message: string): OpenTransaction {
    if (this.#open === null) throw outOfOrder(`${message} outside a transaction`);
    return this.#open;
  }

  /** Past the limit only the end of the open transaction is still taken: see `commit`. */
  #isOver(): boolean {
    if (this.#lines >= this.#limit) this.#finished = true;
    return this.#finished;
  }

  #isTooLate(commitLsn: Lsn): boolean {
    if (this.#stopAt !== undefined && commitLsn >= this.#stopAt) this.#finished = true;
    return this.#finished;
  }
}

function wantNone(types: readonly ColumnType[]): void {
  if (types.length > 0) throw new TypesWanted(types);
}

function outOfOrder(problem: string): ProtocolViolation {
  return new ProtocolViolation('message order', problem, 0);
}

type RowOp = Extract<LineOp, 'insert' | 'update' | 'delete' | 'truncate'>;

function perRowOp(test: (op: RowOp) => boolean): Record<RowOp, boolean> {
  return {
    insert: test('insert'),
    update: test('update'),
    delete: test('delete'),
    truncate: test('truncate'),
  };
}

const NO_TRANSACTION: Transaction = { kind: 'streamed', xid: 0 };

function newTransaction(
  transaction: Transaction,
  opening: Begin | Prepare | StreamStart,
): OpenTransaction {
  return {
    transaction,
    opening,
    seq: 0,
    changes: 0,
    shown: false,
    blockShown: false,
    origin: undefined,
  };
}
