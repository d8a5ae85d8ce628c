// Puts the cells of one change on one line, or on several that line up when there are too many.

import type { Paint } from '../../terminal/theme.ts';
import type { ShownValue, ValueReader } from './value.ts';

/** `name value`, `name old → new`, or a label alone. */
export interface Cell {
  /** The name and the space after it, or the label; safe to print and in its colour. */
  readonly lead: string;
  readonly leadWidth: number;
  readonly before: ShownValue | null;
  readonly value: ShownValue | null;
  /** How wide values of this column were before: so many columns are kept where there is room. */
  readonly pad: number;
}

/** What stands before the cells. Texts are safe and in colour. */
export interface Frame {
  /** Begins each line. */
  readonly gutter: string;
  readonly gutterWidth: number;
  /** Follows the gutter on the first line. */
  readonly head: string;
  readonly headWidth: number;
  /** The spaces after the head, if a cell follows on its line. */
  readonly headPadding: number;
  /** Where the cells of further lines begin, counted from the gutter. */
  readonly indent: number;
  /** The widest line, gutter included. */
  readonly columns: number;
}

const GAP = 2;
const ARROW_WIDTH = 3;
const NO_LIMIT = Number.POSITIVE_INFINITY;
const DOES_NOT_FIT = -1;

/** One line is worth cutting long values for, but not below this. */
const SHORTEST_VALUE = 16;
/** With less than this for each value, lining up with the rows above is given up first. */
const COMFORTABLE_VALUE = 24;
/** A value up to this width is rather put on a further line than cut. */
const LONGEST_SHORT_VALUE = 40;
/** The widest value where a change takes several lines anyway. */
const WIDEST_WRAPPED_VALUE = 60;
/** Further lines stay this much to the right of the first. */
const LEAST_INDENT = 4;

export class Layout {
  readonly #values: ValueReader;
  readonly #arrow: string;

  constructor(values: ValueReader, arrowPaint: Paint) {
    this.#values = values;
    this.#arrow = ` ${arrowPaint('→')} `;
  }

  /** The change as text that ends with a line break; no line is wider than the frame says. */
  lines(frame: Frame, cells: readonly Cell[]): string {
    const room = frame.columns - frame.gutterWidth - frame.headWidth - frame.headPadding;
    const aligned = oneLineLimit(cells, room, true);
    if (aligned >= COMFORTABLE_VALUE && !cutsShortValue(cells, aligned)) {
      return this.#oneLine(frame, cells, aligned, true);
    }
    const close = oneLineLimit(cells, room, false);
    if (close >= SHORTEST_VALUE && !cutsShortValue(cells, close)) {
      return this.#oneLine(frame, cells, close, false);
    }
    return this.#wrapped(frame, cells);
  }

  #oneLine(frame: Frame, cells: readonly Cell[], limit: number, aligned: boolean): string {
    let line = frame.gutter + frame.head;
    let padding = frame.headPadding;
    for (const cell of cells) {
      const pad = aligned ? Math.min(cell.pad, limit) : 0;
      line += ' '.repeat(padding) + this.#cell(cell, limit, NO_LIMIT, pad);
      padding = GAP + rightPadding(cell, pad);
    }
    return `${line}\n`;
  }

  #wrapped(frame: Frame, cells: readonly Cell[]): string {
    const edge = frame.columns - frame.gutterWidth;
    let text = frame.gutter + frame.head;
    let used = frame.headWidth;
    let padding = frame.headPadding;
    for (const cell of cells) {
      const indent = indentFor(cell, frame);
      const hard = valueRoom(cell, edge - indent);
      const limit = Math.min(hard, WIDEST_WRAPPED_VALUE);
      const width = cellWidth(cell, limit, hard);
      if (used + padding + width > edge) {
        text += `\n${frame.gutter}`;
        used = 0;
        padding = Math.max(0, Math.min(indent, edge - width));
      }
      used += padding;
      const fits = used + cell.leadWidth + cell.pad <= edge;
      const pad = fits ? cell.pad : 0;
      text += ' '.repeat(padding) + this.#cell(cell, limit, hard, pad);
      padding = GAP + rightPadding(cell, pad);
      used += fits && cell.value?.alignRight ? Math.max(width, cell.leadWidth + pad) : width;
    }
    return `${text}\n`;
  }

  /** `limit` is for values that may be cut, `hard` for those that should not. */
  #cell({ lead, value, before }: Cell, limit: number, hard: number, pad: number): string {
    if (value === null) return lead;
    const shown = this.#values.render(value, value.elastic ? limit : hard);
    if (before !== null) {
      return (
        lead + this.#values.render(before, before.elastic ? limit : hard) + this.#arrow + shown
      );
    }
    if (!value.alignRight || value.width >= pad) return lead + shown;
    return lead + ' '.repeat(pad - value.width) + shown;
  }
}

