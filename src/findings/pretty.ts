// Findings as people read them: a sign and the fact, and below it what comes of it and what mends it.

import { safeText } from '../terminal/safe-text.ts';
import type { Paint, Theme } from '../terminal/theme.ts';
import { wrapText } from '../terminal/wrap.ts';
import type { Finding, Severity } from './finding.ts';

/** The letter or sign alone tells it, without colour. */
export const SEVERITY_SIGNS: Readonly<Record<Severity, string>> = {
  error: '✗',
  warning: '!',
  info: 'i',
};

export function severityPaint(severity: Severity, theme: Theme): Paint {
  switch (severity) {
    case 'error':
      return theme.error;
    case 'warning':
      return theme.warning;
    case 'info':
      return theme.dim;
  }
}

const INDENT = '    ';
const FIX = 'fix: ';

/** Lines without their ends; `columns` may be infinite. */
export function findingLines(
  finding: Finding,
  { theme, columns }: { readonly theme: Theme; readonly columns: number },
): string[] {
  const { severity, fact, consequence, fix } = finding;
  const sign = severityPaint(severity, theme)(SEVERITY_SIGNS[severity]);
  const [first = '', ...more] = wrapText(fact, columns - 2);
  return [
    `${sign} ${theme.strong(first)}`,
    ...more.map((line) => `  ${theme.strong(line)}`),
    ...wrapText(consequence, columns - INDENT.length).map((line) => INDENT + line),
    ...fix.map((text, i) => fixLine(text, i === 0, theme)),
  ];
}

/** Never broken by us: what a terminal wraps is still copied as one line. */
function fixLine(text: string, isFirst: boolean, theme: Theme): string {
  const label = isFirst ? theme.dim(FIX) : ' '.repeat(FIX.length);
  return `${INDENT}${label}${theme.good(safeText(text))}`;
}

/** All of them, as given. */
export function allFindingLines(
  findings: readonly Finding[],
  layout: { readonly theme: Theme; readonly columns: number },
): string[] {
  return findings.flatMap((finding) => findingLines(finding, layout));
}
