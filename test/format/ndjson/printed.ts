// From messages as a server writes them to the lines printed for them.

import { parseLsn } from '../../../src/lsn.ts';
import type { ReplicaIdentity } from '../../../src/pgoutput/relation.ts';
import { timestampFromUnixMs } from '../../../src/wire/timestamp.ts';
import { replay } from '../../fixtures/replay.ts';
import {
  type WireColumn,
  type WireRelation,
  writeBegin,
  writeCommit,
  writeRelation,
} from '../../support/pgoutput-writer.ts';

export const ROW_LSN = 0x16b3748n;
export const COMMIT_LSN = 0x16b3900n;
export const END_LSN = 0x16b3930n;
/** 2026-11-29 20:36:50.055877 */
export const TIME = timestampFromUnixMs(Date.UTC(2026, 10, 29, 20, 36, 50, 55)) + 877n;
export const XID = 745;

export const BEGIN = writeBegin({ commitLsn: COMMIT_LSN, commitTime: TIME, xid: XID });
export const COMMIT = writeCommit({ commitLsn: COMMIT_LSN, endLsn: END_LSN, commitTime: TIME });

/** What stands in each change of that transaction behind its seq. */
export const PLACE =
  '"lsn":"0/16B3748","commit_lsn":"0/16B3900","commit_time":"2026-11-29T20:36:50.055877+00:00"';

/** All that is printed for these messages, each of which stands at `0/16B3748`. */
export function printed(...messages: readonly Buffer[]): string[] {
  const frames = messages.map((payload) => ({ walStart: ROW_LSN, payload }));
  return replay(frames, 'ndjson').split('\n').slice(0, -1);
}

/** The lines of one transaction, without begin, relation and commit. */
export function changes(relation: WireRelation, ...messages: readonly Buffer[]): string[] {
  return printed(BEGIN, writeRelation(relation), ...messages, COMMIT).slice(2, -1);
}

const LETTERS = { default: 'd', nothing: 'n', full: 'f', index: 'i' } as const;

/** `table('orders', 'default', { 'id*': 20 })`: a `*` marks the replica identity's columns. */
export function table(
  name: string,
  identity: ReplicaIdentity,
  columns: Readonly<Record<string, number>>,
): WireRelation {
  return {
    relationId: 16_392,
    schema: 'public',
    name,
    identity: LETTERS[identity],
    columns: Object.entries(columns).map(([column, typeId]): WireColumn => {
      const key = identity === 'full' || column.endsWith('*');
      return { name: column.replace(/\*$/, ''), typeId, typmod: -1, key };
    }),
  };
}

/** The value of one key of a line, as it stands there. */
export function part(line: string | undefined, name: string): unknown {
  return (JSON.parse(line ?? '') as Record<string, unknown>)[name];
}

export const lsn = (text: string): bigint => parseLsn(text)!;
