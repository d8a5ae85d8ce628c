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
import { outputColumns, outputTheme } from './output-theme.ts';
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

export async function prettyLayout({ options, onTerminal }: Inspection): Promise<Layout> {
  return { theme: await outputTheme(options.color, onTerminal), columns: columnsOf(onTerminal) };
}

/** Infinite where nobody says how wide it is. */
export function columnsOf(onTerminal: boolean): number {
  const columns = outputColumns(onTerminal);
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
