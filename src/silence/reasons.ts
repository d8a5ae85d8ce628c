// Why nothing arrives although the server writes: from what changed between two looks at it.

import type { Operation } from '../identity/publication.ts';
import type { Lsn } from '../lsn.ts';
import type { Activity, OpenWriter, RowCounts, TableActivity } from './activity.ts';
import type { PublishedTable } from './published.ts';

export type RowOp = keyof RowCounts;
const ROW_OPS: readonly RowOp[] = ['insert', 'update', 'delete', 'truncate'];

export type SilenceReason =
  | { readonly kind: 'not logged'; readonly table: string; readonly rows: RowCounts }
  | { readonly kind: 'not published'; readonly table: string; readonly rows: RowCounts }
  | {
      readonly kind: 'operation not published';
      readonly table: string;
      readonly op: RowOp;
      readonly count: number;
      readonly publication: string;
      /** What it publishes so far. */
      readonly published: readonly Operation[];
    }
  | {
      readonly kind: 'row filter';
      readonly table: string;
      readonly rows: RowCounts;
      readonly publication: string;
      readonly filter: string;
    }
  | { readonly kind: 'not selected'; readonly table: string; readonly rows: RowCounts }
  /** Everything of it is sent, and nothing was. */
  | { readonly kind: 'rolled back'; readonly table: string; readonly rows: RowCounts }
  | {
      readonly kind: 'other databases';
      /** Those with most rows first. */
      readonly databases: readonly { readonly name: string; readonly changes: number }[];
    }
  | { readonly kind: 'open transaction'; readonly writer: OpenWriter }
  | {
      readonly kind: 'decoding';
      readonly decoded: Lsn;
      /** Bytes of WAL that are still to be read. */
      readonly behind: number;
      /** Bytes a second, since the look before. */
      readonly rate: number;
    }
  /** Transactions of other roles may be open, which ours may not see. */
  | { readonly kind: 'others not seen' };

export interface Look {
  readonly activity: Activity;
  /** A clock in ms. */
  readonly at: number;
}

export interface SilenceFacts {
  readonly before: Look;
  readonly after: Look;
  /** Of the tables that changed between. */
  readonly published: ReadonlyMap<number, readonly PublishedTable[]>;
  /** What is printed of what is sent. */
  readonly isPrinted: (table: PublishedTable['sentAs'], op: RowOp) => boolean;
}

/** Less than this is what a server writes by itself: the decoder has caught up. */
const CAUGHT_UP_WITHIN = 64 * 1024;

/** Most of a server's tables may have changed: the rest would be no news. */
const MOST_TABLES = 10;

/** The tables that changed between two looks, those with most rows first. */
export function changedTables(
  before: Activity,
  after: Activity,
): ReadonlyMap<number, TableActivity> {
  const changed = [...after.tables].flatMap(([id, table]) => {
    const rows = difference(table, before.tables.get(id));
    return total(rows) > 0 ? [[id, { ...table, rows }] as const] : [];
  });
  changed.sort(([, a], [, b]) => total(b.rows) - total(a.rows));
  return new Map(changed.slice(0, MOST_TABLES));
}

/** From what explains most to what explains least; empty: nothing that would have been sent. */
export function silenceReasons(facts: SilenceFacts): readonly SilenceReason[] {
  const before = facts.before.activity;
  const after = facts.after.activity;
  const decoding = decodingReason(facts);
  const isCaughtUp = decoding === undefined;
  const tables = [...changedTables(before, after)].flatMap(([id, table]) =>
    tableReasons(table, facts, facts.published.get(id) ?? [], isCaughtUp),
  );
  const found = [
    ...(decoding ? [decoding] : []),
    ...tables,
    ...after.open.map((writer): SilenceReason => ({ kind: 'open transaction', writer })),
  ];
  if (found.length > 0) return found;
  return [
    ...otherDatabases(before, after),
    ...(after.seesOthers || !hasWritten(before, after)
      ? []
      : [{ kind: 'others not seen' } as const]),
  ];
}

/** What a server writes by itself, which transactions run, takes less. */
const LEAST_WRITTEN = 256n;

const hasWritten = (before: Activity, after: Activity): boolean =>
  after.walEnd - before.walEnd >= LEAST_WRITTEN;

