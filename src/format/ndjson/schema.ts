// Every line of NDJSON, version 1, as a schema: for tests and for whoever reads the lines.
// Keys stand in the order of the line. Nothing that runs for a row imports this.

import { z } from 'zod';

const lsn = z.string().regex(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/);
const time = z
  .string()
  .regex(/^-?infinity$|^\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00( BC)?$/);
const uint32 = z.int().min(0).max(0xffff_ffff);
const count = z.int().min(0);
const identity = z.enum(['default', 'index', 'full', 'nothing']);
const flag = z.literal(true);

/** Column names to values, whatever JSON they are. */
const row = z.record(z.string(), z.json());
const names = z.array(z.string());

const column = z.strictObject({
  name: z.string(),
  type: z.string(),
  type_id: uint32,
  type_mod: z.int().min(0).optional(),
  key: flag.optional(),
});

/** A transaction's end, as Begin and every change of it tell it. */
const committed = { commit_lsn: lsn, commit_time: time };
const commitEnd = { commit_lsn: lsn, end_lsn: lsn, commit_time: time };
const prepareEnd = {
  xid: uint32,
  gid: z.string(),
  prepare_lsn: lsn,
  end_lsn: lsn,
  prepare_time: time,
  changes: count,
};

const table = { schema: z.string(), table: z.string() };

/** Where a change stands; exactly one of the three kinds of transaction follows `lsn`. */
const place = {
  xid: uint32,
  subxid: uint32.optional(),
  seq: z.int().min(1),
  lsn,
  commit_lsn: lsn.optional(),
  commit_time: time.optional(),
  gid: z.string().optional(),
  prepare_lsn: lsn.optional(),
  prepare_time: time.optional(),
  streamed: flag.optional(),
};

interface Place {
  readonly subxid?: number | undefined;
  readonly commit_lsn?: string | undefined;
  readonly commit_time?: string | undefined;
  readonly gid?: string | undefined;
  readonly prepare_lsn?: string | undefined;
  readonly prepare_time?: string | undefined;
  readonly streamed?: true | undefined;
}

function hasOnePlace(line: Place): boolean {
  const isCommitted = line.commit_lsn !== undefined && line.commit_time !== undefined;
  const isPrepared =
    line.gid !== undefined && line.prepare_lsn !== undefined && line.prepare_time !== undefined;
  const given = [line.commit_lsn, line.commit_time, line.gid, line.prepare_lsn, line.prepare_time];
  const parts = given.filter((part) => part !== undefined).length;
  if (line.streamed) return parts === 0;
  return line.subxid === undefined && ((isCommitted && parts === 2) || (isPrepared && parts === 3));
}

const begin = z.strictObject({ op: z.literal('begin'), xid: uint32, ...committed });

const relation = z.strictObject({
  op: z.literal('relation'),
  relation_id: uint32,
  ...table,
  identity,
  columns: z.array(column),
});

const insert = z
  .strictObject({ op: z.literal('insert'), ...table, ...place, new: row })
  .refine(hasOnePlace);

const update = z
  .strictObject({
    op: z.literal('update'),
    ...table,
    ...place,
    identity,
    key: row.optional(),
    key_partial: flag.optional(),
    old: row.optional(),
    old_partial: flag.optional(),
    new: row,
    unchanged: names.min(1).optional(),
    changed: names.optional(),
  })
  .refine(hasOnePlace)
  .refine(({ key, old }) => key === undefined || old === undefined)
  .refine(({ old, old_partial, changed }) => {
    return (changed !== undefined) === (old !== undefined && old_partial === undefined);
  });

const deletion = z
  .strictObject({
    op: z.literal('delete'),
    ...table,
    ...place,
    identity,
    key: row.optional(),
    key_partial: flag.optional(),
    old: row.optional(),
    old_partial: flag.optional(),
  })
  .refine(hasOnePlace)
  .refine(({ key, old }) => key === undefined || old === undefined);

