// Every kind of line, whole, as the documentation shows it.

import { describe, expect, it } from 'vitest';
import { ndjsonLine } from '../../../src/format/ndjson/schema.ts';
import {
  writeBeginPrepare,
  writeCommitPrepared,
  writeDelete,
  writeInsert,
  writeMessage,
  writeOrigin,
  writePrepare,
  writeRelation,
  writeRollbackPrepared,
  writeStreamAbort,
  writeStreamCommit,
  writeStreamPrepare,
  writeStreamStart,
  writeStreamStop,
  writeTruncate,
  writeType,
  writeUpdate,
} from '../../support/pgoutput-writer.ts';
import {
  BEGIN,
  COMMIT,
  COMMIT_LSN,
  changes,
  END_LSN,
  lsn,
  PLACE,
  printed as printedLines,
  TIME,
  table,
  XID,
} from './printed.ts';

const NUMERIC_10_2 = 655_366;
const plainOrders = table('orders', 'default', { 'id*': 20, total: 1700 });
const orders = {
  ...plainOrders,
  columns: plainOrders.columns.map((column) =>
    column.name === 'total' ? { ...column, typmod: NUMERIC_10_2 } : column,
  ),
};
const ORDERS = writeRelation(orders);
const ORDERS_LINE =
  '{"op":"relation","relation_id":16392,"schema":"public","table":"orders","identity":"default",' +
  '"columns":[{"name":"id","type":"bigint","type_id":20,"key":true},' +
  '{"name":"total","type":"numeric(10,2)","type_id":1700,"type_mod":655366}]}';
const BEGIN_LINE =
  '{"op":"begin","xid":745,"commit_lsn":"0/16B3900","commit_time":"2026-11-29T20:36:50.055877+00:00"}';
const TABLE = '"schema":"public","table":"orders"';
const WHERE = `"xid":745,"seq":1,${PLACE}`;
const COMMIT_FIELDS =
  '"commit_lsn":"0/16B3900","end_lsn":"0/16B3930","commit_time":"2026-11-29T20:36:50.055877+00:00"';
const END = { commitLsn: COMMIT_LSN, endLsn: END_LSN, commitTime: TIME };
const PREPARED = {
  prepareLsn: COMMIT_LSN,
  endLsn: END_LSN,
  prepareTime: TIME,
  xid: XID,
  gid: 'order "77"',
};
const PREPARE_TIME = '"prepare_time":"2026-11-29T20:36:50.055877+00:00"';
const INSERT = writeInsert(orders.relationId, ['1', '12.50']);

/** As printed; each line must also fit the schema, with its keys in the same order. */
function printed(...messages: readonly Buffer[]): string[] {
  const lines = printedLines(...messages);
  for (const line of lines) {
    const parsed: unknown = JSON.parse(line);
    expect(Object.keys(ndjsonLine.parse(parsed))).toEqual(Object.keys(parsed as object));
  }
  return lines;
}

describe('a transaction in NDJSON', () => {
  it('is a begin line, the relation, the change and a commit line', () => {
    expect(printed(BEGIN, ORDERS, INSERT, COMMIT)).toEqual([
      BEGIN_LINE,
      ORDERS_LINE,
      `{"op":"insert",${TABLE},${WHERE},"new":{"id":1,"total":12.50}}`,
      `{"op":"commit","xid":745,${COMMIT_FIELDS},"changes":1}`,
    ]);
  });

  it('names its origin behind the begin line', () => {
    const origin = writeOrigin({ originLsn: lsn('AB/CD00'), name: 'node_a' });
    expect(printed(BEGIN, origin, ORDERS, INSERT, COMMIT)[1]).toBe(
      '{"op":"origin","xid":745,"origin":"node_a","origin_lsn":"AB/CD00"}',
    );
  });

  it('names a type before the relation that uses it', () => {
    const type = writeType({ typeId: 16_999, schema: 'public', name: 'mood' });
    const people = table('people', 'default', { mood: 16_999 });
    const lines = printed(BEGIN, type, writeRelation(people), writeInsert(16_392, ['ok']), COMMIT);
    expect(lines.slice(1, 4)).toEqual([
      '{"op":"type","type_id":16999,"schema":"public","name":"mood"}',
      '{"op":"relation","relation_id":16392,"schema":"public","table":"people","identity":"default",' +
        '"columns":[{"name":"mood","type":"public.mood","type_id":16999}]}',
      `{"op":"insert","schema":"public","table":"people",${WHERE},"new":{"mood":"ok"}}`,
    ]);
  });

  it('shows a truncate with its tables and options', () => {
    const truncate = writeTruncate([16_392], { cascade: false, restartIdentity: true });
    expect(changes(orders, truncate)).toEqual([
      `{"op":"truncate","tables":[{${TABLE}}],${WHERE},"cascade":false,"restart_identity":true}`,
    ]);
  });

  it('shows a message inside it', () => {
    const message = writeMessage({ transactional: true, lsn: 5n, prefix: 'app', content: 'hello' });
    expect(printed(BEGIN, message, COMMIT)[1]).toBe(
      `{"op":"message",${WHERE},"transactional":true,"prefix":"app","content":"hello"}`,
    );
  });
});

describe('a non-transactional message in NDJSON', () => {
  const message = (content: string | Uint8Array): Buffer =>
    writeMessage({ transactional: false, lsn: lsn('0/16B3748'), prefix: 'app', content });

  it('stands alone, at its own position', () => {
    expect(printed(message('hello'))).toEqual([
      '{"op":"message","lsn":"0/16B3748","transactional":false,"prefix":"app","content":"hello"}',
    ]);
  });

  it('has base64 for content that is not UTF-8', () => {
    expect(printed(message(Uint8Array.of(0, 255, 128)))).toEqual([
      '{"op":"message","lsn":"0/16B3748","transactional":false,"prefix":"app","content_base64":"AP+A"}',
    ]);
  });

  it('keeps NUL, a byte order mark and what only just is UTF-8', () => {
    const content = '\0\ufeffé\u{1F375}';
    expect(JSON.parse(printed(message(content))[0]!)).toMatchObject({ content });
  });
});

