// The reference of a careful user: pgtail's own decoder, an object a row with a converted value for
// each column, and JSON.stringify. Text tuples of protocol 1; the lines have pgtail's keys.

import { isChanged, tupleWithNewValue } from '../../src/format/old-row.ts';
import { formatLsn, formatLsnWords } from '../../src/lsn.ts';
import type { MessagePosition, PgoutputHandler } from '../../src/pgoutput/handler.ts';
import type { Begin } from '../../src/pgoutput/messages.ts';
import type { Relation } from '../../src/pgoutput/relation.ts';
import { COLUMN_NULL, type TupleData } from '../../src/pgoutput/tuple.ts';
import { OID } from '../../src/pgtypes/builtin-types.ts';
import { formatTimestamp } from '../../src/wire/timestamp.ts';

type Convert = (text: string) => unknown;
type Row = Record<string, unknown>;
type Op = 'insert' | 'update' | 'delete';

interface Rows {
  readonly key?: Row | undefined;
  readonly old?: Row | undefined;
  readonly new?: Row;
  readonly unchanged?: readonly string[] | undefined;
  readonly changed?: readonly string[] | undefined;
}

const asText: Convert = (text) => text;

/** Wide integers and numeric stay text: a double would lose digits. */
const CONVERTERS: ReadonlyMap<number, Convert> = new Map<number, Convert>([
  [OID.bool, (text) => text === 't'],
  [OID.int2, Number],
  [OID.int4, Number],
  [OID.float4, finiteNumber],
  [OID.float8, finiteNumber],
  [OID.json, (text) => JSON.parse(text) as unknown],
  [OID.jsonb, (text) => JSON.parse(text) as unknown],
  [OID.timestamp, (text) => text.replace(' ', 'T')],
  // the session's time zone is UTC: `2026-01-01 08:00:00.5+00`
  [OID.timestamptz, (text) => `${text.replace(' ', 'T')}:00`],
]);

/** JSON has neither NaN nor an infinity. */
function finiteNumber(text: string): number | string {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

export class ObjectLines implements PgoutputHandler {
  readonly #onLine: (line: string) => void;
  readonly #converters = new Map<Relation, readonly Convert[]>();
  #xid = 0;
  #seq = 0;
  #commitLsn = '';
  #commitTime = '';

  /** Lines come without their line feed. */
  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  begin({ xid, commitLsn, commitTime }: Begin): void {
    this.#xid = xid;
    this.#seq = 0;
    this.#commitLsn = formatLsn(commitLsn);
    this.#commitTime = formatTimestamp(commitTime);
  }

  relation(relation: Relation): void {
    const converters = relation.columns.map(({ typeId }) => CONVERTERS.get(typeId) ?? asText);
    this.#converters.set(relation, converters);
  }

  insert(at: MessagePosition, relation: Relation, newRow: TupleData): void {
    this.#line('insert', at, relation, { new: this.#row(relation, newRow, null) });
  }

  update(
    at: MessagePosition,
    relation: Relation,
    newRow: TupleData,
    oldRow: TupleData | null,
  ): void {
    const whole = oldRow?.role === 'old' ? oldRow : null;
    const unchanged = unsent(relation, newRow, oldRow);
    this.#line('update', at, relation, {
      key: whole === null ? this.#key(relation, oldRow ?? newRow) : undefined,
      old: whole === null ? undefined : this.#row(relation, whole, null),
      new: this.#row(relation, newRow, oldRow),
      unchanged: unchanged.length > 0 ? unchanged : undefined,
      changed: whole === null ? undefined : changed(relation, newRow, whole),
    });
  }

  delete(at: MessagePosition, relation: Relation, oldRow: TupleData): void {
    const isWhole = oldRow.role === 'old';
    this.#line('delete', at, relation, {
      key: isWhole ? undefined : this.#key(relation, oldRow),
      old: isWhole ? this.#row(relation, oldRow, null) : undefined,
    });
  }

  commit(): void {}
  origin(): void {}
  type(): void {}
  truncate(): void {}
  message(): void {}
  streamStart(): void {}
  streamStop(): void {}
  streamCommit(): void {}
  streamAbort(): void {}
  beginPrepare(): void {}
  prepare(): void {}
  commitPrepared(): void {}
  rollbackPrepared(): void {}
  streamPrepare(): void {}

  #row(relation: Relation, row: TupleData, oldRow: TupleData | null): Row {
    const converters = this.#converters.get(relation)!;
    const values: Row = {};
    for (let i = 0; i < row.columnCount; i++) {
      const source = tupleWithNewValue(row, oldRow, i);
      if (source !== null) values[relation.columns[i]!.name] = value(source, i, converters[i]!);
    }
    return values;
  }

  #key(relation: Relation, row: TupleData): Row {
    const converters = this.#converters.get(relation)!;
    const values: Row = {};
    for (let i = 0; i < row.columnCount; i++) {
      const { key, name } = relation.columns[i]!;
      if (key && row.hasValue(i)) values[name] = value(row, i, converters[i]!);
    }
    return values;
  }

  /** JSON.stringify leaves out what is undefined: faster than an object without it, by a spread. */
  #line(op: Op, { lsnHigh, lsnLow }: MessagePosition, relation: Relation, rows: Rows): void {
    const line = {
      op,
      schema: relation.schema,
      table: relation.name,
      xid: this.#xid,
      seq: ++this.#seq,
      lsn: formatLsnWords(lsnHigh, lsnLow),
      commit_lsn: this.#commitLsn,
      commit_time: this.#commitTime,
      identity: op === 'insert' ? undefined : relation.identity,
      key: rows.key,
      old: rows.old,
      new: rows.new,
      unchanged: rows.unchanged,
      changed: rows.changed,
    };
    this.#onLine(JSON.stringify(line));
  }
}

function value(row: TupleData, column: number, convert: Convert): unknown {
  return row.kinds[column] === COLUMN_NULL ? null : convert(row.text(column));
}

function unsent({ columns }: Relation, newRow: TupleData, oldRow: TupleData | null): string[] {
  const names: string[] = [];
  for (let i = 0; i < newRow.columnCount; i++) {
    if (tupleWithNewValue(newRow, oldRow, i) === null) names.push(columns[i]!.name);
  }
  return names;
}

function changed({ columns }: Relation, newRow: TupleData, oldRow: TupleData): string[] {
  const names: string[] = [];
  for (let i = 0; i < newRow.columnCount; i++) {
    if (isChanged(newRow, oldRow, i)) names.push(columns[i]!.name);
  }
  return names;
}
