// The slots as a table, and below it what needs attention.

import { worstFirst } from '../findings/finding.ts';
import { allFindingLines, SEVERITY_SIGNS, severityPaint } from '../findings/pretty.ts';
import { formatCount, formatDuration, formatSize } from '../format/quantities.ts';
import { formatLsn } from '../lsn.ts';
import {
  leastTableWidth,
  type TableCell,
  type TableColumn,
  tableLines,
} from '../terminal/table.ts';
import type { Theme } from '../terminal/theme.ts';
import { wrapText } from '../terminal/wrap.ts';
import type { SlotsReport } from './report.ts';
import type { Slot } from './slot.ts';
import type { SlotsTrend } from './trend.ts';

export interface SlotsLayout {
  readonly theme: Theme;
  readonly columns: number;
  readonly verbose: boolean;
  /** What changed since the last look; undefined: this is the first. */
  readonly trend?: SlotsTrend | undefined;
}

export function slotsLines(report: SlotsReport, layout: SlotsLayout): string[] {
  const { slots, findings, unreadable } = report;
  const lines = wrapText(summary(report, layout.trend), layout.columns);
  if (slots.length === 0) return lines;
  const { columns, rows } = fittingTable(report, layout);
  lines.push('', ...tableLines(columns, rows, { width: layout.columns, header: layout.theme.dim }));
  if (findings.length > 0) lines.push('', ...allFindingLines(findings, layout));
  if (unreadable.length > 0) lines.push('', ...wrapText(unreadableText(report), layout.columns));
  return lines;
}

interface SlotTable {
  readonly columns: readonly SlotColumn[];
  readonly rows: readonly (readonly TableCell[])[];
}

/** On a narrow terminal the first of these is missed least. */
const ADDITIONS: readonly string[] = [
  ...['decoded', 'streamed', 'spilled', 'wal_status', 'catalog age', 'xmin age'],
  ...['flags', 'kind'],
];
const FIGURES_AND_STATE: readonly string[] = ['behind', 'left', 'trend', 'state'];

/** Rather than cut texts further than this, additions are left out. */
const READABLE_TEXT = 10;

/** What has no room is left out: the terminal would cut off the right columns, whichever they are. */
function fittingTable(report: SlotsReport, layout: SlotsLayout): SlotTable {
  const all = SLOT_COLUMNS.filter((column) => isWorthIt(column, report, layout));
  const whole = tableOf(all, report, layout);
  const { columns } = layout;
  const readable = narrowed(
    whole,
    ADDITIONS,
    (table) => leastWidth(table, READABLE_TEXT) <= columns,
  );
  return narrowed(readable, FIGURES_AND_STATE, (table) => leastWidth(table) <= columns);
}

const leastWidth = ({ columns, rows }: SlotTable, narrowestText?: number): number =>
  leastTableWidth(columns, rows, narrowestText);

/** Without as many of these columns as it takes until it fits. */
function narrowed(
  table: SlotTable,
  [header, ...others]: readonly string[],
  fits: (table: SlotTable) => boolean,
): SlotTable {
  if (header === undefined || fits(table)) return table;
  return narrowed(without(table, header), others, fits);
}

function without({ columns, rows }: SlotTable, header: string): SlotTable {
  const isKept = (_: unknown, i: number): boolean => columns[i]!.header !== header;
  return { columns: columns.filter(isKept), rows: rows.map((row) => row.filter(isKept)) };
}

const tableOf = (
  columns: readonly SlotColumn[],
  report: SlotsReport,
  layout: SlotsLayout,
): SlotTable => ({
  columns,
  rows: report.slots.map((slot) => columns.map(({ cell }) => cell(slot, report, layout) ?? '')),
});

function summary({ server, settings, slots }: SlotsReport, trend: SlotsTrend | undefined): string {
  const kind = server.inRecovery ? ', a standby' : '';
  const end = server.walEnd === undefined ? '' : `, WAL ends at ${formatLsn(server.walEnd)}`;
  const growth =
    trend?.walPerSecond === undefined
      ? ''
      : ` and grows by ${formatSize(trend.walPerSecond)} per second`;
  const used = `${slots.length} of ${settings.maxReplicationSlots} slots used`;
  const { maxSlotWalKeepSize: limit } = settings;
  const keep = limit === undefined ? '' : `, each may keep ${formatSize(limit)}`;
  return `PostgreSQL ${server.version}${kind}: ${used}${keep}${end}${growth}`;
}

const unreadableText = ({ server, unreadable }: SlotsReport): string =>
  `role ${JSON.stringify(server.role)} may not read ${unreadable.join(', ')} of other roles' sessions: GRANT pg_read_all_stats lets it`;