/** The same for what is the same reason with other figures. */
export function reasonKey(reason: SilenceReason): string {
  switch (reason.kind) {
    case 'decoding':
    case 'others not seen':
    case 'other databases':
      return reason.kind;
    case 'open transaction':
      return `${reason.kind} ${reason.writer.kind === 'session' ? reason.writer.pid : reason.writer.gid}`;
    case 'operation not published':
      return `${reason.kind} ${reason.table} ${reason.op}`;
    default:
      return `${reason.kind} ${reason.table} ${isCertain(reason.rows) ? 'rows' : 'truncate'}`;
  }
}

/** Rows were counted; a TRUNCATE alone is only likely, and says nothing of rows that come later. */
const isCertain = ({ insert, update, delete: deleted }: RowCounts): boolean =>
  insert + update + deleted > 0;

function decodingReason({ before, after }: SilenceFacts): SilenceReason | undefined {
  const { decoded, walEnd } = after.activity;
  if (decoded === undefined) return undefined;
  const behind = Number(walEnd - decoded);
  if (behind < CAUGHT_UP_WITHIN) return undefined;
  const read = Number(decoded - (before.activity.decoded ?? decoded));
  const seconds = (after.at - before.at) / 1000;
  return { kind: 'decoding', decoded, behind, rate: seconds > 0 ? Math.max(read, 0) / seconds : 0 };
}

function tableReasons(
  table: TableActivity,
  { before, after, isPrinted }: SilenceFacts,
  published: readonly PublishedTable[],
  isCaughtUp: boolean,
): SilenceReason[] {
  const { quoted, rows } = table;
  if (!table.isLogged) return [{ kind: 'not logged', table: quoted, rows }];
  if (published.length === 0) return [{ kind: 'not published', table: quoted, rows }];
  const reasons: SilenceReason[] = [];
  const rest = { ...rows };
  for (const op of ROW_OPS.filter((each) => rows[each] > 0)) {
    if (published.some(({ operations }) => operations.includes(op))) continue;
    const { publication, operations } = published[0]!;
    const count = rows[op];
    rest[op] = 0;
    reasons.push({
      kind: 'operation not published',
      table: quoted,
      op,
      count,
      publication,
      published: operations,
    });
  }
  const hidden = { ...rest };
  for (const op of ROW_OPS) {
    if (published.some(({ sentAs }) => isPrinted(sentAs, op))) hidden[op] = 0;
  }
  if (total(hidden) > 0) reasons.push({ kind: 'not selected', table: quoted, rows: hidden });
  // of a TRUNCATE that is sent there is no more to say: no filter leaves it out
  const shown = { ...minus(rest, hidden), truncate: 0 };
  if (total(shown) === 0) return reasons;
  const filtering = published.find(({ rowFilter }) => rowFilter !== undefined);
  const isFiltered = published.every(({ rowFilter }) => rowFilter !== undefined);
  if (filtering !== undefined && isFiltered) {
    const { publication, rowFilter: filter } = filtering;
    reasons.push({ kind: 'row filter', table: quoted, rows: shown, publication, filter: filter! });
  } else if (isCaughtUp && after.activity.rollbacks > before.activity.rollbacks) {
    reasons.push({ kind: 'rolled back', table: quoted, rows: shown });
  }
  return reasons;
}

function otherDatabases(before: Activity, after: Activity): SilenceReason[] {
  const databases = [...after.otherDatabases].flatMap(([name, all]) => {
    const changes = all - (before.otherDatabases.get(name) ?? all);
    return changes > 0 ? [{ name, changes }] : [];
  });
  databases.sort((a, b) => b.changes - a.changes);
  return databases.length > 0 ? [{ kind: 'other databases', databases }] : [];
}

export const total = (rows: RowCounts): number => ROW_OPS.reduce((sum, op) => sum + rows[op], 0);

function difference(now: TableActivity, then: TableActivity | undefined): RowCounts {
  const rows = minus(now.rows, then?.rows);
  return { ...rows, truncate: then !== undefined && mayBeTruncated(now, then, rows) ? 1 : 0 };
}

/** VACUUM FULL gives another file too, but of a table without rows nothing was taken away. */
function mayBeTruncated(now: TableActivity, then: TableActivity, written: RowCounts): boolean {
  const hadRows = !then.isEmpty || written.insert > 0;
  return now.file !== then.file && now.isEmpty && hadRows;
}

/** Statistics that were reset meanwhile begin anew. */
function minus(now: RowCounts, then: RowCounts | undefined): RowCounts {
  const since = (op: RowOp): number => {
    const past = then?.[op] ?? 0;
    return now[op] >= past ? now[op] - past : now[op];
  };
  return {
    insert: since('insert'),
    update: since('update'),
    delete: since('delete'),
    truncate: since('truncate'),
  };
}
