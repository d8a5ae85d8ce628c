// `pgtail slots drop NAME…`: all are checked before the first is dropped.

import * as z from 'zod/mini';
import { readServerSummary } from '../catalog/server-summary.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { inspectionDocument, serverDocument } from '../findings/document.ts';
import { formatSize } from '../format/quantities.ts';
import { dropSlot } from '../slots/drop-slot.ts';
import { slotsToChange } from '../slots/ready-slots.ts';
import type { Slot } from '../slots/slot.ts';
import { newInspection, printInspection, withServer } from './inspection.ts';
import { checkedValues, flag, slotName } from './option-values.ts';
import { canAsk, Questions } from './questions.ts';
import type { RawOptions } from './raw-options.ts';

const dropOptions = z.object({ name: z.array(slotName), yes: flag });

export async function runDropCommand(raw: RawOptions, signal: AbortSignal): Promise<void> {
  const { name, yes } = checkedValues(dropOptions, raw, ['name']);
  const inspection = newInspection(raw, signal);
  if (!yes && !canAsk()) throw nobodyToAsk();
  const names = [...new Set(name)];
  const done = await withServer(inspection, { readOnly: false }, async (query) => {
    const server = await readServerSummary(query);
    const slots = await slotsToChange(query, server, names);
    const wanted = yes ? slots : await confirmed(slots, signal);
    const dropped: string[] = [];
    try {
      for (const slot of wanted) {
        if (signal.aborted) break;
        await dropSlot(query, server, slot.name);
        dropped.push(slot.name);
      }
      return { server, dropped, failure: undefined };
    } catch (failure) {
      return { server, dropped, failure };
    }
  });
  if (done === null) return;
  const { server, dropped, failure } = done;
  const document = inspectionDocument('slots drop', serverDocument(server), { dropped });
  await printInspection(inspection, document, () =>
    names.map((each) => `${dropped.includes(each) ? 'dropped slot' : 'left slot'} ${each}`),
  );
  if (failure !== undefined) throw failure; // what was done before it is done
}

/** Asked for each, before the first is dropped. */
async function confirmed(slots: readonly Slot[], signal: AbortSignal): Promise<readonly Slot[]> {
  using questions = new Questions(signal);
  const wanted: Slot[] = [];
  for (const slot of slots) {
    if (await questions.confirm(questionOf(slot))) wanted.push(slot);
  }
  return wanted;
}

const nobodyToAsk = (): PgtailError =>
  new PgtailError(EXIT.usage, 'a slot that is dropped is gone, with its place in the WAL', {
    hint: 'add --yes to do it where nobody can be asked',
  });

function questionOf({ name, kind, plugin, database, retained = 0 }: Slot): string {
  const what = kind === 'physical' ? 'physical' : `${plugin} in database ${database}`;
  return `drop slot ${name} (${what}, keeps ${formatSize(retained)} of WAL)?`;
}
