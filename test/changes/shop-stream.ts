// Messages of a small shop: two tables, and transactions that are told by what stands in them.

import {
  type WireRelation,
  writeBegin,
  writeBeginPrepare,
  writeCommit,
  writeDelete,
  writeInsert,
  writeMessage,
  writePrepare,
  writeRelation,
  writeTruncate,
  writeUpdate,
} from '../support/pgoutput-writer.ts';

export const TIME = 848_608_610_055_877n;

const shopTable = (relationId: number, name: string): WireRelation => ({
  relationId,
  schema: 'shop',
  name,
  identity: 'd',
  columns: [
    { name: 'id', typeId: 20, typmod: -1, key: true },
    { name: 'note', typeId: 25, typmod: -1, key: false },
  ],
});

export const orders = shopTable(16_385, 'orders');
export const audit = shopTable(16_392, 'audit_log');
export const ORDERS = writeRelation(orders);
export const AUDIT = writeRelation(audit);

export const insert = ({ relationId }: WireRelation, id = 1, xid = 0): Buffer =>
  writeInsert(relationId, [String(id), 'tea'], xid);
export const update = ({ relationId }: WireRelation, id = 1, xid = 0): Buffer =>
  writeUpdate(relationId, [String(id), 'green tea'], null, xid);
export const remove = ({ relationId }: WireRelation, id = 1, xid = 0): Buffer =>
  writeDelete(relationId, { part: 'K', values: [String(id), null] }, xid);
export const truncate = (...relations: readonly WireRelation[]): Buffer =>
  writeTruncate(
    relations.map(({ relationId }) => relationId),
    { cascade: false, restartIdentity: false },
  );
export const message = (transactional: boolean, lsn = 0x500n, xid = 0): Buffer =>
  writeMessage({ transactional, lsn, prefix: 'app', content: 'hello' }, xid);

/** A transaction whose commit record stands at `commitLsn` and is 0x30 bytes long. */
export const transaction = (commitLsn: bigint, ...messages: readonly Buffer[]): Buffer[] => [
  writeBegin({ commitLsn, commitTime: TIME, xid: Number(commitLsn) }),
  ...messages,
  writeCommit({ commitLsn, endLsn: commitLsn + 0x30n, commitTime: TIME }),
];

export const prepared = (lsn: bigint, gid: string) => ({
  prepareLsn: lsn,
  endLsn: lsn + 0x30n,
  prepareTime: TIME,
  xid: Number(lsn),
  gid,
});

export const preparedTransaction = (
  lsn: bigint,
  gid: string,
  ...messages: readonly Buffer[]
): Buffer[] => [
  writeBeginPrepare(prepared(lsn, gid)),
  ...messages,
  writePrepare(prepared(lsn, gid)),
];
