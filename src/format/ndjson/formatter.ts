// NDJSON, version 1: one JSON object a line, from the server's bytes to JSON bytes.

import { isUtf8 } from 'node:buffer';
import { appendBlock, appendWritten, Block, ByteWriter } from '../../byte-writer.ts';
import { ProtocolViolation } from '../../errors.ts';
import { formatLsn, INVALID_LSN, type Lsn } from '../../lsn.ts';
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
} from '../../pgoutput/messages.ts';
import type { Relation } from '../../pgoutput/relation.ts';
import { COLUMN_BINARY, COLUMN_NULL, type TupleData } from '../../pgoutput/tuple.ts';
import { isNaNValue } from '../../pgtypes/binary/float.ts';
import type { ColumnEncoder } from '../../pgtypes/encoder.ts';
import { MAX_ESCAPED_BYTE } from '../../pgtypes/json-text.ts';
import type { TypeRegistry } from '../../pgtypes/type-registry.ts';
import { formatTimestamp, type PgTimestamp } from '../../wire/timestamp.ts';
import type {
  Change,
  Formatter,
  FormatterContext,
  LeafIdentities,
  LeafLimits,
  Transaction,
} from '../formatter.ts';
import { isChanged, tupleWithNewValue } from '../old-row.ts';
import { appendLsn, appendLsnWords, appendNumber, TimestampWriter } from './fields.ts';
import { type RelationPlan, relationPlan } from './plan.ts';

const XID = Block.of(',"xid":');
const SUBXID = Block.of(',"subxid":');
const SEQ = Block.of(',"seq":');
const LSN = Block.of(',"lsn":"');
const COMMIT_LSN = Block.of(',"commit_lsn":"');
const END_LSN = Block.of('","end_lsn":"');
const COMMIT_TIME = Block.of('","commit_time":"');
const CHANGES = Block.of('","changes":');
const GID = Block.of(',"gid":');
const PREPARE_LSN = Block.of(',"prepare_lsn":"');
const PREPARE_TIME = Block.of('","prepare_time":"');
const STREAMED = Block.of(',"streamed":true');
const NEW = Block.of(',"new":');
const OLD = Block.of(',"old":');
const OLD_PARTIAL = Block.of(',"old_partial":true');
const KEY_PARTIAL = Block.of(',"key_partial":true');
const KEY = Block.of(',"key":');
const CHANGED = Block.of(',"changed":');
const UNCHANGED = Block.of(',"unchanged":');
const NULL = Block.of('null');
const END_OF_LINE = Block.of('}\n');
const BEGIN = Block.of('{"op":"begin"');
const COMMIT = Block.of('{"op":"commit"');
const TRUNCATE = Block.of('{"op":"truncate","tables":');
const MESSAGE = Block.of('{"op":"message"');

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Room for a line's seq, lsn and punctuation. */
const LINE_ROOM = 256;

export class NdjsonFormatter implements Formatter {
  readonly #out: ByteWriter;
  readonly #types: TypeRegistry;
  readonly #leaves: LeafIdentities;
  readonly #plans = new Map<number, RelationPlan>();
  #plan: RelationPlan | null = null;
  readonly #times = new TimestampWriter();
  /** What follows a line's lsn, the same for the whole transaction, and which one it is. */
  readonly #tail = new ByteWriter(LINE_ROOM);
  #tailOf: Transaction | null = null;

  constructor({ writer, types, leaves }: FormatterContext) {
    this.#out = writer;
    this.#types = types;
    this.#leaves = leaves;
  }

  readsBinary(typeId: number): boolean {
    return this.#types.binaryEncoder(typeId) !== undefined;
  }

  begin(transaction: Transaction): void {
    if (transaction.kind !== 'committed') return;
    const out = this.#out;
    this.#frameHead(BEGIN, transaction.xid, transaction.commitLsn);
    appendBlock(out, COMMIT_TIME);
    this.#times.append(out, transaction.commitTime);
    out.bytes[out.length++] = QUOTE;
    appendBlock(out, END_OF_LINE);
  }

  commit(transaction: Transaction, commit: Commit, changes: number): void {
    const out = this.#out;
    this.#frameHead(COMMIT, transaction.xid, commit.commitLsn);
    appendBlock(out, END_LSN);
    appendLsn(out, commit.endLsn);
    appendBlock(out, COMMIT_TIME);
    this.#times.append(out, commit.commitTime);
    appendBlock(out, CHANGES);
    appendNumber(out, changes);
    appendBlock(out, END_OF_LINE);
  }

