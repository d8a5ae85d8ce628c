// Which slots may be dropped or advanced: none that is missing, being read, or a standby's copy.

import { setTimeout as delay } from 'node:timers/promises';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { readSlots } from './read-slots.ts';
import type { Slot, SlotReader } from './slot.ts';

/** A reader that was just ended may hold its slot for so long, in ms. */
const READER_PATIENCE = 2000;
const RETRY_INTERVAL = 100;

/**
 * In the order of the names.
 * @throws PgtailError for the first that cannot be changed: exit code 6 if it is missing, 5 if it is
 * being read, 4 if only its primary can change it
 */
export async function slotsToChange(
  query: RunQuery,
  server: ServerSummary,
  names: readonly string[],
): Promise<readonly Slot[]> {
  for (let waited = 0; ; waited += RETRY_INTERVAL) {
    const found = await readSlots(query, server, names);
    const slots = names.map((name) => existing(name, found));
    for (const slot of slots) checkNotSynced(slot, server);
    const used = slots.find(({ reader }) => reader !== undefined);
    if (used === undefined) return slots;
    if (waited >= READER_PATIENCE) throw inUse(used, used.reader!);
    await delay(RETRY_INTERVAL);
  }
}

function existing(name: string, found: readonly Slot[]): Slot {
  const slot = found.find((each) => each.name === name);
  if (slot !== undefined) return slot;
  throw new PgtailError(EXIT.slot, `slot ${JSON.stringify(name)} does not exist`, {
    hint: 'pgtail slots lists those that do',
  });
}

/** After a promotion it is a slot like any other. */
function checkNotSynced({ name, synced }: Slot, { inRecovery }: ServerSummary): void {
  if (!synced || !inRecovery) return;
  throw new PgtailError(
    EXIT.notReady,
    `slot ${JSON.stringify(name)} is the copy that this standby keeps of its primary's, and follows it`,
    { hint: 'drop or advance it on the primary: this copy does the same, or goes' },
  );
}

function inUse({ name }: Slot, { pid, application }: SlotReader): PgtailError {
  const who = application === undefined ? '' : ` (${application})`;
  return new PgtailError(
    EXIT.slotInUse,
    `slot ${JSON.stringify(name)} is being read by PID ${pid}${who}`,
    {
      hint: `stop that program, or as a last resort its session: SELECT pg_terminate_backend(${pid});`,
    },
  );
}