describe('old rows in NDJSON', () => {
  it('are the key of an update under default, taken from the new row if it did not change', () => {
    expect(changes(orders, writeUpdate(16_392, ['1', '13.00']))).toEqual([
      `{"op":"update",${TABLE},${WHERE},"identity":"default","key":{"id":1},"new":{"id":1,"total":13.00}}`,
    ]);
  });

  it('are the whole row with what changed under full', () => {
    const full = table('orders', 'full', { id: 20, total: 1700 });
    const old = { part: 'O', values: ['1', '12.50'] } as const;
    expect(changes(full, writeUpdate(16_392, ['1', '13.00'], old))).toEqual([
      `{"op":"update",${TABLE},${WHERE},"identity":"full","old":{"id":1,"total":12.50},` +
        '"new":{"id":1,"total":13.00},"changed":["total"]}',
    ]);
  });

  it('are the key of a delete', () => {
    const deletion = writeDelete(16_392, { part: 'K', values: ['1', null] });
    expect(changes(orders, deletion)).toEqual([
      `{"op":"delete",${TABLE},${WHERE},"identity":"default","key":{"id":1}}`,
    ]);
  });
});

describe('a prepared transaction in NDJSON', () => {
  const gid = '"gid":"order \\"77\\""';

  it('has its gid and prepare position in the place of the commit', () => {
    const lines = printed(writeBeginPrepare(PREPARED), ORDERS, INSERT, writePrepare(PREPARED));
    expect(lines).toEqual([
      `{"op":"begin_prepare","xid":745,${gid},"prepare_lsn":"0/16B3900",${PREPARE_TIME}}`,
      ORDERS_LINE,
      `{"op":"insert",${TABLE},"xid":745,"seq":1,"lsn":"0/16B3748",${gid},` +
        `"prepare_lsn":"0/16B3900",${PREPARE_TIME},"new":{"id":1,"total":12.50}}`,
      `{"op":"prepare","xid":745,${gid},"prepare_lsn":"0/16B3900","end_lsn":"0/16B3930",` +
        `${PREPARE_TIME},"changes":1}`,
    ]);
  });

  it('ends with commit_prepared or rollback_prepared', () => {
    const rollback = {
      prepareEndLsn: lsn('0/16B3930'),
      rollbackEndLsn: lsn('0/16B3A00'),
      prepareTime: TIME,
      rollbackTime: TIME + 1_000_000n,
      xid: XID,
      gid: PREPARED.gid,
    };
    const commit = writeCommitPrepared({ ...END, xid: XID, gid: PREPARED.gid });
    expect(printed(commit, writeRollbackPrepared(rollback))).toEqual([
      `{"op":"commit_prepared","xid":745,${gid},${COMMIT_FIELDS}}`,
      `{"op":"rollback_prepared","xid":745,${gid},"prepare_end_lsn":"0/16B3930",` +
        `"rollback_end_lsn":"0/16B3A00",${PREPARE_TIME},` +
        '"rollback_time":"2026-11-29T20:36:51.055877+00:00"}',
    ]);
  });
});

describe('a streamed transaction in NDJSON', () => {
  const block = (first: boolean, xid: number): Buffer[] => [
    writeStreamStart({ xid: XID, first }),
    ...(first ? [writeRelation(orders, XID)] : []),
    writeInsert(16_392, ['1', '12.50'], xid),
    writeStreamStop(),
  ];
  const insert = (place: string): string =>
    `{"op":"insert",${TABLE},"xid":745,${place},"lsn":"0/16B3748","streamed":true,` +
    '"new":{"id":1,"total":12.50}}';

  it('is blocks of uncommitted lines with the subtransaction where it differs', () => {
    const commit = writeStreamCommit({ ...END, xid: XID });
    expect(printed(...block(true, XID), ...block(false, 746), commit)).toEqual([
      '{"op":"stream_start","xid":745,"first":true}',
      ORDERS_LINE,
      insert('"seq":1'),
      '{"op":"stream_stop","xid":745}',
      '{"op":"stream_start","xid":745,"first":false}',
      insert('"subxid":746,"seq":2'),
      '{"op":"stream_stop","xid":745}',
      `{"op":"stream_commit","xid":745,${COMMIT_FIELDS},"changes":2}`,
    ]);
  });

  it('is voided in part or as a whole', () => {
    const abort = { lsn: lsn('0/16B3A00'), time: TIME };
    const lines = printed(
      ...block(true, 746),
      writeStreamAbort(XID, 746, abort),
      writeStreamAbort(XID, XID),
    );
    expect(lines.slice(-2)).toEqual([
      '{"op":"stream_abort","xid":745,"subxid":746,"abort_lsn":"0/16B3A00",' +
        '"abort_time":"2026-11-29T20:36:50.055877+00:00"}',
      '{"op":"stream_abort","xid":745,"subxid":745}',
    ]);
  });

  it('can be prepared', () => {
    expect(printed(...block(true, XID), writeStreamPrepare(PREPARED)).at(-1)).toBe(
      '{"op":"stream_prepare","xid":745,"gid":"order \\"77\\"","prepare_lsn":"0/16B3900",' +
        `"end_lsn":"0/16B3930",${PREPARE_TIME},"changes":1}`,
    );
  });
});