/** One line is not worth it for a value that a second line would show whole. */
function cutsShortValue(cells: readonly Cell[], limit: number): boolean {
  return cells.some(({ before, value }) =>
    [before, value].some(
      (shown) => shown?.elastic && shown.width > limit && shown.width <= LONGEST_SHORT_VALUE,
    ),
  );
}

/** What the column's wider values need after this one, if another cell follows. */
function rightPadding({ value, before }: Cell, pad: number): number {
  if (value === null || before !== null || value.alignRight) return 0;
  return Math.max(0, pad - value.width);
}

/** A cell that would have to be cut further right may begin almost at the left. */
function indentFor(cell: Cell, frame: Frame): number {
  const room = frame.columns - frame.gutterWidth;
  const width = cellWidth(cell, NO_LIMIT, NO_LIMIT);
  const helps = width > room - frame.indent && width <= room - LEAST_INDENT;
  return helps ? Math.min(frame.indent, LEAST_INDENT) : frame.indent;
}

/**
 * How wide a value may be if all cells are to fit on one line: the long ones share what the short
 * ones leave.
 */
function oneLineLimit(cells: readonly Cell[], room: number, aligned: boolean): number {
  let budget = room - GAP * (cells.length - 1);
  let elastic = 0;
  let natural = 0;
  for (const cell of cells) {
    budget -= cell.before === null ? cell.leadWidth : cell.leadWidth + ARROW_WIDTH;
    const pad = aligned ? cell.pad : 0;
    for (const value of [cell.before, cell.value]) {
      if (value === null) continue;
      if (!value.elastic) budget -= Math.max(value.width, pad);
      else {
        elastic++;
        natural += Math.max(value.width, pad);
      }
    }
  }
  if (natural <= budget) return NO_LIMIT;
  return elastic === 0 ? DOES_NOT_FIT : waterLevel(cells, budget, elastic, aligned);
}

/** The level to which `budget` fills the elastic values' widths. */
function waterLevel(
  cells: readonly Cell[],
  budget: number,
  elastic: number,
  aligned: boolean,
): number {
  let level = Math.floor(budget / elastic);
  for (;;) {
    let left = budget;
    let above = elastic;
    for (const { value, before, pad } of cells) {
      for (const shown of [before, value]) {
        if (shown === null || !shown.elastic) continue;
        const width = Math.max(shown.width, aligned ? pad : 0);
        if (width > level) continue;
        left -= width;
        above--;
      }
    }
    const next = above === 0 ? level : Math.floor(left / above);
    if (next <= level) return level;
    level = next;
  }
}

/** The room for each value of a cell that has a line for itself. */
function valueRoom(cell: Cell, room: number): number {
  if (cellWidth(cell, NO_LIMIT, NO_LIMIT) <= room) return NO_LIMIT;
  const forValues = room - cell.leadWidth;
  return Math.max(0, cell.before === null ? forValues : (forValues - ARROW_WIDTH) >> 1);
}

function cellWidth({ leadWidth, value, before }: Cell, limit: number, hard: number): number {
  if (value === null) return leadWidth;
  const width = leadWidth + valueWidth(value, limit, hard);
  return before === null ? width : width + ARROW_WIDTH + valueWidth(before, limit, hard);
}

function valueWidth(value: ShownValue, limit: number, hard: number): number {
  return Math.min(value.width, value.elastic ? limit : hard);
}