const truncate = z
  .strictObject({
    op: z.literal('truncate'),
    tables: z.array(z.strictObject(table)).min(1),
    ...place,
    cascade: z.boolean(),
    restart_identity: z.boolean(),
  })
  .refine(hasOnePlace);

const messageBody = {
  prefix: z.string(),
  content: z.string().optional(),
  content_base64: z.base64().optional(),
};

const hasOneContent = (line: { content?: unknown; content_base64?: unknown }): boolean =>
  (line.content === undefined) !== (line.content_base64 === undefined);

const transactionalMessage = z
  .strictObject({ op: z.literal('message'), ...place, transactional: flag, ...messageBody })
  .refine(hasOnePlace)
  .refine(hasOneContent);

const standaloneMessage = z
  .strictObject({
    op: z.literal('message'),
    lsn,
    transactional: z.literal(false),
    ...messageBody,
  })
  .refine(hasOneContent);

const origin = z.strictObject({
  op: z.literal('origin'),
  xid: uint32,
  origin: z.string(),
  origin_lsn: lsn.optional(),
});

const type = z.strictObject({
  op: z.literal('type'),
  type_id: uint32,
  schema: z.string(),
  name: z.string(),
});

const commit = z.strictObject({
  op: z.literal('commit'),
  xid: uint32,
  ...commitEnd,
  changes: count,
});

const streamStart = z.strictObject({
  op: z.literal('stream_start'),
  xid: uint32,
  first: z.boolean(),
});

const streamStop = z.strictObject({ op: z.literal('stream_stop'), xid: uint32 });

const streamCommit = z.strictObject({
  op: z.literal('stream_commit'),
  xid: uint32,
  ...commitEnd,
  changes: count,
});

const streamAbort = z
  .strictObject({
    op: z.literal('stream_abort'),
    xid: uint32,
    subxid: uint32,
    abort_lsn: lsn.optional(),
    abort_time: time.optional(),
  })
  .refine((line) => (line.abort_lsn === undefined) === (line.abort_time === undefined));

const beginPrepare = z.strictObject({
  op: z.literal('begin_prepare'),
  xid: uint32,
  gid: z.string(),
  prepare_lsn: lsn,
  prepare_time: time,
});

const prepare = z.strictObject({ op: z.literal('prepare'), ...prepareEnd });
const streamPrepare = z.strictObject({ op: z.literal('stream_prepare'), ...prepareEnd });

const commitPrepared = z.strictObject({
  op: z.literal('commit_prepared'),
  xid: uint32,
  gid: z.string(),
  ...commitEnd,
});

const rollbackPrepared = z.strictObject({
  op: z.literal('rollback_prepared'),
  xid: uint32,
  gid: z.string(),
  prepare_end_lsn: lsn,
  rollback_end_lsn: lsn,
  prepare_time: time,
  rollback_time: time,
});

/** After a reconnect: lines printed already that count no more. */
const restart = z.strictObject({
  op: z.literal('restart'),
  after_lsn: lsn.optional(),
  void_xids: z.array(uint32),
});

/** Changes may be missing here. */
const gap = z.strictObject({
  op: z.literal('gap'),
  after_lsn: lsn.optional(),
  resumed_at: lsn,
});

/** The first line of a file. */
const fileHead = z.strictObject({
  op: z.literal('pgtail'),
  version: z.literal(1),
  slot: z.string(),
  system: z.string(),
  timeline: uint32,
  after_lsn: lsn,
});

/** One line of the output, parsed. */
export const ndjsonLine = z.discriminatedUnion('op', [
  begin,
  relation,
  insert,
  update,
  deletion,
  truncate,
  z.discriminatedUnion('transactional', [transactionalMessage, standaloneMessage]),
  origin,
  type,
  commit,
  streamStart,
  streamStop,
  streamCommit,
  streamAbort,
  beginPrepare,
  prepare,
  streamPrepare,
  commitPrepared,
  rollbackPrepared,
  restart,
  gap,
  fileHead,
]);

export type NdjsonLine = z.infer<typeof ndjsonLine>;
