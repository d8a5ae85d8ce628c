// `pgtail slots --watch`: looks again and again, and says how fast the costs grow.

import { setTimeout as delay } from 'node:timers/promises';
import type { CatalogConnection } from '../catalog/catalog-connection.ts';
import { openCatalog } from '../catalog/open-catalog.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { slotsDocument } from '../slots/document.ts';
import { slotsLines } from '../slots/pretty.ts';
import { readSlotsReport, type SlotsReport } from '../slots/report.ts';
import { type SlotsTrend, slotsTrend } from '../slots/trend.ts';
import { unlessAborted } from '../tail/stopping.ts';
import type { Theme } from '../terminal/theme.ts';
import { queryFailure } from '../walsender/server-error.ts';
import { columnsOf, documentText, type Inspection, prettyLayout } from './inspection.ts';
import { openLines, openScreen, type RepeatedOutput } from './repeated-output.ts';

interface Look {
  readonly report: SlotsReport;
  readonly trend: SlotsTrend | undefined;
  /** Of a clock that nobody sets, in ms. */
  readonly at: number;
}

/** Until the user's stop, or until nobody reads any more. `interval` is in ms. */
export async function watchSlots(inspection: Inspection, interval: number): Promise<void> {
  const connecting = openCatalog(inspection.options.connection, { readOnly: true });
  const catalog = await unlessAborted(connecting, inspection.signal);
  if (catalog === null) {
    connecting.then((late) => late.close()).catch(() => {});
    return;
  }
  try {
    await watch(catalog, inspection, interval);
  } finally {
    await catalog.close();
  }
}

async function watch(
  catalog: CatalogConnection,
  inspection: Inspection,
  interval: number,
): Promise<void> {
  const { theme } = await prettyLayout(inspection);
  let look: Look | undefined;
  const redraw = (): void => {
    if (look !== undefined) output.show(shown(look, inspection, theme));
  };
  // what is wrong from the start is an error of its own, not one below an empty picture
  look = await nextLook(catalog, undefined, inspection.signal);
  if (look === undefined) return;
  const output = await opened(inspection, redraw);
  const stop = AbortSignal.any([inspection.signal, output.gone]);
  try {
    while (look !== undefined) {
      output.show(shown(look, inspection, theme));
      await unlessAborted(delay(interval), stop);
      look = stop.aborted ? undefined : await nextLook(catalog, look, stop);
    }
  } finally {
    output.close();
  }
}

async function opened(
  { options, onTerminal }: Inspection,
  redraw: () => void,
): Promise<RepeatedOutput> {
  return onTerminal && options.format === 'pretty' ? openScreen(redraw) : await openLines();
}

/** Undefined: told to stop meanwhile. */
async function nextLook(
  catalog: CatalogConnection,
  before: Look | undefined,
  signal: AbortSignal,
): Promise<Look | undefined> {
  const reading = catalog.run(readSlotsReport);
  const report = await unlessAborted(reading, signal).catch((error: unknown) => {
    throw failureOf(error, before !== undefined);
  });
  if (report === null) return undefined;
  const at = performance.now();
  const trend = before && slotsTrend(before.report, report, (at - before.at) / 1000);
  return { report, trend, at };
}

/** What is lost in the middle is no failed start. */
function failureOf(error: unknown, hasLooked: boolean): PgtailError {
  const failure = error instanceof PgtailError ? error : queryFailure(error);
  if (!hasLooked || !failure.transient) return failure;
  return new PgtailError(EXIT.failure, failure.message, { cause: error });
}

function shown({ report, trend }: Look, { options }: Inspection, theme: Theme): readonly string[] {
  const { format, verbosity } = options;
  if (format === 'json') return [documentText(slotsDocument(report, trend), false).trimEnd()];
  const layout = { theme, columns: columnsOf(true), verbose: verbosity === 'verbose', trend };
  return slotsLines(report, layout);
}
