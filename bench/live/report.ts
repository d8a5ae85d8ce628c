// Medians of the runs, and their ratios to two of the consumers.

import type { Run } from '../consumers/runs.ts';
import { median } from '../measure/statistics.ts';
import { textTable } from '../measure/text-table.ts';
import type { ConnectionKind } from '../server/benchmark-server.ts';
import type { ShapeName } from '../server/orders.ts';

/** The medians of one consumer's runs. Seconds and bytes. */
export interface Result {
  readonly connection: ConnectionKind;
  readonly shape: ShapeName;
  readonly consumer: string;
  readonly wall: number;
  /** User and system. */
  readonly cpu: number;
  readonly user: number;
  readonly system: number;
  /** The highest of all runs. */
  readonly peakRss: number;
  readonly serverCpu: number | undefined;
  readonly bytes: number | undefined;
  readonly runs: readonly Run[];
}

/** Of whom the figures are told as ratios. */
export const REFERENCES = ['recvlogical', 'plugin'] as const;

export function resultOf(
  place: Pick<Result, 'connection' | 'shape' | 'consumer'>,
  runs: readonly Run[],
): Result {
  const middle = (value: (run: Run) => number): number => median(runs.map(value));
  const first = runs[0]!;
  return {
    ...place,
    wall: middle((run) => run.wall),
    cpu: middle((run) => run.user + run.system),
    user: middle((run) => run.user),
    system: middle((run) => run.system),
    peakRss: Math.max(...runs.map((run) => run.peakRss)),
    serverCpu: first.serverCpu === undefined ? undefined : middle((run) => run.serverCpu!),
    bytes: first.bytes,
    runs,
  };
}

export interface Ratios {
  readonly wall: number;
  readonly cpu: number;
}

/** To another consumer of the same contest; undefined if that one did not run. */
export function ratiosTo(
  reference: string,
  result: Result,
  results: readonly Result[],
): Ratios | undefined {
  const other = results.find(
    ({ connection, shape, consumer }) =>
      consumer === reference && shape === result.shape && connection === result.connection,
  );
  return other && { wall: result.wall / other.wall, cpu: result.cpu / other.cpu };
}

const HEADING = [
  'consumer',
  ...['wall s', 'CPU s', 'user', 'system', 'RSS MB', 'server CPU s', 'output MB'],
  ...REFERENCES.flatMap((name) => [`wall/${name}`, `CPU/${name}`]),
];

/** The results of one contest. */
export function resultsTable(results: readonly Result[]): string {
  const lines = results.map((result) => [
    result.consumer,
    ...[result.wall, result.cpu, result.user, result.system].map(seconds),
    megabytes(result.peakRss),
    result.serverCpu === undefined ? '' : seconds(result.serverCpu),
    result.bytes === undefined ? '' : megabytes(result.bytes),
    ...REFERENCES.flatMap((name) => ratioCells(ratiosTo(name, result, results))),
  ]);
  return textTable([HEADING, ...lines]);
}

const seconds = (value: number): string => value.toFixed(2);
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);

function ratioCells(ratios: Ratios | undefined): string[] {
  if (ratios === undefined) return ['', ''];
  return [ratios.wall.toFixed(2), ratios.cpu.toFixed(2)];
}
