// The lines of a file, as pgtail writes them: headers and small units with the end that is asked for.

import { formatLsn } from '../../../src/lsn.ts';
import { type FileHeader, headerLine } from '../../../src/output/ndjson-file/file-header.ts';

export const ORIGIN = { slot: 'shop', system: '7412963100523871234' } as const;

const TIME = '2026-11-29T20:36:50.055877+00:00';
const GID = 'order-7 "né"';

const line = (fields: object): string => `${JSON.stringify(fields)}\n`;

export function header(afterLsn: bigint, other: Partial<FileHeader> = {}): string {
  return headerLine({ ...ORIGIN, timeline: 1, afterLsn, ...other }).toString();
}

function rowLine(place: object, name: string): string {
  const table = { schema: 'public', table: 'orders' };
  return line({ op: 'insert', ...table, xid: 745, seq: 1, ...place, new: { id: 1, name } });
}

/** A transaction with one row. */
export function transaction(endLsn: bigint, name = 'tea né \u{1F375}'): string {
  const commit = { commit_lsn: formatLsn(endLsn - 8n), commit_time: TIME };
  const { commit_lsn, commit_time } = commit;
  const end = { commit_lsn, end_lsn: formatLsn(endLsn), commit_time };
  return (
    line({ op: 'begin', xid: 745, ...commit }) +
    rowLine({ lsn: formatLsn(endLsn - 16n), ...commit }, name) +
    line({ op: 'commit', xid: 745, ...end, changes: 1 })
  );
}

export function prepared(endLsn: bigint): string {
  const prepare = { gid: GID, prepare_lsn: formatLsn(endLsn - 8n) };
  return (
    line({ op: 'begin_prepare', xid: 746, ...prepare, prepare_time: TIME }) +
    rowLine({ lsn: formatLsn(endLsn - 16n), ...prepare, prepare_time: TIME }, 'tea') +
    line({
      op: 'prepare',
      xid: 746,
      ...prepare,
      end_lsn: formatLsn(endLsn),
      prepare_time: TIME,
      changes: 1,
    })
  );
}

export function commitPrepared(endLsn: bigint): string {
  const lsns = { commit_lsn: formatLsn(endLsn - 8n), end_lsn: formatLsn(endLsn) };
  return line({ op: 'commit_prepared', xid: 746, gid: GID, ...lsns, commit_time: TIME });
}

export function rollbackPrepared(endLsn: bigint, prepareEndLsn: bigint): string {
  return line({
    op: 'rollback_prepared',
    xid: 746,
    gid: GID,
    prepare_end_lsn: formatLsn(prepareEndLsn),
    rollback_end_lsn: formatLsn(endLsn),
    prepare_time: TIME,
    rollback_time: TIME,
  });
}

export function message(lsn: bigint, content = 'hello'): string {
  return line({
    op: 'message',
    lsn: formatLsn(lsn),
    transactional: false,
    prefix: 'app',
    content,
  });
}

/** Stands in a transaction, and ends no unit. */
export function transactionalMessage(lsn: bigint): string {
  const text = { transactional: true, prefix: 'app', content: 'hello' };
  return line({ op: 'message', xid: 745, seq: 1, lsn: formatLsn(lsn), ...text });
}
