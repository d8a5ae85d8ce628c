// The format for people at a terminal: transactions as blocks, one line a change, never wider than
// the terminal, and nothing from the data that could do more than be read.

import { isUtf8 } from 'node:buffer';
import type { ByteWriter } from '../../byte-writer.ts';
import { formatLsn, type Lsn } from '../../lsn.ts';
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
} from '../../pgoutput/messages.ts';
import type { Relation } from '../../pgoutput/relation.ts';
import type { TupleData } from '../../pgoutput/tuple.ts';
import type { TypeRegistry } from '../../pgtypes/type-registry.ts';
import type { Paint, Theme } from '../../terminal/theme.ts';
import type {
  Change,
  Formatter,
  FormatterContext,
  LeafIdentities,
  Transaction,
} from '../formatter.ts';
import { BlockLines } from './block-lines.ts';
import { clockIn } from './clock.ts';
import { qualifiedName } from './identifier.ts';
import { identityNote } from './identity-note.ts';
import { IN_PROGRESS, type Lane, Lanes, type StreamedTransaction } from './lanes.ts';
import { type Cell, Layout } from './layout.ts';
import { PreparedTransactions } from './prepared-transactions.ts';
import { deletedCells, insertedCells, type RowContext, updatedCells } from './row-cells.ts';
import { schemaChanges } from './schema-change.ts';
import { type RowCount, ShownRows } from './shown-rows.ts';
import { alignedNameWidth, label, type TableView, tableView } from './table-view.ts';
import { ValueReader } from './value.ts';
import { type ValueKind, valueKind } from './value-kind.ts';

export interface PrettyOptions extends FormatterContext {
  readonly theme: Theme;
  /** The terminal's width, asked anew for each line: it may change. */
  readonly columns: () => number;
  /** Unix milliseconds, for how far behind a commit is. */
  readonly now: () => number;
  /** The session's TimeZone: transactions show it too, where its offset is known. */
  readonly timeZone: string;
  /** Values are shown as the server's text, whatever their type. */
  readonly rawValues?: boolean;
}

/** Lines are not made narrower than this: below it the terminal wraps them. */
const NARROWEST = 40;
const USUAL_WIDTH = 80;

/** Where the first line's cells begin too far right to line up, further lines begin here. */
const SMALL_INDENT = 4;

/** A transaction that is not streamed, from its beginning to its end. */
interface Block {
  readonly shown: ShownRows;
  /** It came from elsewhere: its clock is not this server's. */
  isForeign: boolean;
}

export class PrettyFormatter implements Formatter {
  readonly #writer: ByteWriter;
  readonly #theme: Theme;
  readonly #types: TypeRegistry;
  readonly #askColumns: () => number;
  readonly #kindOf: (typeId: number) => ValueKind;
  readonly #values: ValueReader;
  readonly #layout: Layout;
  readonly #blocks: BlockLines;
  readonly #tables = new Map<number, TableView>();
  /** Relation id and identity of the tables whose limits were told. */
  readonly #told = new Set<string>();
  readonly #leaves: LeafIdentities;
  readonly #streamed: Lanes;
  readonly #prepared = new PreparedTransactions();
  readonly #outside: Lane;
  #lane: Lane;
  #block: Block | null = null;
  #nameWidth = 0;

  constructor(options: PrettyOptions) {
    const { writer, types, leaves, theme, columns, now, timeZone } = options;
    this.#writer = writer;
    this.#theme = theme;
    this.#types = types;
    this.#leaves = leaves;
    this.#askColumns = columns;
    this.#kindOf = options.rawValues ? () => 'text' : (typeId) => valueKind(types.baseType(typeId));
    this.#values = new ValueReader(theme);
    this.#layout = new Layout(this.#values, theme.update);
    this.#blocks = new BlockLines(theme, clockIn(timeZone), now);
    this.#streamed = new Lanes(theme.lanes);
    const gutter = `${theme.dim('·')} `;
    this.#outside = { xid: 0, subxid: 0, gutter, width: 2, count: { rows: 0 } };
    this.#lane = this.#outside;
  }

  readsBinary(): boolean {
    return false;
  }

  begin(transaction: Transaction): void {
    if (transaction.kind !== 'committed') return;
    const { xid, commitTime, commitLsn } = transaction;
    this.#openBlock(xid, '│');
    this.#writer.text(this.#blocks.begin(this.#columns(), xid, commitTime, commitLsn));
  }

  commit(_transaction: Transaction, { commitTime }: Commit, changes: number): void {
    const isForeign = this.#block?.isForeign ?? false;
    this.#writer.text(this.#blocks.commit(this.#columns(), changes, commitTime, isForeign));
    this.#closeBlock();
  }

