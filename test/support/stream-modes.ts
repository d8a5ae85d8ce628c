// Every way to ask a server for the same changes, and what must be equal between them.

import type { Streaming } from '../../src/pgoutput/plugin-options.ts';

export interface Mode {
  readonly streaming: Streaming;
  readonly binary: boolean;
  readonly twoPhase: boolean;
}

/** When a server sends a transaction in progress: once it is large, or from its first change on. */
export type Pressure = 'memory' | 'each change';

const NO_YES = [false, true] as const;

/** All that a server of this major version has. */
export function modesOf(major: number): Mode[] {
  const streamings: readonly Streaming[] =
    major >= 16
      ? ['off', 'on', 'parallel', 'buffer']
      : major >= 14
        ? ['off', 'on', 'buffer']
        : ['off'];
  const binaries = major >= 14 ? NO_YES : [false];
  const twoPhases = major >= 15 ? NO_YES : [false];
  return streamings.flatMap((streaming) =>
    binaries.flatMap((binary) => twoPhases.map((twoPhase) => ({ streaming, binary, twoPhase }))),
  );
}

/** `--streaming on --binary --two-phase`: the mode as it is typed. */
export function modeOptions({ streaming, binary, twoPhase }: Mode): string[] {
  return [
    ...(streaming === 'off' ? [] : ['--streaming', streaming]),
    ...(binary ? ['--binary'] : []),
    ...(twoPhase ? ['--two-phase', '--yes'] : []),
  ];
}

export const modeName = (mode: Mode): string => modeOptions(mode).join(' ') || 'no options';

/** The environment that makes a server stream, as PGOPTIONS. */
export function pressed(major: number, pressure: Pressure): Record<string, string> {
  if (major < 13) return {};
  const settings = ['logical_decoding_work_mem=64kB'];
  if (pressure === 'each change' && major >= 16) {
    settings.push('debug_logical_replication_streaming=immediate');
  }
  return { PGOPTIONS: settings.map((setting) => `-c ${setting}`).join(' ') };
}

/** What one mode printed. */
export interface ModeRun {
  readonly mode: Mode;
  readonly stdout: string;
  readonly notices: readonly string[];
}

const sameBut = (run: ModeRun, mode: Partial<Mode>) => (other: ModeRun) =>
  modeName(other.mode) === modeName({ ...run.mode, ...mode });

/** Pairs of outputs that must be the same byte for byte, with what they show of it. */
export function equalOutputs(runs: readonly ModeRun[]): [string, string, string][] {
  const pairs: [string, string, string][] = [];
  const add = (run: ModeRun, mode: Partial<Mode>, shown: (ndjson: string) => string): void => {
    const other = runs.find(sameBut(run, mode));
    if (other === undefined) return;
    const names = `${modeName(run.mode)} as ${modeName(other.mode)}`;
    pairs.push([names, shown(run.stdout), shown(other.stdout)]);
  };
  for (const run of runs) {
    if (run.mode.binary) add(run, { binary: false }, whole);
    if (run.mode.streaming === 'buffer') add(run, { streaming: 'off' }, whole);
    if (run.mode.streaming === 'parallel') add(run, { streaming: 'on' }, withoutAbortPlace);
    if (run.mode.twoPhase && !run.stdout.includes('"gid":')) add(run, { twoPhase: false }, whole);
  }
  return pairs;
}

const ENDS = ['stream_commit', 'stream_prepare'];
const ANNOUNCEMENT = /^\{"op":"(relation|type)"/;

/**
 * What every run must see. How much is seen of a transaction that goes on, or of what was rolled
 * back, is the server's affair: it sends blocks whenever all transactions of the server together
 * take too much memory, and ends one when it happens to look whether its transaction was aborted.
 */
function whole(ndjson: string): string {
  if (!ndjson.includes('"op":"stream_start"')) return ndjson;
  const lines = ndjson.split('\n');
  const varied = variedTransactions(lines);
  if (varied.size === 0) return ndjson;
  const varies = (line: string): boolean => {
    if (ANNOUNCEMENT.test(line)) return true;
    const streamed = /^\{"op":"stream_|"streamed":true/.test(line);
    return streamed && varied.has((JSON.parse(line) as StreamLine).xid);
  };
  return lines.filter((line) => !varies(line)).join('\n');
}

interface StreamLine {
  readonly op: string;
  readonly xid: number;
}

/** Streamed transactions that have no end, or of which a part was rolled back. */
function variedTransactions(lines: readonly string[]): ReadonlySet<number> {
  const open = new Set<number>();
  const aborted = new Set<number>();
  for (const line of lines.filter((each) => each.startsWith('{"op":"stream_'))) {
    const { op, xid } = JSON.parse(line) as StreamLine;
    if (op === 'stream_start') open.add(xid);
    else if (op === 'stream_abort') aborted.add(xid);
    else if (ENDS.includes(op)) open.delete(xid);
  }
  return new Set([...open, ...aborted]);
}

/** Only asked for 'parallel' the server says where a transaction was aborted. */
const withoutAbortPlace = (ndjson: string): string =>
  whole(ndjson).replaceAll(/,"abort_lsn":"[^"]*","abort_time":"[^"]*"/g, '');
