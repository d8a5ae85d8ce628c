// `pgtail slots create NAME`: makes a slot, and says where it begins.

import * as z from 'zod/mini';
import { readServerSummary, type ServerSummary } from '../catalog/server-summary.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { inspectionDocument, serverDocument } from '../findings/document.ts';
import { formatLsn, type Lsn } from '../lsn.ts';
import { checkCanCreate, createSlot, type WantedSlot } from '../slots/create-slot.ts';
import { unlessCancelled } from '../tail/cancelling.ts';
import { unlessAborted } from '../tail/stopping.ts';
import { safeText } from '../terminal/safe-text.ts';
import { readPreflight } from '../walsender/preflight.ts';
import { ReplicationSession } from '../walsender/session.ts';
import { type Inspection, newInspection, printInspection } from './inspection.ts';
import { checkedValues, flag, matching, slotName } from './option-values.ts';
import type { RawOptions } from './raw-options.ts';
import { tellSlotWaits } from './slot-waits.ts';
import { printServerNotice } from './standard-error.ts';

const createOptions = z.object({
  name: slotName,
  plugin: z._default(
    matching(/^[\w-]{1,63}$/, 'a plugin is the name of a library, such as pgoutput or wal2json'),
    'pgoutput',
  ),
  twoPhase: flag,
  failover: flag,
  temporary: z.optional(
    z.literal('no', 'must be no: a temporary slot would be gone when this command ends'),
  ),
});

export async function runCreateCommand(raw: RawOptions, signal: AbortSignal): Promise<void> {
  const { name, plugin, twoPhase, failover } = checkedValues(createOptions, raw, ['name']);
  const inspection = newInspection(raw, signal);
  const connecting = ReplicationSession.connect(inspection.options.connection, (notice) => {
    if (inspection.options.verbosity !== 'quiet') printServerNotice(notice);
  });
  const session = await unlessAborted(connecting, signal);
  if (session === null) {
    connecting.then((late) => late.destroy()).catch(() => {});
    return;
  }
  try {
    const creating = create(session, { name, plugin, twoPhase, failover }, inspection);
    creating.catch(() => {}); // a stop does not wait for it
    const created = await unlessCancelled(session, creating, signal);
    if (created === null) throw new PgtailError(EXIT.failure, `stopped: slot ${name} was not made`);
    await printCreated(created, inspection);
  } finally {
    session.destroy();
  }
}

interface Created {
  readonly wanted: WantedSlot;
  readonly server: ServerSummary;
  readonly consistentPoint: Lsn;
}

async function create(
  session: ReplicationSession,
  wanted: WantedSlot,
  { options }: Inspection,
): Promise<Created> {
  const found = await readPreflight(session, wanted.name, []);
  checkCanCreate(wanted, found);
  const server = await readServerSummary((sql) => session.query(sql));
  const onSlotWaits = tellSlotWaits(options.verbosity);
  const consistentPoint = await createSlot(session, wanted, onSlotWaits);
  return { wanted, server, consistentPoint };
}

async function printCreated(
  { wanted, server, consistentPoint }: Created,
  inspection: Inspection,
): Promise<void> {
  const { name, plugin, twoPhase, failover } = wanted;
  const { database } = server;
  const point = formatLsn(consistentPoint);
  const slot = { name, plugin, database, two_phase: twoPhase, failover, consistent_point: point };
  const document = inspectionDocument('slots create', serverDocument(server), { slot });
  const flags = [...(twoPhase ? [', two-phase'] : []), ...(failover ? [', failover'] : [])].join(
    '',
  );
  await printInspection(inspection, document, () => [
    safeText(
      `created slot ${name} (${plugin} in database ${database}${flags}): it reads what is committed after ${point}`,
    ),
  ]);
}
