// A silence and its reasons in words, each with what would end it where there is something.

import { formatCounted, formatDuration, formatSize } from '../format/quantities.ts';
import { formatLsn } from '../lsn.ts';
import { quoteIdentifier } from '../pgoutput/quote-identifier.ts';
import type { OpenWriter, RowCounts } from '../silence/activity.ts';
import type { RowOp, SilenceReason } from '../silence/reasons.ts';
import type { Silence } from '../silence/silence-watch.ts';

/** The lines to print; `publications` are those that are read. */
export function silenceLines(
  { duration, written, reasons }: Silence,
  publications: readonly string[],
): string[] {
  const wrote = written > 0 ? `, while ${formatSize(written)} of WAL were written` : '';
  const head = `nothing has arrived for ${formatDuration(duration)}${wrote}:`;
  return [head, ...reasons.map((reason) => `  ${reasonText(reason, publications)}`)];
}

function reasonText(reason: SilenceReason, publications: readonly string[]): string {
  switch (reason.kind) {
    case 'not logged':
      return `${reason.table}: ${rowsText(reason.rows)}, but it is not in the WAL: the table is UNLOGGED`;
    case 'not published': {
      const [first = ''] = publications;
      const fix = `ALTER PUBLICATION ${quoteIdentifier(first)} ADD TABLE ${reason.table}`;
      return `${reason.table}: ${rowsText(reason.rows)}, but it is not in ${publicationsText(publications)} (${fix})`;
    }
    case 'operation not published':
      return `${reason.table}: ${changesText(reason.count, reason.op)}, but ${publishesText(reason)}`;
    case 'row filter':
      return `${reason.table}: ${rowsText(reason.rows)}, none of which passed the row filter of publication ${JSON.stringify(reason.publication)}: ${reason.filter}`;
    case 'not selected':
      return `${reason.table}: ${rowsText(reason.rows)}, left out by --table or --op`;
    case 'rolled back':
      return `${reason.table}: ${rowsText(reason.rows)}, most likely rolled back`;
    case 'other databases':
      return `${databasesText(reason.databases)}, but a slot sends its own database only`;
    case 'open transaction':
      return writerText(reason.writer);
    case 'decoding':
      return decodingText(reason);
    case 'others not seen':
      return 'a transaction may be open that this role cannot see (GRANT pg_read_all_stats)';
  }
}

function publishesText({
  op,
  publication,
  published,
}: Extract<SilenceReason, { kind: 'operation not published' }>): string {
  const order = ['insert', 'update', 'delete', 'truncate'] as const;
  const all = order.filter((each) => each === op || published.includes(each)).join(', ');
  const fix = `ALTER PUBLICATION ${quoteIdentifier(publication)} SET (publish = '${all}')`;
  return `publication ${JSON.stringify(publication)} does not publish ${op}s (${fix})`;
}

function writerText(writer: OpenWriter): string {
  const age = formatDuration(writer.age * 1000);
  if (writer.kind === 'prepared') {
    return `prepared transaction ${JSON.stringify(writer.gid)}, for ${age}: it is sent when it is committed`;
  }
  const application = writer.application === '' ? '' : ` (${writer.application})`;
  return `PID ${writer.pid}${application} has written in a transaction that is open for ${age}: it is sent when it commits`;
}

function decodingText({
  decoded,
  behind,
  rate,
}: Extract<SilenceReason, { kind: 'decoding' }>): string {
  const left =
    rate > 0 ? `, at ${formatSize(rate)}/s: ${formatDuration((behind / rate) * 1000)}` : '';
  return `the server still reads its WAL at ${formatLsn(decoded)}, with ${formatSize(behind)} to go${left}`;
}

/** A server may have hundreds. */
const MOST_DATABASES = 5;

function databasesText(all: Extract<SilenceReason, { kind: 'other databases' }>['databases']) {
  const named = all
    .slice(0, MOST_DATABASES)
    .map(({ name, changes }) => `${formatCounted(changes, 'row')} in ${JSON.stringify(name)}`);
  const more = all.length - named.length;
  const rest = more === 0 ? '' : ` and more in ${formatCounted(more, 'other')}`;
  return `other databases were written to: ${named.join(', ')}${rest}`;
}

function publicationsText(publications: readonly string[]): string {
  const names = publications.map((name) => JSON.stringify(name)).join(', ');
  return `${publications.length === 1 ? 'publication' : 'publications'} ${names}`;
}

/** `2 inserts, 1 update, perhaps a TRUNCATE` */
function rowsText(rows: RowCounts): string {
  return (['insert', 'update', 'delete', 'truncate'] as const)
    .filter((op) => rows[op] > 0)
    .map((op) => changesText(rows[op], op))
    .join(', ');
}

/** DELETE of all rows and then VACUUM FULL leave the same trace as TRUNCATE. */
const changesText = (count: number, op: RowOp): string =>
  op === 'truncate' ? 'perhaps a TRUNCATE' : formatCounted(count, op);
