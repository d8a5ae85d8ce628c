// What every inspection command does around its own work: connects, prints one document or a text for
// people, and decides between exit code 0 and 4.

import type { RunQuery } from '../catalog/catalog-connection.ts';
import { type CatalogAccess, openCatalog } from '../catalog/open-catalog.ts';
import { EXIT, type ExitCode, PgtailError } from '../errors.ts';
import { type Finding, needsAttention } from '../findings/finding.ts';
import { standardOutputKind } from '../output/standard-output.ts';
import { unlessAborted } from '../tail/stopping.ts';
import type { Theme } from '../terminal/theme.ts';
import { queryFailure } from '../walsender/server-error.ts';
import { type InspectionOptions, inspectionOptions } from './inspection-options.ts';
import { thisMachine } from './machine.ts';
import { printDocument } from './print-document.ts';
import type { RawOptions } from './raw-options.ts';

export interface Inspection {
  readonly options: InspectionOptions;
  /** The user's stop. */
  readonly signal: AbortSignal;
  readonly onTerminal: boolean;
}

/** @throws PgtailError (usage) */
export function newInspection(raw: RawOptions, signal: AbortSignal): Inspection {
  const onTerminal = standardOutputKind() === 'terminal';
  return { options: inspectionOptions(raw, thisMachine(), onTerminal), signal, onTerminal };
}

/**
 * Connects, works, and closes the connection. Null: told to stop meanwhile.
 * @throws PgtailError, also for what the server says to a query
 */
export async function withServer<T>(
  { options, signal }: Inspection,
  access: CatalogAccess,
  work: (query: RunQuery) => Promise<T>,
): Promise<T | null> {
  const opening = openCatalog(options.connection, access);
  const catalog = await unlessAborted(opening, signal);
  if (catalog === null) {
    opening.then((late) => late.close()).catch(() => {});
    return null;
  }
  try {
    return await unlessAborted(catalog.run(work), signal);
  } catch (error) {
    throw error instanceof PgtailError ? error : queryFailure(error);
  } finally {
    await catalog.close();
  }
}

export interface Layout {
  readonly theme: Theme;
  /** Infinite where nobody says how wide it is. */
  readonly columns: number;
}

/** Chalk is loaded only for those who want colours and lines. */
export async function prettyLayout({ options, onTerminal }: Inspection): Promise<Layout> {
  const [{ createTheme }, { decideColorLevel }] = await Promise.all([
    import('../terminal/theme.ts'),
    import('../terminal/color.ts'),
  ]);
  const { color: flag } = options;
  const level = decideColorLevel({ flag, env: process.env, isTTY: onTerminal });
  return { theme: createTheme(level), columns: outputColumns(onTerminal) };
}

/** COLUMNS counts where there is no terminal to ask, as in psql. */
export function outputColumns(onTerminal: boolean): number {
  const columns = (onTerminal ? process.stdout.columns : undefined) ?? Number(process.env.COLUMNS);
  return columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** A document for scripts, or lines for people. */
export async function printInspection(
  inspection: Inspection,
  document: object,
  lines: (layout: Layout) => readonly string[],
): Promise<void> {
  const { options, onTerminal, signal } = inspection;
  const text =
    options.format === 'json'
      ? documentText(document, onTerminal)
      : lines(await prettyLayout(inspection))
          .map((line) => `${line}\n`)
          .join('');
  await printDocument(text, signal);
}

/** One line for scripts, several for whoever reads it on a terminal. */
export function documentText(document: object, onTerminal: boolean): string {
  return `${JSON.stringify(document, null, onTerminal ? 2 : undefined)}\n`;
}

/** That something needs attention is a result, not an error: it is printed, and then said again. */
export const exitCodeOf = (findings: readonly Finding[]): ExitCode =>
  needsAttention(findings) ? EXIT.notReady : EXIT.ok;
