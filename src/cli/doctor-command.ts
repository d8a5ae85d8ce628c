// `pgtail doctor`: looks at everything that a tail with the same options would need.

import * as z from 'zod/mini';
import { doctorDocument } from '../doctor/document.ts';
import type { DoctorRequest } from '../doctor/facts.ts';
import { doctorLines } from '../doctor/pretty.ts';
import { readDoctorReport } from '../doctor/report.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { exitCodeOf, newInspection, printInspection, withServer } from './inspection.ts';
import { checkedValues, publicationNames, slotName, textEncoding } from './option-values.ts';
import type { RawOptions } from './raw-options.ts';

const doctorOptions = z.object({
  slot: z.optional(slotName),
  publication: publicationNames,
  encoding: z.optional(textEncoding),
});

export async function runDoctorCommand(raw: RawOptions, signal: AbortSignal): Promise<ExitCode> {
  const { slot, publication, encoding } = checkedValues(doctorOptions, raw);
  const inspection = newInspection(raw, signal);
  const request: DoctorRequest = {
    connection: inspection.options.connection,
    slot,
    publications: publication,
    encoding: encoding?.name,
  };
  const report = await withServer(inspection, { readOnly: true }, (query) =>
    readDoctorReport(query, request),
  );
  if (report === null) return EXIT.ok;
  const verbose = inspection.options.verbosity === 'verbose';
  await printInspection(inspection, doctorDocument(report), (layout) =>
    doctorLines(report, { ...layout, verbose }),
  );
  return exitCodeOf(report.findings);
}
