// What needs attention, worst first, and below it in few words what is fine and what cannot be read.

import type { Finding } from '../findings/finding.ts';
import { allFindingLines } from '../findings/pretty.ts';
import { formatCounted } from '../format/quantities.ts';
import type { Theme } from '../terminal/theme.ts';
import { wrapText } from '../terminal/wrap.ts';
import { type Check, quoted, resultOf } from './check.ts';
import type { DoctorReport } from './report.ts';

export interface DoctorLayout {
  readonly theme: Theme;
  /** May be infinite. */
  readonly columns: number;
  /** What is fine comes one on a line. */
  readonly verbose: boolean;
}

/** Lines without their ends. */
export function doctorLines(report: DoctorReport, layout: DoctorLayout): string[] {
  const { findings, checks, unreadable } = report;
  const { theme, columns } = layout;
  const lines = wrapText(heading(report), columns);
  if (findings.length > 0) lines.push('', ...allFindingLines(findings, layout));
  const fine = checks.filter((each) => resultOf(each) === 'ok');
  if (fine.length > 0) lines.push('', ...fineLines(fine, layout));
  if (unreadable.length > 0) {
    lines.push('', ...wrapText(unreadableText(report), columns).map((line) => theme.dim(line)));
  }
  return lines;
}

function heading({ server, request, publications, findings }: DoctorReport): string {
  const kind = server.inRecovery ? ', a standby' : '';
  const what = [
    ...(request.slot === undefined ? [] : [`slot ${quoted(request.slot)}`]),
    ...publications.map((name) => `publication ${quoted(name)}`),
  ];
  const where = `database ${quoted(server.database)} as ${quoted(server.role)}`;
  const found = `PostgreSQL ${server.version}${kind}, ${[where, ...what].join(', ')}`;
  return `${found}: ${verdict(findings)}`;
}

function verdict(findings: readonly Finding[]): string {
  const count = (wanted: Finding['severity']): number =>
    findings.filter(({ severity }) => severity === wanted).length;
  const parts = [
    [count('error'), 'error'],
    [count('warning'), 'warning'],
  ] as const;
  const said = parts.filter(([n]) => n > 0).map(([n, noun]) => formatCounted(n, noun));
  return said.length === 0 ? 'ready to be read' : said.join(', ');
}

const OK = 'ok  ';

function fineLines(fine: readonly Check[], { theme, columns, verbose }: DoctorLayout): string[] {
  const facts = fine.map(({ fact }) => fact);
  const paragraphs = verbose ? facts : [facts.join('; ')];
  return paragraphs.flatMap((text) =>
    wrapText(text, columns - OK.length).map((line, i) =>
      theme.dim((i === 0 ? OK : ' '.repeat(OK.length)) + line),
    ),
  );
}

/** One line for all, each with what would help. */
function unreadableText({ unreadable }: DoctorReport): string {
  const grants = [...new Set(unreadable.flatMap(({ grant }) => grant ?? []))];
  const what = unreadable.map((each) => each.what).join('; ');
  const help = grants.length === 0 ? '' : ` (${grants.join(' ')})`;
  return `cannot be read: ${what}${help}`;
}