  origin(transaction: Transaction, origin: Origin): void {
    if (transaction.kind === 'streamed') {
      this.#streamed.transaction(transaction.xid).isForeign = true;
    } else if (this.#block !== null) this.#block.isForeign = true;
    this.#writer.text(this.#blocks.origin(this.#columns(), this.#lane, origin));
  }

  relation(relation: Relation, previous: Relation | undefined): void {
    if (previous === undefined) return;
    const changes = schemaChanges(previous, relation, this.#types);
    if (changes.length === 0) return;
    this.#leaveSubtransaction();
    const { dim, schemaChange } = this.#theme;
    const cells = changes.map((change) => this.#labelCell(change, schemaChange));
    this.#changed(schemaChange('*'), relation, [this.#labelCell('schema changed', dim), ...cells]);
  }

  /** What a type is called shows nowhere. */
  type(): void {}

  insert(change: Change, relation: Relation, newRow: TupleData): void {
    this.#enter(change).rows++;
    const cells = insertedCells(this.#rowContext(relation), newRow);
    this.#changed(this.#theme.insert('+'), relation, cells);
  }

  update(change: Change, relation: Relation, newRow: TupleData, oldRow: TupleData | null): void {
    this.#enter(change).rows++;
    const cells = updatedCells(this.#rowContext(relation), newRow, oldRow);
    if (oldRow?.role === 'old' && cells.every((cell) => cell.before === null)) {
      cells.push(this.#labelCell('nothing changed', this.#theme.dim));
    }
    this.#addNote(cells, relation, identityNote('update', relation, oldRow));
    this.#changed(this.#theme.update('~'), relation, cells);
  }

  delete(change: Change, relation: Relation, oldRow: TupleData): void {
    this.#enter(change).rows++;
    const cells = deletedCells(this.#rowContext(relation), oldRow);
    this.#addNote(cells, relation, identityNote('delete', relation, oldRow));
    this.#changed(this.#theme.delete('-'), relation, cells);
  }

  truncate(change: Change, relations: readonly Relation[], options: TruncateOptions): void {
    this.#enter(change).rows++;
    this.#countsChanges(change);
    const { truncate, strong } = this.#theme;
    const cells = relations.map((relation) => this.#labelCell(qualifiedName(relation), strong));
    if (options.cascade) cells.push(this.#labelCell('cascade', truncate));
    if (options.restartIdentity) cells.push(this.#labelCell('restart identity', truncate));
    this.#lines(this.#lane, truncate('! truncate'), '! truncate'.length, 2, cells);
  }

  message(change: Change | null, message: LogicalMessage): void {
    if (change !== null) this.#enter(change);
    const columns = this.#columns();
    const { message: paint, dim } = this.#theme;
    const prefix = this.#values.readText(Buffer.from(message.prefix), columns);
    const content = isUtf8(message.content)
      ? this.#values.readText(message.content, columns)
      : this.#values.readBytes(message.content);
    const cells: Cell[] = [unnamedCell(prefix), unnamedCell(content)];
    if (change === null) {
      const where = `outside any transaction  ${formatLsn(message.lsn)}`;
      cells.push(this.#labelCell(where, dim));
    }
    const lane = change === null ? this.#outside : this.#lane;
    this.#lines(lane, paint('@ message'), '@ message'.length, 1, cells);
  }

  beginPrepare({ xid }: Transaction, prepare: Prepare): void {
    this.#openBlock(xid, IN_PROGRESS);
    this.#writer.text(this.#blocks.beginPrepare(this.#columns(), prepare));
  }

  prepare(_transaction: Transaction, prepare: Prepare, changes: number): void {
    if (this.#block !== null) {
      this.#prepared.add(prepare, this.#block.shown, this.#block.isForeign);
    }
    this.#writer.text(this.#blocks.prepare(this.#columns(), changes));
    this.#closeBlock();
  }

  commitPrepared(commit: CommitPrepared): void {
    const shown = this.#prepared.take(commit.gid, commit.xid);
    this.#writer.text(this.#blocks.commitPrepared(this.#columns(), commit, shown));
  }

  rollbackPrepared(rollback: RollbackPrepared): void {
    const shown = this.#prepared.take(rollback.gid, rollback.xid);
    this.#writer.text(this.#blocks.rollbackPrepared(this.#columns(), rollback, shown));
  }

  /** Every line says its transaction: a further block needs no heading. */
  streamStart({ xid }: Transaction): void {
    const isKnown = this.#streamed.has(xid);
    this.#lane = this.#streamed.enter(xid, 0);
    if (!isKnown) this.#writer.text(this.#blocks.streamStart(this.#columns(), this.#lane));
  }

  streamStop(): void {
    this.#lane = this.#outside;
  }

  streamCommit({ xid }: Transaction, commit: StreamCommit): void {
    const streamed = this.#endStreamed(xid);
    this.#writer.text(this.#blocks.streamCommit(this.#columns(), commit, streamed));
  }

  /** One comes for each subtransaction: of those that showed nothing there is nothing to say. */
  streamAbort({ xid }: Transaction, abort: StreamAbort): void {
    const { subxid } = abort;
    if (subxid === xid) {
      const streamed = this.#endStreamed(xid);
      this.#writer.text(this.#blocks.streamAbort(this.#columns(), abort, streamed));
      return;
    }
    const streamed = this.#streamed.transaction(xid);
    const rolledBack = streamed.shown.rollBack(subxid);
    if (rolledBack === null) return;
    const gutter = this.#streamed.gutter(streamed, subxid);
    const columns = this.#columns();
    this.#writer.text(this.#blocks.subtransactionAbort(columns, gutter, abort, rolledBack));
  }

  streamPrepare({ xid }: Transaction, prepare: Prepare): void {
    const streamed = this.#endStreamed(xid);
    this.#prepared.add(prepare, streamed.shown, streamed.isForeign);
    this.#writer.text(this.#blocks.streamPrepare(this.#columns(), prepare, streamed));
  }

  restart(afterLsn: Lsn | undefined, voidXids: readonly number[]): void {
    this.#cutOff();
    this.#streamed.clear();
    this.#writer.text(this.#blocks.restart(this.#columns(), afterLsn, voidXids));
  }

  gap(afterLsn: Lsn | undefined, resumedAt: Lsn): void {
    this.#cutOff();
    this.#writer.text(this.#blocks.gap(this.#columns(), afterLsn, resumedAt));
  }

  #columns(): number {
    const columns = Math.floor(this.#askColumns());
    return columns > 0 ? Math.max(columns, NARROWEST) : USUAL_WIDTH;
  }

  #openBlock(xid: number, frame: string): void {
    this.#cutOff();
    const shown = new ShownRows();
    this.#block = { shown, isForeign: false };
    const gutter = `${this.#theme.dim(frame)} `;
    this.#lane = { xid, subxid: 0, gutter, width: 2, count: shown.count(0) };
  }

  #closeBlock(): void {
    this.#block = null;
    this.#lane = this.#outside;
  }

  /** A block that is still open was cut by a lost connection: the server sends it again. */
  #cutOff(): void {
    if (this.#block !== null) this.#writer.text(this.#blocks.cutOff(this.#columns()));
    this.#closeBlock();
  }

  #endStreamed(xid: number): StreamedTransaction {
    this.#lane = this.#outside;
    return this.#streamed.end(xid);
  }

  /** Returns where the rows of this subtransaction are counted. */
  #enter({ transaction, subxid }: Change): RowCount {
    if (transaction.kind === 'streamed') this.#enterLane(transaction.xid, subxid);
    return this.#lane.count;
  }

  #enterLane(xid: number, subxid: number): void {
    if (this.#lane.xid === xid && this.#lane.subxid === subxid) return;
    this.#lane = this.#streamed.enter(xid, subxid);
  }

  /** What is counted are no rows alone. */
  #countsChanges({ transaction: { kind, xid } }: Change): void {
    if (kind === 'streamed') this.#streamed.transaction(xid).shown.noun = 'change';
    else if (this.#block !== null) this.#block.shown.noun = 'change';
  }

  /** A relation does not say which subtransaction announces it. */
  #leaveSubtransaction(): void {
    if (this.#lane.subxid !== 0) this.#enterLane(this.#lane.xid, 0);
  }

  #rowContext(relation: Relation): RowContext {
    const partial = this.#leaves.limitsOf(relation)?.oldIsPartial ?? false;
    return { table: this.#table(relation), values: this.#values, partial };
  }

  #table(relation: Relation): TableView {
    const width = this.#columns();
    const known = this.#tables.get(relation.relationId);
    if (known?.relation === relation && known.width === width) return known;
    const table = tableView(relation, width, this.#theme, this.#kindOf, known);
    this.#tables.set(relation.relationId, table);
    return table;
  }

  /** Says once for each table and identity what keeps the old values away. */
  #addNote(cells: Cell[], relation: Relation, note: string | undefined): void {
    if (note === undefined) return;
    const told = `${relation.relationId} ${relation.identity}`;
    if (this.#told.has(told)) return;
    this.#told.add(told);
    cells.push(this.#labelCell(note, this.#theme.warning));
  }

  #labelCell(text: string, paint: Paint): Cell {
    const room = this.#columns() - this.#lane.width - SMALL_INDENT;
    const { text: lead, width: leadWidth } = label(text, room, paint, this.#theme);
    return { lead, leadWidth, before: null, value: null, pad: 0 };
  }

  #changed(sign: string, relation: Relation, cells: readonly Cell[]): void {
    const { name, nameWidth, width } = this.#table(relation);
    const widest = alignedNameWidth(width);
    if (nameWidth <= widest && nameWidth > this.#nameWidth) this.#nameWidth = nameWidth;
    const missing = Math.min(this.#nameWidth, widest) - nameWidth;
    const padding = Math.max(missing, 0) + 2;
    this.#lines(this.#lane, `${sign} ${name}`, nameWidth + 2, padding, cells);
  }

  #lines(
    lane: Lane,
    head: string,
    headWidth: number,
    headPadding: number,
    cells: readonly Cell[],
  ): void {
    const columns = this.#columns();
    const { gutter, width: gutterWidth } = lane;
    const start = headWidth + headPadding;
    const indent = start * 3 <= columns - gutterWidth ? start : SMALL_INDENT;
    const frame = { gutter, gutterWidth, head, headWidth, headPadding, indent, columns };
    this.#writer.text(this.#layout.lines(frame, cells));
  }
}

function unnamedCell(value: Cell['value']): Cell {
  return { lead: '', leadWidth: 0, before: null, value, pad: 0 };
}
