// Something about a server that somebody should know: what it is, what comes of it, what mends it.

export type Severity = 'error' | 'warning' | 'info';

export interface FindingSubject {
  readonly kind: 'server' | 'role' | 'publication' | 'table' | 'slot';
  /** Missing for the server, of which there is one. */
  readonly name?: string;
}

export interface Finding {
  /** A stable name in kebab-case, for scripts: `slot-invalidated`. */
  readonly id: string;
  /** error: something fails, or is lost already; warning: it will, if nobody acts. */
  readonly severity: Severity;
  readonly subject: FindingSubject;
  /** One lower-case line each, without a full stop. */
  readonly fact: string;
  readonly consequence: string;
  /**
   * What to run, in this order: SQL statements, shell commands, or one sentence where nothing can
   * be run. An SQL comment says where it is not for everybody.
   */
  readonly fix: readonly string[];
}

/** The fix that follows one which changed a setting, unless the server must be restarted. */
export const RELOAD = 'SELECT pg_reload_conf();';

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info'];

/** Lower is worse. */
export const severityRank = (severity: Severity): number => SEVERITIES.indexOf(severity);

/** Worst first; else in the order given. */
export function worstFirst(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => severityRank(a.severity) - severityRank(b.severity));
}

/** Whether the command that found them ends with exit code 4. */
export function needsAttention(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity !== 'info');
}
