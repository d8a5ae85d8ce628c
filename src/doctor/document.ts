// `pgtail doctor --format json`: see schema.ts for its keys.

import { conclusion, inspectionDocument, serverDocument } from '../findings/document.ts';
import { type Check, resultOf } from './check.ts';
import type { DoctorReport } from './report.ts';

export function doctorDocument(report: DoctorReport) {
  const { request, server, publications, checks, findings, unreadable } = report;
  return inspectionDocument('doctor', serverDocument(server), {
    ...(request.slot !== undefined && { slot: request.slot }),
    publications,
    checks: checks.map(checkDocument),
    ...conclusion(
      findings,
      unreadable.map(({ what }) => what),
    ),
  });
}

function checkDocument(check: Check) {
  const { name, subject, fact } = check;
  return { check: name, subject, result: resultOf(check), fact };
}
