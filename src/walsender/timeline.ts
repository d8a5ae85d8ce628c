// Which server this is, and on which branch of its history: after a promotion WAL goes on on another
// timeline, and what lies behind the point of departure on the old one is no part of it.
// https://www.postgresql.org/docs/current/protocol-replication.html (IDENTIFY_SYSTEM, TIMELINE_HISTORY)

import * as z from 'zod/mini';
import { EXIT, PgtailError } from '../errors.ts';
import { formatLsn, type Lsn, parseLsn } from '../lsn.ts';
import { LONGEST_PAGE_HEADER } from './preflight.ts';
import { queryFailure } from './server-error.ts';
import type { ReplicationSession } from './session.ts';

export interface SystemIdentity {
  /** IDENTIFY_SYSTEM's systemid: the same for a server, its standbys and its file-level copies. */
  readonly system: string;
  readonly timeline: number;
}

const identityRow = z.object({ systemid: z.string(), timeline: z.coerce.number() });
const historyRow = z.object({ content: z.string() });

export async function identifySystem(session: ReplicationSession): Promise<SystemIdentity> {
  const rows = await ask(session, 'IDENTIFY_SYSTEM');
  const { systemid, timeline } = identityRow.parse(rows[0]);
  return { system: systemid, timeline };
}

async function ask(session: ReplicationSession, command: string) {
  const [rows = []] = await session.query(command).catch((error: unknown) => {
    throw queryFailure(error);
  });
  return rows;
}

/**
 * Where a timeline was left for the next one, by the history file of a later one; undefined if
 * that file does not hold it. Each line is `<timeline> <switch point> <reason>`, parted by tabs.
 */
export function switchPoint(history: string, timeline: number): Lsn | undefined {
  for (const line of history.split('\n')) {
    const match = /^\s*(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/i.exec(line);
    if (match !== null && Number(match[1]) === timeline) return parseLsn(match[2]!);
  }
  return undefined;
}

/**
 * Whether `position`, reached on `before`, is a position of the server that `now` speaks of.
 * @throws PgtailError (exit code 6) that says what was printed and is no part of its history.
 */
export async function checkSameHistory(
  session: ReplicationSession,
  before: SystemIdentity,
  now: SystemIdentity,
  position: Lsn,
): Promise<void> {
  if (now.system !== before.system) throw anotherSystem(before, now);
  if (now.timeline === before.timeline) return;
  const history = await readHistory(session, now.timeline);
  const left = switchPoint(history, before.timeline);
  if (left === undefined) throw unrelatedTimeline(before, now);
  if (position > left) throw deadBranch(before, now, left, position);
}

/** @throws PgtailError (exit code 6) if the server's WAL ends before the position. */
export function checkWithinWal(position: Lsn, walEnd: Lsn): void {
  if (position <= walEnd + LONGEST_PAGE_HEADER) return;
  throw new PgtailError(
    EXIT.slot,
    `the server's WAL ends at ${formatLsn(walEnd)}, before ${formatLsn(position)}, up to which was printed already`,
    { hint: 'it was restored from an older state: start anew with a slot of it' },
  );
}

async function readHistory(session: ReplicationSession, timeline: number): Promise<string> {
  if (timeline === 1) return ''; // the first one has none
  const rows = await ask(session, `TIMELINE_HISTORY ${timeline}`);
  return historyRow.parse(rows[0]).content;
}

function anotherSystem(before: SystemIdentity, now: SystemIdentity): PgtailError {
  return new PgtailError(
    EXIT.slot,
    `this is another database system: ${now.system}, and not ${before.system}`,
    { hint: 'nothing of it was read; to follow this server, start anew with a slot of it' },
  );
}

function unrelatedTimeline(before: SystemIdentity, now: SystemIdentity): PgtailError {
  return new PgtailError(
    EXIT.slot,
    `the server is on timeline ${now.timeline}, which does not descend from timeline ${before.timeline}`,
    { hint: 'it was restored or promoted from an older state: start anew with a slot of it' },
  );
}

function deadBranch(
  before: SystemIdentity,
  now: SystemIdentity,
  left: Lsn,
  position: Lsn,
): PgtailError {
  const dead = `what was printed between ${formatLsn(left)} and ${formatLsn(position)}`;
  return new PgtailError(
    EXIT.slot,
    `timeline ${before.timeline} was left at ${formatLsn(left)} for timeline ${now.timeline}: ${dead} is no part of this server's history`,
    {
      hint: 'those changes were lost in the switchover; to go on, start anew with a slot of this server',
    },
  );
}
