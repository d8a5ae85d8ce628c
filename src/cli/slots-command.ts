// `pgtail slots`: looks at every slot of the server, once or again and again.

import * as z from 'zod/mini';
import { isConnectionString } from '../connection/conninfo.ts';
import { EXIT, type ExitCode, PgtailError } from '../errors.ts';
import { slotsDocument } from '../slots/document.ts';
import { slotsLines } from '../slots/pretty.ts';
import { readSlotsReport } from '../slots/report.ts';
import { hasSqlState } from '../walsender/server-error.ts';
import { exitCodeOf, newInspection, printInspection, withServer } from './inspection.ts';
import { checkedValues, secondsFrom } from './option-values.ts';
import type { RawOptions } from './raw-options.ts';

/** As watch(1). */
const DEFAULT_SECONDS = '2';
const SHORTEST_INTERVAL = 0.1;

const watchOption = z.object({
  watch: z.pipe(
    z.transform((value: unknown) => (value === true ? DEFAULT_SECONDS : value)),
    z.optional(secondsFrom(SHORTEST_INTERVAL)),
  ),
});

/** `commands`: what may stand in the place of a database. */
export async function runSlotsCommand(
  raw: RawOptions,
  commands: readonly string[],
  signal: AbortSignal,
): Promise<ExitCode> {
  const { conninfo } = raw;
  return await listSlots(raw, signal).catch((error: unknown) => {
    throw typeof conninfo === 'string' ? orUnknownCommand(error, conninfo, commands) : error;
  });
}

const UNDEFINED_DATABASE = '3D000';

/** A word that is no database of the server was most likely meant as a command. */
function orUnknownCommand(error: unknown, word: string, commands: readonly string[]): unknown {
  const isNoDatabase = error instanceof PgtailError && hasSqlState(error.cause, UNDEFINED_DATABASE);
  if (!isNoDatabase || isConnectionString(word)) return error;
  return new PgtailError(
    EXIT.usage,
    `${JSON.stringify(word)} is neither a command of pgtail slots nor a database: ${error.message}`,
    { hint: `the commands are ${commands.join(', ')}`, cause: error },
  );
}

async function listSlots(raw: RawOptions, signal: AbortSignal): Promise<ExitCode> {
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
