// `pgtail slots advance NAME LSN`: moves a slot forward, if whoever asks for it knows what is lost.

import * as z from 'zod/mini';
import { openCatalog } from '../catalog/open-catalog.ts';
import { readServerSummary, type ServerSummary } from '../catalog/server-summary.ts';
import { within } from '../deadline.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { inspectionDocument, serverDocument } from '../findings/document.ts';
import { formatSize } from '../format/quantities.ts';
import { formatLsn, type Lsn } from '../lsn.ts';
import {
  advanceSlot,
  backendPid,
  cancelBackend,
  checkAdvance,
  checkCanAdvance,
} from '../slots/advance-slot.ts';
import { slotsToChange } from '../slots/ready-slots.ts';
import { type Inspection, newInspection, printInspection, withServer } from './inspection.ts';
import { checkedValues, flag, lsn, slotName } from './option-values.ts';
import { canAsk, Questions } from './questions.ts';
import type { RawOptions } from './raw-options.ts';
import { printNotice } from './standard-error.ts';

const advanceOptions = z.object({ name: slotName, lsn, yes: flag });

/** The server reads all that is skipped: no limit to how long that takes. */
const ACCESS = { readOnly: false, queryPatience: 0 };

interface Move {
  readonly server: ServerSummary;
  readonly from: Lsn;
  readonly to: Lsn;
}

export async function runAdvanceCommand(raw: RawOptions, signal: AbortSignal): Promise<void> {
  const { name, lsn: target, yes } = checkedValues(advanceOptions, raw, ['name', 'lsn']);
  const inspection = newInspection(raw, signal);
  let backend: number | undefined;
  const moved = await withServer(inspection, ACCESS, async (query): Promise<Move | null> => {
    const server = await readServerSummary(query);
    backend = await backendPid(query);
    checkCanAdvance(server);
    const [slot] = await slotsToChange(query, server, [name]);
    const from = checkAdvance(slot!, target, server);
    if (!yes && target > from && !(await maySkip(name, from, target, signal))) return null;
    const to = target === from ? from : await advanceSlot(query, server, name, target);
    return { server, from, to };
  });
  if (moved === null) {
    await cancel(inspection, backend);
    if (!inspection.signal.aborted) printNotice(`slot ${name} stays where it is`);
    return;
  }
  const { server, from, to } = moved;
  const skipped = Number(to - from);
  const document = inspectionDocument('slots advance', serverDocument(server), {
    slot: name,
    from: formatLsn(from),
    to: formatLsn(to),
    skipped_bytes: skipped,
  });
  await printInspection(inspection, document, () => [
    `advanced slot ${name}: ${formatLsn(from)} → ${formatLsn(to)}, ${formatSize(skipped)} of WAL skipped`,
  ]);
}

/** How long the user's stop waits for that, in ms. */
const CANCEL_PATIENCE = 1000;

/** A stop in the middle: the server would go on without us. */
async function cancel({ options, signal }: Inspection, backend: number | undefined): Promise<void> {
  if (!signal.aborted || backend === undefined) return;
  const cancelling = openCatalog(options.connection, { readOnly: true }).then(async (catalog) => {
    await catalog.run((query) => cancelBackend(query, backend));
    await catalog.close();
  });
  await within(cancelling, CANCEL_PATIENCE, () => {}).catch(() => {});
}

/** @throws PgtailError (usage) if nobody can be asked */
async function maySkip(name: string, from: Lsn, to: Lsn, signal: AbortSignal): Promise<boolean> {
  const size = formatSize(Number(to - from));
  const what = `${size} of WAL, from ${formatLsn(from)} to ${formatLsn(to)}`;
  if (canAsk()) {
    using questions = new Questions(signal);
    return await questions.confirm(`skip ${what}, which the reader of slot ${name} never sees?`);
  }
  throw new PgtailError(EXIT.usage, `${what}, would be lost for the reader of slot ${name}`, {
    hint: 'add --yes to do it',
  });
}
