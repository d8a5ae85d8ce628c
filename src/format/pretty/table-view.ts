// What the formatter keeps for each table: its labels, made once, and how wide its values were.

import type { Relation } from '../../pgoutput/relation.ts';
import { fitText } from '../../terminal/safe-text.ts';
import type { Paint, Theme } from '../../terminal/theme.ts';
import { identifier, qualifiedName } from './identifier.ts';
import type { ShownValue } from './value.ts';
import type { ValueKind } from './value-kind.ts';

/** Wider values do not push the columns after them to the right for ever. */
const WIDEST_PAD = 24;

/** The widest begin of a line: `┊ 4294967295/4294967295 `, with both xids of a streamed change. */
const WIDEST_GUTTER = 24;

export interface ColumnView {
  /** The name and a space, safe and in colour. */
  readonly lead: string;
  readonly leadWidth: number;
  readonly kind: ValueKind;
  /** Grows with what is shown. */
  pad: number;
}

export interface TableView {
  readonly relation: Relation;
  readonly columns: readonly ColumnView[];
  /** The positions of the columns that identify a row, then of all others. */
  readonly keys: readonly number[];
  readonly others: readonly number[];
  readonly name: string;
  readonly nameWidth: number;
  /** The terminal's width that the labels were cut for. */
  readonly width: number;
}

/**
 * The labels for a terminal of `width` columns; pads are taken over from the view before. `kindOf`
 * says how values of a type are shown.
 */
export function tableView(
  relation: Relation,
  width: number,
  theme: Theme,
  kindOf: (typeId: number) => ValueKind,
  previous?: TableView,
): TableView {
  const name = label(qualifiedName(relation), longestName(width), theme.strong, theme);
  const pads = new Map(
    previous?.relation.columns.map((c, i) => [c.name, previous.columns[i]?.pad]),
  );
  const isKey = keyTest(relation);
  const columns = relation.columns.map((column, position) => {
    const paint = isKey(position) ? theme.key : theme.dim;
    const lead = label(identifier(column.name), longestLabel(width), paint, theme);
    return {
      lead: `${lead.text} `,
      leadWidth: lead.width + 1,
      kind: kindOf(column.typeId),
      pad: pads.get(column.name) ?? 0,
    };
  });
  const positions = [...columns.keys()];
  return {
    relation,
    columns,
    keys: positions.filter(isKey),
    others: positions.filter((position) => !isKey(position)),
    name: name.text,
    nameWidth: name.width,
    width,
  };
}

/** Remembers how wide a value was. */
export function learnWidth(column: ColumnView, value: ShownValue): void {
  if (value.width > column.pad && value.width <= WIDEST_PAD) column.pad = value.width;
}

/** A name, safe and in its colour, with `…` where it was cut. */
export function label(text: string, columns: number, paint: Paint, theme: Theme): Label {
  const whole = fitText(text, columns, theme.escape);
  if (whole.whole) return { text: paint(whole.text), width: whole.width };
  const cut = fitText(text, columns - 1, theme.escape);
  return { text: paint(`${cut.text}…`), width: cut.width + 1 };
}

export interface Label {
  readonly text: string;
  readonly width: number;
}

/** Under FULL every column is flagged as key, which identifies nothing to a person. */
function keyTest({ identity, columns }: Relation): (position: number) => boolean {
  if (identity === 'full') return () => false;
  return (position) => columns[position]!.key;
}

function longestLabel(width: number): number {
  return Math.max(8, (width - WIDEST_GUTTER) >> 1);
}

/** Tables with longer names begin their columns further right than the others. */
export function alignedNameWidth(width: number): number {
  return Math.min(Math.max(width >> 2, 18), 32, longestName(width));
}

function longestName(width: number): number {
  return Math.min(Math.floor(width * 0.4), width - WIDEST_GUTTER - 4);
}