interface SlotColumn extends TableColumn {
  /** Undefined: empty. */
  readonly cell: (slot: Slot, report: SlotsReport, layout: SlotsLayout) => TableCell | undefined;
  /** Left out where no slot has anything in it. */
  readonly optional?: boolean;
  /** Only with --verbose. */
  readonly verbose?: boolean;
}

const SLOT_COLUMNS: readonly SlotColumn[] = [
  { header: '', cell: sign, optional: true },
  { header: 'slot', cell: ({ name }) => name },
  { header: 'kind', cell: kindText },
  { header: 'flags', cell: flagsText, optional: true },
  { header: 'state', cell: stateText },
  { header: 'keeps', align: 'right', cell: ({ retained }) => size(retained) },
  { header: 'behind', align: 'right', cell: behindText, optional: true },
  { header: 'trend', align: 'right', cell: trendText, optional: true },
  { header: 'left', align: 'right', cell: ({ safeWal }) => size(safeWal), optional: true },
  {
    header: 'xmin age',
    align: 'right',
    cell: ({ xminAge }) => count(xminAge),
    optional: true,
    verbose: true,
  },
  {
    header: 'catalog age',
    align: 'right',
    cell: ({ catalogXminAge }) => count(catalogXminAge),
    optional: true,
    verbose: true,
  },
  { header: 'wal_status', cell: ({ walStatus }) => walStatus, optional: true, verbose: true },
  { header: 'spilled', align: 'right', cell: spilled, optional: true, verbose: true },
  { header: 'streamed', align: 'right', cell: streamed, optional: true, verbose: true },
  { header: 'decoded', align: 'right', cell: decoded, optional: true, verbose: true },
];

function isWorthIt(
  { optional, verbose, cell }: SlotColumn,
  report: SlotsReport,
  layout: SlotsLayout,
): boolean {
  if (verbose && !layout.verbose) return false;
  return !optional || report.slots.some((slot) => cell(slot, report, layout) !== undefined);
}

const size = (bytes: number | undefined): string | undefined =>
  bytes === undefined ? undefined : formatSize(bytes);

const count = (n: number | undefined): string | undefined =>
  n === undefined ? undefined : formatCount(n);

function sign({ name }: Slot, { findings }: SlotsReport, { theme }: SlotsLayout) {
  const [worst] = worstFirst(findings.filter(({ subject }) => subject.name === name));
  if (worst === undefined) return undefined;
  const { severity } = worst;
  return { text: SEVERITY_SIGNS[severity], paint: severityPaint(severity, theme) };
}

function kindText({ kind, plugin, database }: Slot): string {
  return kind === 'physical' ? kind : `${plugin} in ${database}`;
}

function flagsText({ temporary, twoPhase, failover, synced }: Slot): string | undefined {
  const flags = [
    ...(temporary ? ['temporary'] : []),
    ...(twoPhase ? ['two-phase'] : []),
    ...(failover ? ['failover'] : []),
    ...(synced ? ['synced'] : []),
  ];
  return flags.length === 0 ? undefined : flags.join(' ');
}

function stateText(
  { invalidation, reader, inactiveFor }: Slot,
  _report: SlotsReport,
  { theme }: SlotsLayout,
): TableCell {
  if (invalidation !== undefined) {
    return { text: `lost: ${invalidation}`, paint: theme.error };
  }
  if (reader !== undefined) {
    const who = reader.application
      ? `${reader.application} (PID ${reader.pid})`
      : `PID ${reader.pid}`;
    const from = reader.clientAddress === undefined ? '' : ` from ${reader.clientAddress}`;
    return { text: `read by ${who}${from}`, paint: theme.good };
  }
  return inactiveFor === undefined
    ? 'inactive'
    : `inactive for ${formatDuration(inactiveFor * 1000)}`;
}

function behindText({ behind, reader }: Slot): string | undefined {
  if (behind === undefined) return undefined;
  const lag = reader?.flushLag;
  return lag === undefined ? formatSize(behind) : `${formatSize(behind)}, ${formatDuration(lag)}`;
}

function trendText({ name }: Slot, _report: SlotsReport, { trend }: SlotsLayout) {
  const rate = trend?.retainedPerSecond.get(name);
  if (rate === undefined) return undefined;
  if (rate === 0) return '±0';
  return `${rate > 0 ? '+' : '−'}${formatSize(Math.abs(rate))}/s`;
}

/** Undefined: none. */
function amount(bytes: number, transactions: number): string | undefined {
  return transactions === 0 ? undefined : `${formatSize(bytes)} in ${formatCount(transactions)} tx`;
}

function spilled({ counters }: Slot): string | undefined {
  return counters && amount(counters.spillBytes, counters.spillTransactions);
}

function streamed({ counters }: Slot): string | undefined {
  return counters && amount(counters.streamBytes, counters.streamTransactions);
}

function decoded({ counters }: Slot): string | undefined {
  return counters && amount(counters.totalBytes, counters.totalTransactions);
}
