// The tables as a reader of the lines would have them: what was committed is applied, in the order
// of the commits, and nothing else.

import { canonical, type Exact, type ExactRow, exactJson } from './exact-json.ts';

interface Change {
  readonly op: string;
  readonly subxid: string;
  readonly line: ExactRow;
}

const field = (line: ExactRow, name: string): string => String(line[name] ?? '');
const rowOf = (line: ExactRow, name: string): ExactRow | undefined =>
  line[name] as ExactRow | undefined;

export class Replica {
  readonly #tables = new Map<string, ExactRow[]>();
  /** By xid: what was said of a transaction that has not ended. */
  readonly #open = new Map<string, Change[]>();
  /** By gid: what was prepared and not decided. */
  readonly #prepared = new Map<string, Change[]>();

  static of(ndjson: string): Replica {
    const replica = new Replica();
    for (const line of ndjson.split('\n')) {
      if (line !== '') replica.take(exactJson(line) as ExactRow);
    }
    return replica;
  }

  /** The rows of `schema.table` in an order that depends on nothing but them. */
  rows(table: string): string[] {
    return (this.#tables.get(table) ?? []).map(canonical).sort();
  }

  /** The gids of prepared transactions that nobody decided. */
  get undecided(): string[] {
    return [...this.#prepared.keys()];
  }

  /** The transactions of which lines came and no end. */
  get unended(): number {
    return [...this.#open.values()].filter((changes) => changes.length > 0).length;
  }

  take(line: ExactRow): void {
    const xid = field(line, 'xid');
    switch (field(line, 'op')) {
      case 'insert':
      case 'update':
      case 'delete':
      case 'truncate':
        this.#changesOf(xid).push({
          op: field(line, 'op'),
          subxid: field(line, 'subxid'),
          line,
        });
        return;
      case 'begin':
      case 'begin_prepare':
        this.#open.set(xid, []);
        return;
      case 'commit':
      case 'stream_commit':
        this.#apply(this.#taken(xid));
        return;
      case 'prepare':
      case 'stream_prepare':
        this.#prepared.set(field(line, 'gid'), this.#taken(xid));
        return;
      case 'commit_prepared':
        this.#apply(this.#decided(line));
        return;
      case 'rollback_prepared':
        this.#decided(line);
        return;
      case 'stream_abort':
        this.#abort(xid, field(line, 'subxid'));
        return;
      case 'restart':
        for (const voided of line.void_xids as readonly Exact[]) this.#open.delete(String(voided));
    }
  }

  #changesOf(xid: string): Change[] {
    let changes = this.#open.get(xid);
    if (changes === undefined) {
      changes = [];
      this.#open.set(xid, changes);
    }
    return changes;
  }

  #taken(xid: string): Change[] {
    const changes = this.#changesOf(xid);
    this.#open.delete(xid);
    return changes;
  }

  #decided(line: ExactRow): Change[] {
    const gid = field(line, 'gid');
    const changes = this.#prepared.get(gid);
    if (changes === undefined) throw new Error(`"${gid}" was never prepared`);
    this.#prepared.delete(gid);
    return changes;
  }

  #abort(xid: string, subxid: string): void {
    if (xid === subxid) this.#open.delete(xid);
    else {
      const left = this.#changesOf(xid).filter((change) => change.subxid !== subxid);
      this.#open.set(xid, left);
    }
  }

  #apply(changes: readonly Change[]): void {
    for (const { op, line } of changes) {
      if (op === 'truncate') this.#truncate(line);
      else this.#applyRow(op, line);
    }
  }

  #truncate(line: ExactRow): void {
    for (const table of line.tables as unknown as readonly ExactRow[]) {
      this.#tables.set(`${table.schema}.${table.table}`, []);
    }
  }

  #applyRow(op: string, line: ExactRow): void {
    const name = `${line.schema}.${line.table}`;
    const rows = this.#tables.get(name) ?? [];
    this.#tables.set(name, rows);
    const fresh = rowOf(line, 'new');
    if (op === 'insert') {
      rows.push(fresh!);
      return;
    }
    const at = indexOfOld(rows, line);
    if (op === 'delete') rows.splice(at, 1);
    else rows[at] = withUnchanged(fresh!, rows[at]!, line);
  }
}

/** Every column that the line knows of the row as it was must be equal. */
function indexOfOld(rows: readonly ExactRow[], line: ExactRow): number {
  const known = rowOf(line, 'old') ?? rowOf(line, 'key');
  if (known === undefined) throw new Error(`it says of no row: ${JSON.stringify(line)}`);
  const wanted = Object.entries(known);
  const at = rows.findLastIndex((row) =>
    wanted.every(([name, value]) => name in row && isSame(row[name]!, value)),
  );
  if (at === -1) throw new Error(`no such row: ${JSON.stringify(line)}`);
  return at;
}

const isSame = (a: Exact, b: Exact): boolean =>
  a === b || (typeof a === 'object' && canonical(a) === canonical(b));

function withUnchanged(fresh: ExactRow, before: ExactRow, line: ExactRow): ExactRow {
  const names = (line.unchanged ?? []) as readonly string[];
  return { ...fresh, ...Object.fromEntries(names.map((name) => [name, before[name]!])) };
}
