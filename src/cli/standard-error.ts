// Everything that is not data: lines on standard error that begin with `pgtail: `.

import { EXIT, PgtailError } from '../errors.ts';
import { safeText } from '../terminal/safe-text.ts';
import type { ServerNotice } from '../walsender/session.ts';

/** Whole lines only, and nothing from a server or a file reaches the terminal raw. */
export function printNotice(line: string): void {
  const { stderr } = process;
  // who closes it does not want to be told
  if (stderr.listenerCount('error') === 0) stderr.on('error', () => {});
  stderr.write(`pgtail: ${safeText(line)}\n`);
}

/** As psql shows it: severity and message, then detail and hint on lines of their own. */
export function printServerNotice(notice: ServerNotice): void {
  printNotice(`${notice.severity}:  ${notice.message ?? ''}`);
  printLines('DETAIL', notice.detail);
  printLines('HINT', notice.hint);
}

/** A text may have several lines, such as the end of a server's log. */
function printLines(label: string, text: string | undefined): void {
  if (!text) return;
  for (const line of text.split('\n')) printNotice(`${label}:  ${line}`);
}

/** Prints an error and returns the exit code. A mistake on the command line is one line. */
export function printError(error: unknown): number {
  if (!(error instanceof PgtailError)) return printBug(error);
  if (error.exitCode === EXIT.usage) {
    printNotice(error.hint === undefined ? error.message : `${error.message} (${error.hint})`);
    return error.exitCode;
  }
  printNotice(error.message);
  printLines('DETAIL', error.detail);
  printLines('HINT', error.hint);
  return error.exitCode;
}

/** Not meant to happen. The stack names code, not data; the message could hold either. */
function printBug(error: unknown): number {
  const kind = error instanceof Error ? error.name : typeof error;
  printNotice(`internal error (${kind}): please report it; PGTAIL_DEBUG=1 shows where it happened`);
  if (process.env.PGTAIL_DEBUG) console.error(error);
  return EXIT.failure;
}