  origin(transaction: Transaction, origin: Origin): void {
    // of a transaction in progress it is not known yet
    const where = origin.originLsn !== INVALID_LSN && { origin_lsn: formatLsn(origin.originLsn) };
    this.#line({ op: 'origin', xid: transaction.xid, origin: origin.name, ...where });
  }

  relation(relation: Relation): void {
    const columns = relation.columns.map((column) => ({
      name: column.name,
      type: this.#types.name(column.typeId, column.typmod),
      type_id: column.typeId,
      ...(column.typmod >= 0 && { type_mod: column.typmod }),
      ...(column.key && { key: true }),
    }));
    const { relationId, schema, name, identity } = relation;
    this.#line({ op: 'relation', relation_id: relationId, schema, table: name, identity, columns });
  }

  type(type: TypeName): void {
    this.#line({ op: 'type', type_id: type.typeId, schema: type.schema, name: type.name });
  }

  insert(change: Change, relation: Relation, newRow: TupleData): void {
    const plan = this.#planOf(relation);
    this.#head(plan.insertHead, change);
    this.#row(plan, NEW, newRow, null);
    this.#append(END_OF_LINE);
  }

  update(change: Change, relation: Relation, newRow: TupleData, oldRow: TupleData | null): void {
    const plan = this.#planOf(relation);
    this.#head(plan.updateHead, change);
    this.#append(plan.identity);
    const limits = this.#leaves.limitsOf(relation);
    const partial = limits?.oldIsPartial ?? false;
    if (oldRow?.role === 'old') this.#old(plan, oldRow, partial);
    else if (limits === undefined) this.#key(plan, oldRow ?? newRow);
    else this.#leafKey(plan, oldRow, newRow, limits);
    const isWhole = this.#row(plan, NEW, newRow, oldRow);
    if (!isWhole) this.#unchanged(plan, newRow, oldRow);
    if (oldRow?.role === 'old' && !partial) this.#changed(plan, newRow, oldRow);
    this.#append(END_OF_LINE);
  }

  delete(change: Change, relation: Relation, oldRow: TupleData): void {
    const plan = this.#planOf(relation);
    this.#head(plan.deleteHead, change);
    this.#append(plan.identity);
    const limits = this.#leaves.limitsOf(relation);
    if (oldRow.role === 'old') this.#old(plan, oldRow, limits?.oldIsPartial ?? false);
    else if (limits === undefined) this.#key(plan, oldRow);
    else this.#leafKey(plan, oldRow, null, limits);
    this.#append(END_OF_LINE);
  }

  truncate(change: Change, relations: readonly Relation[], options: TruncateOptions): void {
    const tables = relations.map(({ schema, name }) => ({ schema, table: name }));
    const { cascade, restartIdentity } = options;
    this.#head(TRUNCATE, change, { tables });
    this.#fields({ cascade, restart_identity: restartIdentity });
    this.#append(END_OF_LINE);
  }

  message(change: Change | null, message: LogicalMessage): void {
    if (change === null) this.#out.text(`{"op":"message","lsn":"${formatLsn(message.lsn)}"`);
    else this.#head(MESSAGE, change);
    const content = isUtf8(message.content)
      ? { content: message.content.toString('utf8') }
      : { content_base64: message.content.toString('base64') };
    this.#fields({ transactional: message.transactional, prefix: message.prefix, ...content });
    this.#append(END_OF_LINE);
  }

