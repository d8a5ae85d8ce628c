// The format for people at a terminal: transactions as blocks, one line a change, never wider than
// the terminal, and nothing from the data that could do more than be read.

import { isUtf8 } from 'node:buffer';
import type { ByteWriter } from '../../byte-writer.ts';
import { formatLsn } from '../../lsn.ts';
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
import type { Change, Formatter, FormatterContext, Transaction } from '../formatter.ts';
import { BlockLines } from './block-lines.ts';
import { qualifiedName } from './identifier.ts';
import { identityNote } from './identity-note.ts';
import { type Cell, Layout } from './layout.ts';
import { deletedCells, insertedCells, type RowContext, updatedCells } from './row-cells.ts';
import { schemaChanges } from './schema-change.ts';
import { alignedNameWidth, label, type TableView, tableView } from './table-view.ts';
import { ValueReader } from './value.ts';

export interface PrettyOptions extends FormatterContext {
  readonly theme: Theme;
  /** The terminal's width, asked anew for each line: it may change. */
  readonly columns: () => number;
  /** Unix milliseconds, for how far behind a commit is. */
  readonly now: () => number;
  /** Whether transactions show UTC, as values do, or the time zone of this machine. */
  readonly utc: boolean;
}

/** Lines are not made narrower than this: below it the terminal wraps them. */
const NARROWEST = 40;
const USUAL_WIDTH = 80;

/** Where the first line's cells begin too far right to line up, further lines begin here. */
const SMALL_INDENT = 4;

/** What stands before each line of a transaction. */
interface Lane {
  readonly xid: number;
  readonly subxid: number;
  readonly gutter: string;
  readonly width: number;
}

export class PrettyFormatter implements Formatter {
  readonly #writer: ByteWriter;
  readonly #theme: Theme;
  readonly #types: TypeRegistry;
  readonly #askColumns: () => number;
  readonly #values: ValueReader;
  readonly #layout: Layout;
  readonly #blocks: BlockLines;
  readonly #tables = new Map<number, TableView>();
  /** Relation id and identity of the tables whose limits were told. */
  readonly #told = new Set<string>();
  readonly #partialRoots: ReadonlySet<number>;
  /** Transactions from elsewhere: their clock is not this server's. */
  readonly #foreign = new Set<number>();
  readonly #outside: Lane;
  #lane: Lane;
  #isBlockOpen = false;
  #nameWidth = 0;

  constructor({ writer, types, partialRoots, theme, columns, now, utc }: PrettyOptions) {
    this.#writer = writer;
    this.#theme = theme;
    this.#types = types;
    this.#partialRoots = partialRoots;
    this.#askColumns = columns;
    this.#values = new ValueReader(theme);
    this.#layout = new Layout(this.#values, theme.update);
    this.#blocks = new BlockLines(theme, utc, now);
    this.#outside = { xid: 0, subxid: 0, gutter: `${theme.dim('·')} `, width: 2 };
    this.#lane = this.#outside;
  }

  begin(transaction: Transaction): void {
    if (transaction.kind !== 'committed') return;
    const { xid, commitTime, commitLsn } = transaction;
    this.#openBlock(xid);
    this.#writer.text(this.#blocks.begin(this.#columns(), xid, commitTime, commitLsn));
  }

  commit({ xid }: Transaction, { commitTime }: Commit, changes: number): void {
    const isForeign = this.#foreign.has(xid);
    this.#writer.text(this.#blocks.commit(this.#columns(), changes, commitTime, isForeign));
    this.#closeBlock(xid);
  }

  origin({ xid }: Transaction, origin: Origin): void {
    this.#foreign.add(xid);
    const { gutter, width } = this.#lane;
    this.#writer.text(this.#blocks.origin(this.#columns(), gutter, width, origin));
  }

