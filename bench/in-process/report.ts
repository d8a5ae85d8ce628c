// Figures of each shape of rows, and what must be reached.

import { median } from '../measure/statistics.ts';
import { textTable } from '../measure/text-table.ts';

/** One contestant's figures for one shape of rows. */
export interface Figure {
  readonly shape: string;
  readonly contestant: string;
  readonly nsPerRow: number;
  readonly rowsPerSecond: number;
  /** Of what the server sent. */
  readonly megabytesPerSecond: number;
}

export const REFERENCES = ['plugin', 'objects'] as const;
export type Reference = (typeof REFERENCES)[number];

/** How many times as long as ndjson the references must take at least: the median of the shapes. */
export const REQUIRED: Readonly<Record<Reference, number>> = { plugin: 6, objects: 3 };

/** Undefined if one of the two was not measured. */
export function ratio(
  figures: readonly Figure[],
  shape: string,
  slower: string,
  faster: string,
): number | undefined {
  const time = (name: string): number | undefined =>
    figures.find((each) => each.shape === shape && each.contestant === name)?.nsPerRow;
  const [long, short] = [time(slower), time(faster)];
  return long === undefined || short === undefined ? undefined : long / short;
}

/** For each shape that has it. */
export function ratiosToNdjson(figures: readonly Figure[], reference: Reference): number[] {
  const shapes = [...new Set(figures.map(({ shape }) => shape))];
  const all = shapes.map((shape) => ratio(figures, shape, reference, 'ndjson'));
  return all.filter((each) => each !== undefined);
}

export function figuresTable(figures: readonly Figure[]): string {
  const lines = figures.map((figure) => {
    const { shape, contestant, nsPerRow, rowsPerSecond, megabytesPerSecond } = figure;
    const times = (reference: string): string =>
      timesText(ratio(figures, shape, reference, contestant));
    return [
      `${shape} ${contestant}`,
      nsPerRow.toFixed(0),
      rowsPerSecond.toFixed(0),
      megabytesPerSecond.toFixed(0),
      ...REFERENCES.map(times),
    ];
  });
  const heading = ['shape and contestant', 'ns/row', 'rows/s', 'MB/s', ...REFERENCES.map(vs)];
  return textTable([heading, ...lines]);
}

const vs = (reference: string): string => `x ${reference}`;
const timesText = (times: number | undefined): string =>
  times === undefined ? '' : times.toFixed(2);

/** One line for each reference: what ndjson reached, and whether that is enough. */
export function verdicts(figures: readonly Figure[]): { passed: boolean; text: string }[] {
  return REFERENCES.flatMap((reference) => {
    const ratios = ratiosToNdjson(figures, reference);
    if (ratios.length === 0) return [];
    const [middle, least] = [median(ratios), Math.min(...ratios)];
    const passed = middle >= REQUIRED[reference];
    const word = passed ? 'reaches' : 'does not reach';
    const text = `ndjson is ${middle.toFixed(2)} times as fast as ${reference} (median of the shapes; least ${least.toFixed(2)}): ${word} ${REQUIRED[reference]}\n`;
    return [{ passed, text }];
  });
}