  beginPrepare(_transaction: Transaction, prepare: Prepare): void {
    this.#line({
      op: 'begin_prepare',
      xid: prepare.xid,
      gid: prepare.gid,
      prepare_lsn: formatLsn(prepare.prepareLsn),
      prepare_time: formatTimestamp(prepare.prepareTime),
    });
  }

  prepare(_transaction: Transaction, prepare: Prepare, changes: number): void {
    this.#line({ op: 'prepare', ...prepareFields(prepare), changes });
  }

  streamPrepare(_transaction: Transaction, prepare: Prepare, changes: number): void {
    this.#line({ op: 'stream_prepare', ...prepareFields(prepare), changes });
  }

  commitPrepared(commit: CommitPrepared): void {
    const { xid, gid } = commit;
    this.#line({ op: 'commit_prepared', xid, gid, ...commitFields(commit) });
  }

  rollbackPrepared(rollback: RollbackPrepared): void {
    this.#line({
      op: 'rollback_prepared',
      xid: rollback.xid,
      gid: rollback.gid,
      prepare_end_lsn: formatLsn(rollback.prepareEndLsn),
      rollback_end_lsn: formatLsn(rollback.rollbackEndLsn),
      prepare_time: formatTimestamp(rollback.prepareTime),
      rollback_time: formatTimestamp(rollback.rollbackTime),
    });
  }

  streamStart(transaction: Transaction, first: boolean): void {
    this.#line({ op: 'stream_start', xid: transaction.xid, first });
  }

  streamStop(transaction: Transaction): void {
    this.#line({ op: 'stream_stop', xid: transaction.xid });
  }

  streamCommit(transaction: Transaction, commit: StreamCommit, changes: number): void {
    this.#line({ op: 'stream_commit', xid: transaction.xid, ...commitFields(commit), changes });
  }

  streamAbort(_transaction: Transaction, { xid, subxid, abort }: StreamAbort): void {
    const where = abort && {
      abort_lsn: formatLsn(abort.lsn),
      abort_time: formatTimestamp(abort.time),
    };
    this.#line({ op: 'stream_abort', xid, subxid, ...where });
  }

  restart(afterLsn: Lsn | undefined, voidXids: readonly number[]): void {
    const after = afterLsn !== undefined && { after_lsn: formatLsn(afterLsn) };
    this.#line({ op: 'restart', ...after, void_xids: voidXids });
  }

  gap(afterLsn: Lsn | undefined, resumedAt: Lsn): void {
    const after = afterLsn !== undefined && { after_lsn: formatLsn(afterLsn) };
    this.#line({ op: 'gap', ...after, resumed_at: formatLsn(resumedAt) });
  }

  /** `{"op":"begin","xid":745,"commit_lsn":"0/16B3900`, with room for the rest of such a line. */
  #frameHead(head: Block, xid: number, commitLsn: Lsn): void {
    const out = this.#out;
    out.reserve(head.length + LINE_ROOM);
    appendBlock(out, head);
    appendBlock(out, XID);
    appendNumber(out, xid);
    appendBlock(out, COMMIT_LSN);
    appendLsn(out, commitLsn);
  }

  #append(block: Block): void {
    this.#out.reserve(block.length);
    appendBlock(this.#out, block);
  }

  /** A line that is not a row: rare enough for an object. */
  #line(fields: object): void {
    this.#out.text(`${JSON.stringify(fields)}\n`);
  }

  /** Further keys of an open line. */
  #fields(fields: object): void {
    this.#out.text(`,${JSON.stringify(fields).slice(1, -1)}`);
  }

  /** Everything up to the keys that differ by kind of change. */
  #head(head: Block, change: Change, tables?: { readonly tables: object }): void {
    const out = this.#out;
    const tail = this.#tailFor(change.transaction);
    out.reserve(head.length + LINE_ROOM + tail.length);
    appendBlock(out, head);
    if (tables !== undefined) {
      out.text(JSON.stringify(tables.tables));
      out.reserve(LINE_ROOM + tail.length);
    }
    appendBlock(out, XID);
    appendNumber(out, change.transaction.xid);
    if (change.subxid !== 0) {
      appendBlock(out, SUBXID);
      appendNumber(out, change.subxid);
    }
    appendBlock(out, SEQ);
    appendNumber(out, change.seq);
    appendBlock(out, LSN);
    appendLsnWords(out, change.lsnHigh, change.lsnLow);
    out.bytes[out.length++] = QUOTE;
    appendWritten(out, tail);
  }

  /**
   * `,"new":{…}`: the columns of a tuple as an object, in the relation's order. Returns whether all
   * of them are there: see `unchanged`.
   */
  #row(plan: RelationPlan, label: Block, row: TupleData, oldRow: TupleData | null): boolean {
    const out = this.#out;
    const room = 2 + plan.fixedRoom + MAX_ESCAPED_BYTE * textLength(row, oldRow);
    out.reserve(label.length + room);
    appendBlock(out, label);
    const opening = out.length;
    let isWhole = true;
    for (let column = 0; column < row.columnCount; column++) {
      const source = tupleWithNewValue(row, oldRow, column);
      if (source === null) {
        isWhole = false; // a TOAST value that was not sent
        continue;
      }
      this.#column(plan, source, column);
      if (plan.grows) out.reserve(room);
    }
    openBracket(out, opening, OPEN_BRACE);
    out.bytes[out.length++] = CLOSE_BRACE;
    return isWhole;
  }

  /** `,"old":{…}`: all of it, or what is known of it. */
  #old(plan: RelationPlan, oldRow: TupleData, partial: boolean): void {
    if (!partial) {
      this.#row(plan, OLD, oldRow, null);
      return;
    }
    this.#knownColumns(plan, OLD, oldRow, plan.allColumns);
    this.#append(OLD_PARTIAL);
  }

  /** `,"key":{…}`; left out if nothing of it is known. */
  #key(plan: RelationPlan, row: TupleData): void {
    const { keyColumns } = plan;
    for (const column of keyColumns) {
      if (row.hasValue(column)) return this.#knownColumns(plan, KEY, row, keyColumns);
    }
  }

  /**
   * The key of a row whose leaf may identify it by other columns than its root: what is known of it,
   * and whether that is all. Where nothing of the root's key is known, the leaf's is shown.
   */
  #leafKey(
    plan: RelationPlan,
    keyRow: TupleData | null,
    newRow: TupleData | null,
    { keptColumns }: LeafLimits,
  ): void {
    const { keyColumns } = plan;
    if (keyColumns.length === 0) return;
    // no key tuple: what the leaf's identity has did not change
    const known = keyColumns.filter((column) =>
      keyRow === null ? keptColumns[column] : keyRow.hasValue(column),
    );
    const row = keyRow ?? newRow!;
    if (known.length > 0) this.#knownColumns(plan, KEY, row, known);
    else if (keyRow !== null) this.#knownColumns(plan, KEY, keyRow, plan.allColumns);
    if (known.length < keyColumns.length) this.#append(KEY_PARTIAL);
  }

  /** Only values that were sent: where NULL may mean "not sent", none is claimed. */
  #knownColumns(
    plan: RelationPlan,
    label: Block,
    row: TupleData,
    columns: readonly number[],
  ): void {
    const out = this.#out;
    const room = 2 + plan.fixedRoom + MAX_ESCAPED_BYTE * textLength(row, null);
    out.reserve(label.length + room);
    appendBlock(out, label);
    const opening = out.length;
    for (const column of columns) {
      if (!row.hasValue(column)) continue;
      this.#column(plan, row, column);
      if (plan.grows) out.reserve(room);
    }
    openBracket(out, opening, OPEN_BRACE);
    out.bytes[out.length++] = CLOSE_BRACE;
  }

  #column(plan: RelationPlan, row: TupleData, column: number): void {
    const out = this.#out;
    appendBlock(out, plan.keys[column]!);
    const kind = row.kinds[column];
    if (kind === COLUMN_NULL) appendBlock(out, NULL);
    else {
      const encode =
        kind === COLUMN_BINARY
          ? (plan.binaryEncoders[column] ?? this.#newBinaryEncoder(plan, column))
          : plan.encoders[column]!;
      encode(out, row.bytes, row.starts[column]!, row.ends[column]!);
    }
  }

  #newBinaryEncoder(plan: RelationPlan, column: number): ColumnEncoder {
    const encoder = this.#types.binaryEncoder(plan.relation.columns[column]!.typeId);
    if (encoder === undefined) throw unaskedBinary(plan.relation, column);
    plan.binaryEncoders[column] = encoder;
    plan.grows ||= encoder.grows === true;
    return encoder;
  }

  /** `,"unchanged":["body"]`: the TOAST values that nobody sent. There must be one. */
  #unchanged(plan: RelationPlan, newRow: TupleData, oldRow: TupleData | null): void {
    const out = this.#out;
    this.#append(UNCHANGED);
    const opening = out.length;
    for (let column = 0; column < newRow.columnCount; column++) {
      const isUnknown = tupleWithNewValue(newRow, oldRow, column) === null;
      if (isUnknown) this.#name(plan, column);
    }
    closeList(out, opening);
  }

  /** `,"changed":["total"]`: the columns that differ between a whole old row and the new one. */
  #changed(plan: RelationPlan, newRow: TupleData, oldRow: TupleData): void {
    const out = this.#out;
    this.#append(CHANGED);
    const opening = out.length;
    for (let column = 0; column < newRow.columnCount; column++) {
      if (!isChanged(newRow, oldRow, column) || bothNaN(plan, newRow, oldRow, column)) continue;
      this.#name(plan, column);
    }
    closeList(out, opening);
  }

  /** `,"id"`: the column's key without its colon, an item of a list. */
  #name(plan: RelationPlan, column: number): void {
    this.#append(plan.keys[column]!);
    this.#out.length--;
  }

  #planOf(relation: Relation): RelationPlan {
    const last = this.#plan;
    const { version } = this.#types;
    if (last?.relation === relation && last.typesVersion === version) return last;
    let plan = this.#plans.get(relation.relationId);
    if (plan?.relation !== relation || plan.typesVersion !== version) {
      plan = relationPlan(relation, this.#types);
      this.#plans.set(relation.relationId, plan);
    }
    this.#plan = plan;
    return plan;
  }

  #tailFor(transaction: Transaction): ByteWriter {
    const tail = this.#tail;
    if (this.#tailOf === transaction) return tail;
    this.#tailOf = transaction;
    tail.length = 0;
    tail.reserve(LINE_ROOM);
    switch (transaction.kind) {
      case 'committed':
        this.#place(COMMIT_LSN, transaction.commitLsn, COMMIT_TIME, transaction.commitTime);
        break;
      case 'prepared':
        appendBlock(tail, GID);
        tail.text(JSON.stringify(transaction.gid));
        tail.reserve(LINE_ROOM);
        this.#place(PREPARE_LSN, transaction.prepareLsn, PREPARE_TIME, transaction.prepareTime);
        break;
      case 'streamed':
        appendBlock(tail, STREAMED);
    }
    return tail;
  }

  #place(lsnKey: Block, lsn: Lsn, timeKey: Block, time: PgTimestamp): void {
    const tail = this.#tail;
    appendBlock(tail, lsnKey);
    appendLsn(tail, lsn);
    appendBlock(tail, timeKey);
    this.#times.append(tail, time);
    tail.bytes[tail.length++] = QUOTE;
  }
}

