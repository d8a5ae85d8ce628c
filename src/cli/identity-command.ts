// `pgtail identity`: looks at tables and publications, and with --what-if tries FULL on copies.

import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { readServerSummary } from '../catalog/server-summary.ts';
import { EXIT, type ExitCode, PgtailError } from '../errors.ts';
import { identityDocument } from '../identity/document.ts';
import { identityLines } from '../identity/pretty.ts';
import {
  HOW_QUOTES_COUNT,
  type MeasurePrices,
  mistakesQuotes,
  readIdentities,
} from '../identity/report.ts';
import { measureFullPrices } from '../identity/what-if.ts';
import { exitCodeOf, newInspection, printInspection, withServer } from './inspection.ts';
import { checkedValues, flag, listOf, publicationNames, tablePattern } from './option-values.ts';
import type { RawOptions } from './raw-options.ts';
import { printNotice } from './standard-error.ts';

const identityOptions = z.object({
  table: listOf(tablePattern),
  publication: publicationNames,
  whatIf: flag,
});

export async function runIdentityCommand(raw: RawOptions, signal: AbortSignal): Promise<ExitCode> {
  const { table, publication, whatIf } = checkedValues(identityOptions, raw, ['table']);
  if (whatIf && table.length === 0) throw whatIfNeedsTables();
  const inspection = newInspection(raw, signal);
  const texts = raw.table as readonly string[]; // just checked
  const scope = {
    publications: publication,
    tables: table.map((pattern, i) => ({ pattern, text: texts[i]! })),
  };
  const report = await withServer(inspection, { readOnly: !whatIf }, async (query) => {
    const server = await readServerSummary(query);
    const measure: MeasurePrices = (tables) => measureFullPrices(query, server, tables, copyName());
    return await readIdentities(query, server, scope, whatIf ? measure : undefined);
  });
  if (report === null) return EXIT.ok;
  const details = table.length > 0 || inspection.options.verbosity === 'verbose';
  await printInspection(inspection, identityDocument(report), (layout) =>
    identityLines(report, { ...layout, details }),
  );
  if (report.notFound.length === 0) return exitCodeOf(report.findings);
  for (const text of report.notFound) printNotice(notFoundText(text));
  return EXIT.notReady;
}

function notFoundText(pattern: string): string {
  const why = mistakesQuotes(pattern) ? `: ${HOW_QUOTES_COUNT}` : '';
  return `no table is ${JSON.stringify(pattern)}${why}`;
}

/** Nobody else uses such a name, at whatever moment. */
const copyName = (): string => `pgtail_what_if_${randomBytes(8).toString('hex')}`;

const whatIfNeedsTables = (): PgtailError =>
  new PgtailError(EXIT.usage, '--what-if needs tables', {
    hint: 'name those whose rows it may copy, as in pgtail identity --what-if orders',
  });
