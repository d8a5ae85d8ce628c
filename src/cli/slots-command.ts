// `pgtail slots`: looks at every slot of the server, once or again and again.

import * as z from 'zod/mini';
import type { ExitCode } from '../errors.ts';
import { EXIT } from '../errors.ts';
import { slotsDocument } from '../slots/document.ts';
import { slotsLines } from '../slots/pretty.ts';
import { readSlotsReport } from '../slots/report.ts';
import { exitCodeOf, newInspection, printInspection, withServer } from './inspection.ts';
import { checkedValues, seconds } from './option-values.ts';
import type { RawOptions } from './raw-options.ts';

/** As watch(1). */
const DEFAULT_SECONDS = '2';
/** In ms. */
const SHORTEST_INTERVAL = 100;

const watchOption = z.object({
  watch: z.pipe(
    z.transform((value: unknown) => (value === true ? DEFAULT_SECONDS : value)),
    z.optional(
      seconds.check(
        z.refine((ms) => ms >= SHORTEST_INTERVAL, 'must be a number of seconds, 0.1 or more'),
      ),
    ),
  ),
});

export async function runSlotsCommand(raw: RawOptions, signal: AbortSignal): Promise<ExitCode> {
  const { watch } = checkedValues(watchOption, raw);
  const inspection = newInspection(raw, signal);
  if (watch !== undefined) {
    const { watchSlots } = await import('./slots-watch.ts');
    await watchSlots(inspection, watch);
    return EXIT.ok;
  }
  const report = await withServer(inspection, { readOnly: true }, readSlotsReport);
  if (report === null) return EXIT.ok;
  const verbose = inspection.options.verbosity === 'verbose';
  await printInspection(inspection, slotsDocument(report), (layout) =>
    slotsLines(report, { ...layout, verbose }),
  );
  return exitCodeOf(report.findings);
}