function commitFields({ commitLsn, endLsn, commitTime }: Commit): object {
  return {
    commit_lsn: formatLsn(commitLsn),
    end_lsn: formatLsn(endLsn),
    commit_time: formatTimestamp(commitTime),
  };
}

function prepareFields(prepare: Prepare): object {
  return {
    xid: prepare.xid,
    gid: prepare.gid,
    prepare_lsn: formatLsn(prepare.prepareLsn),
    end_lsn: formatLsn(prepare.endLsn),
    prepare_time: formatTimestamp(prepare.prepareTime),
  };
}

/** All bytes of the values a row may print: its own and those filled in from the old row. */
function textLength(row: TupleData, oldRow: TupleData | null): number {
  return row.textLength + (oldRow === null ? 0 : oldRow.textLength);
}

/** Whether both are NaN: as binary values they may differ, and are no change all the same. */
function bothNaN(
  { relation }: RelationPlan,
  newRow: TupleData,
  oldRow: TupleData,
  column: number,
): boolean {
  if (newRow.kinds[column] !== COLUMN_BINARY || oldRow.kinds[column] !== COLUMN_BINARY)
    return false;
  const { typeId } = relation.columns[column]!;
  return [newRow, oldRow].every((row) => isNaNValue(typeId, row.bytes, row.starts[column]!));
}

/** Each item was written with a comma before it: the first one's becomes the opening bracket. */
function openBracket(out: ByteWriter, opening: number, bracket: number): void {
  out.bytes[opening] = bracket;
  if (out.length === opening) out.length++;
}

function closeList(out: ByteWriter, opening: number): void {
  out.reserve(2);
  openBracket(out, opening, OPEN_BRACKET);
  out.bytes[out.length++] = CLOSE_BRACKET;
}

/** Text was asked for, and a binary value must never be shown as something it is not. */
function unaskedBinary(relation: Relation, column: number): ProtocolViolation {
  const field = `column ${column + 1} of ${relation.schema}.${relation.name}`;
  return new ProtocolViolation(field, 'a binary value although text was asked for', 0);
}