  relation(relation: Relation, previous: Relation | undefined): void {
    if (previous === undefined) return;
    const changes = schemaChanges(previous, relation, this.#types);
    if (changes.length === 0) return;
    const { dim, schemaChange } = this.#theme;
    const cells = changes.map((change) => this.#labelCell(change, schemaChange));
    this.#changed(schemaChange('*'), relation, [this.#labelCell('schema changed', dim), ...cells]);
  }

  /** What a type is called shows nowhere. */
  type(): void {}

  insert(change: Change, relation: Relation, newRow: TupleData): void {
    this.#enter(change);
    const cells = insertedCells(this.#rowContext(relation), newRow);
    this.#changed(this.#theme.insert('+'), relation, cells);
  }

  update(change: Change, relation: Relation, newRow: TupleData, oldRow: TupleData | null): void {
    this.#enter(change);
    const cells = updatedCells(this.#rowContext(relation), newRow, oldRow);
    if (oldRow?.role === 'old' && cells.every((cell) => cell.before === null)) {
      cells.push(this.#labelCell('nothing changed', this.#theme.dim));
    }
    this.#addNote(cells, relation, identityNote('update', relation, oldRow));
    this.#changed(this.#theme.update('~'), relation, cells);
  }

  delete(change: Change, relation: Relation, oldRow: TupleData): void {
    this.#enter(change);
    const cells = deletedCells(this.#rowContext(relation), oldRow);
    this.#addNote(cells, relation, identityNote('delete', relation, oldRow));
    this.#changed(this.#theme.delete('-'), relation, cells);
  }

  truncate(change: Change, relations: readonly Relation[], options: TruncateOptions): void {
    this.#enter(change);
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
    this.#openBlock(xid);
    this.#writer.text(this.#blocks.beginPrepare(this.#columns(), prepare));
  }

  prepare({ xid }: Transaction, _prepare: Prepare, changes: number): void {
    this.#writer.text(this.#blocks.prepare(this.#columns(), changes));
    this.#closeBlock(xid);
  }

  commitPrepared(commit: CommitPrepared): void {
    this.#writer.text(this.#blocks.commitPrepared(this.#columns(), commit));
  }

  rollbackPrepared(rollback: RollbackPrepared): void {
    this.#writer.text(this.#blocks.rollbackPrepared(this.#columns(), rollback));
  }

  streamStart({ xid }: Transaction, first: boolean): void {
    this.#enterLane(xid, 0);
    // every line says its transaction: a further block needs no heading
    if (first) this.#writer.text(this.#blocks.streamStart(this.#columns(), xid));
  }

  streamStop(): void {
    this.#lane = this.#outside;
  }

  streamCommit({ xid }: Transaction, commit: StreamCommit, changes: number): void {
    const isForeign = this.#foreign.delete(xid);
    this.#writer.text(this.#blocks.streamCommit(this.#columns(), commit, changes, isForeign));
  }

  streamAbort({ xid }: Transaction, abort: StreamAbort): void {
    if (abort.subxid === xid) this.#foreign.delete(xid);
    this.#writer.text(this.#blocks.streamAbort(this.#columns(), abort));
  }

  streamPrepare({ xid }: Transaction, prepare: Prepare, changes: number): void {
    this.#foreign.delete(xid);
    this.#writer.text(this.#blocks.streamPrepare(this.#columns(), prepare, changes));
  }

  #columns(): number {
    const columns = Math.floor(this.#askColumns());
    return columns > 0 ? Math.max(columns, NARROWEST) : USUAL_WIDTH;
  }

  /** A block that is still open was cut by a lost connection: the server sends it again. */
  #openBlock(xid: number): void {
    if (this.#isBlockOpen) this.#writer.text(this.#blocks.cutOff(this.#columns()));
    this.#foreign.delete(xid);
    this.#isBlockOpen = true;
    this.#lane = { xid, subxid: 0, gutter: `${this.#theme.dim('│')} `, width: 2 };
  }

  #closeBlock(xid: number): void {
    this.#foreign.delete(xid);
    this.#isBlockOpen = false;
    this.#lane = this.#outside;
  }

  #enter({ transaction, subxid }: Change): void {
    if (transaction.kind === 'streamed') this.#enterLane(transaction.xid, subxid);
  }

  #enterLane(xid: number, subxid: number): void {
    if (this.#lane.xid === xid && this.#lane.subxid === subxid) return;
    const shown = subxid === 0 || subxid === xid ? String(xid) : `${xid}/${subxid}`;
    const gutter = this.#theme.dim(`┊ ${shown} `);
    this.#lane = { xid, subxid, gutter, width: shown.length + 3 };
  }

  #rowContext(relation: Relation): RowContext {
    const partial = this.#partialRoots.has(relation.relationId);
    return { table: this.#table(relation), values: this.#values, partial };
  }

  #table(relation: Relation): TableView {
    const width = this.#columns();
    const known = this.#tables.get(relation.relationId);
    if (known?.relation === relation && known.width === width) return known;
    const table = tableView(relation, width, this.#theme, known);
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
