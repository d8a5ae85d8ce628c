// What of the stream is printed: by table and by kind of line.

import { isSelected, type NamedTable, type TablePattern } from './table-pattern.ts';

/** The kinds of lines, as `op` in NDJSON and in --op name them. */
export const LINE_OPS = [
  'insert',
  'update',
  'delete',
  'truncate',
  'message',
  'begin',
  'commit',
  'relation',
  'type',
  'origin',
  'begin_prepare',
  'prepare',
  'commit_prepared',
  'rollback_prepared',
  'stream_start',
  'stream_stop',
  'stream_commit',
  'stream_abort',
  'stream_prepare',
] as const;

export type LineOp = (typeof LINE_OPS)[number];

/** The lines that say what changed; all others frame or explain them. */
const CHANGE_OPS: readonly LineOp[] = ['insert', 'update', 'delete', 'truncate', 'message'];

const isChangeOp = (op: LineOp): boolean => CHANGE_OPS.includes(op);

export interface SelectionOptions {
  readonly tables: readonly TablePattern[];
  /** Undefined: every kind. */
  readonly ops: readonly LineOp[] | undefined;
  /** Print the frame around the selected changes even if --op does not name it: pretty does. */
  readonly keepsFrame: boolean;
  /** Print what ends a unit even if --op does not name it: a file goes on from there. */
  readonly keepsUnitEnds?: boolean;
}

const UNIT_ENDS: readonly LineOp[] = ['commit', 'prepare', 'commit_prepared', 'rollback_prepared'];

export class Selection {
  readonly #tables: readonly TablePattern[];
  readonly #ops: readonly LineOp[];
  readonly #named: readonly LineOp[] | undefined;
  readonly #keepsFrame: boolean;
  readonly #keepsUnitEnds: boolean;

  constructor({ tables, ops, keepsFrame, keepsUnitEnds = false }: SelectionOptions) {
    this.#tables = tables;
    this.#named = ops;
    this.#keepsFrame = keepsFrame;
    this.#keepsUnitEnds = keepsUnitEnds;
    this.#ops = LINE_OPS.filter((op) => this.#isShown(op));
  }

  /** Whether lines of this kind are printed. */
  shows(op: LineOp): boolean {
    return this.#ops.includes(op);
  }

  /**
   * Whether a change of this kind counts as something to print, so that its transaction's frame is
   * printed too. One that --op leaves out does if --op names the frame: `--op begin,commit`.
   */
  opensFrame(op: LineOp): boolean {
    return this.shows(op) || (this.#named?.some((named) => !isChangeOp(named)) ?? false);
  }

  showsTable(relation: NamedTable): boolean {
    return isSelected(relation, this.#tables);
  }

  /** Messages belong to no table: asking for certain tables leaves them out, unless --op asks. */
  get wantsMessages(): boolean {
    const wantsTables = this.#tables.some((pattern) => !pattern.excludes);
    return !wantsTables || (this.#named?.includes('message') ?? false);
  }

  #isShown(op: LineOp): boolean {
    if (this.#named === undefined) return true;
    if (this.#keepsUnitEnds && UNIT_ENDS.includes(op)) return true;
    return this.#named.includes(op) || (this.#keepsFrame && !isChangeOp(op));
  }
}
