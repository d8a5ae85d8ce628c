// Transactions that are shown while they are in progress, each in its lane, and what became of them.

import { describe, expect, it } from 'vitest';
import type { Transaction } from '../../../src/format/formatter.ts';
import {
  COMMIT,
  COMMIT_TIME,
  change,
  orders,
  PREPARE,
  row,
  type Screen,
  STREAMED,
  screen,
  stock,
  TRANSACTION,
} from './shop.ts';

const order = row('new', ['1001', '7', 'new', '129.90', null]);
const none = { cascade: false, restartIdentity: false };

const streamed = (xid: number): Transaction => ({ kind: 'streamed', xid });
const commitOf = (xid: number) => ({ ...COMMIT, xid });
const abortOf = (xid: number, subxid = xid) => ({ xid, subxid, abort: undefined });

/** One block of a streamed transaction, with so many orders of each subtransaction. */
function block({ format }: Screen, xid: number, rows: Readonly<Record<number, number>>): void {
  const transaction = streamed(xid);
  format.streamStart(transaction, false);
  for (const [subxid, count] of Object.entries(rows)) {
    const at = change(transaction, Number(subxid));
    for (let i = 0; i < count; i++) format.insert(at, orders, order);
  }
  format.streamStop(transaction);
}

describe('a streamed transaction', () => {
  it('has its xids on every line and says at its first block that it is not committed', () => {
    const shown = screen();
    block(shown, 745, { 0: 1, 746: 1 });
    block(shown, 745, { 0: 1 });
    shown.format.streamCommit(STREAMED, commitOf(745), 3);
    expect(shown.text()).toMatchInlineSnapshot(`
      "┊ 745  in progress, not committed yet  like every line with ┊
      ┊ 745 + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ┊ 745/746 + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ┊ 745     + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ─ 745  commit  3 rows stand  12 ms behind  2026-11-29 20:36:50.055 UTC  0/16B3900
      "
    `);
  });

  it('shares the screen with others, each in its colour', () => {
    const shown = screen({ columns: 80 });
    block(shown, 745, { 0: 1 });
    block(shown, 750, { 0: 1, 751: 1 });
    block(shown, 760, { 0: 1 });
    block(shown, 745, { 0: 1 });
    shown.format.streamCommit(streamed(750), commitOf(750), 2);
    block(shown, 760, { 0: 1 });
    shown.format.streamAbort(streamed(760), abortOf(760));
    shown.format.streamCommit(STREAMED, commitOf(745), 2);
    block(shown, 770, { 0: 1 });
    expect(shown.text()).toMatchInlineSnapshot(`
      "┊ 745  in progress, not committed yet  like every line with ┊
      ┊ 745 + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ┊ 750  in progress, not committed yet  like every line with ┊
      ┊ 750 + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ┊ 750/751 + shop.orders  id 1001  customer_id 7  status new  total 129.90
      ┊ 750/751                note ∅
      ┊ 760      in progress, not committed yet  like every line with ┊
      ┊ 760     + shop.orders  id 1001  customer_id 7  status new  total 129.90
      ┊ 760                    note ∅
      ┊ 745     + shop.orders  id 1001  customer_id 7  status new  total 129.90
      ┊ 745                    note ∅
      ─ 750  commit  2 rows stand  12 ms behind  2026-11-29 20:36:50.055 UTC
      ┊ 760     + shop.orders  id 1001  customer_id 7  status new  total 129.90
      ┊ 760                    note ∅
      ─ 760  rollback  none of its 2 rows stand
      ─ 745  commit  2 rows stand  12 ms behind  20:36:50.055  0/16B3900
      ┊ 770  in progress, not committed yet  like every line with ┊
      ┊ 770 + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      "
    `);
  });

  it('keeps its colour to the end, and no other has it as long as there are enough', () => {
    const shown = screen({ colors: 1 });
    block(shown, 745, { 0: 1 });
    block(shown, 750, { 0: 1 });
    block(shown, 745, { 746: 1 });
    shown.format.streamAbort(STREAMED, abortOf(745, 746));
    shown.format.streamAbort(streamed(750), abortOf(750));
    shown.format.streamCommit(STREAMED, commitOf(745), 2);
    expect(shown.text().replaceAll('\x1b', '^')).toMatchInlineSnapshot(`
      "^[36m┊ 745^[39m ^[33m in progress, not committed yet^[39m^[2m  like every line with ┊^[22m
      ^[36m┊ 745^[39m ^[32m+^[39m ^[1mshop.orders^[22m  ^[2m^[4mid^[24m^[22m ^[36m1001^[39m  ^[2mcustomer_id^[22m ^[36m7^[39m  ^[2mstatus^[22m new  ^[2mtotal^[22m ^[36m129.90^[39m  ^[2mnote^[22m ^[2m^[3m∅^[23m^[22m
      ^[35m┊ 750^[39m ^[33m in progress, not committed yet^[39m^[2m  like every line with ┊^[22m
      ^[35m┊ 750^[39m ^[32m+^[39m ^[1mshop.orders^[22m  ^[2m^[4mid^[24m^[22m ^[36m1001^[39m  ^[2mcustomer_id^[22m ^[36m7^[39m  ^[2mstatus^[22m new  ^[2mtotal^[22m ^[36m129.90^[39m  ^[2mnote^[22m ^[2m^[3m∅^[23m^[22m
      ^[36m┊ 745/746^[39m ^[32m+^[39m ^[1mshop.orders^[22m  ^[2m^[4mid^[24m^[22m ^[36m1001^[39m  ^[2mcustomer_id^[22m ^[36m7^[39m  ^[2mstatus^[22m new  ^[2mtotal^[22m ^[36m129.90^[39m  ^[2mnote^[22m ^[2m^[3m∅^[23m^[22m
      ^[36m┊ 745/746^[39m ^[31m rollback^[39m  ^[9m1 row of 746 above^[29m does not stand
      ^[35m─ 750^[39m  ^[31mrollback^[39m  ^[9m1 row above^[29m does not stand
      ^[36m─ 745^[39m  ^[32mcommit^[39m  1 row stands^[31m, 1 taken back by rollback of 746^[39m^[2m  12 ms behind^[22m  2026-11-29 20:36:50.055 UTC^[2m  0/16B3900^[22m
      "
    `);
  });

  it('is headed at its first line even if a block before had none to show', () => {
    const { format, text } = screen();
    format.streamStart(STREAMED, false);
    expect(text()).toContain('in progress, not committed yet');
  });

  it('leaves a table that changes in it to the whole transaction', () => {
    const { format, text } = screen();
    format.streamStart(STREAMED, true);
    format.insert(change(STREAMED, 746), orders, order);
    format.relation({ ...orders, identity: 'full' }, orders);
    format.insert(change(STREAMED, 746), orders, order);
    expect(text()).toMatchInlineSnapshot(`
      "┊ 745  in progress, not committed yet  like every line with ┊
      ┊ 745/746 + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ┊ 745     * shop.orders  schema changed  REPLICA IDENTITY DEFAULT → FULL
      ┊ 745/746 + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      "
    `);
  });

  it('from another server shows no lag', () => {
    const { format, text } = screen();
    format.streamStart(STREAMED, true);
    format.origin(STREAMED, { originLsn: 0xabcd00n, name: 'node_a' });
    format.insert(change(STREAMED), orders, order);
    format.streamCommit(STREAMED, commitOf(745), 1);
    expect(text()).toMatchInlineSnapshot(`
      "┊ 745  in progress, not committed yet  like every line with ┊
      ┊ 745 from origin 'node_a'  0/ABCD00
      ┊ 745 + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ─ 745  commit  1 row stands  2026-11-29 20:36:50.055 UTC  0/16B3900
      "
    `);
  });
});

describe('a rollback', () => {
  it('of a subtransaction names it and the rows it takes back, and the commit sums up', () => {
    const shown = screen();
    block(shown, 789, { 0: 900, 790: 900 });
    shown.format.streamAbort(streamed(789), abortOf(789, 790));
    block(shown, 789, { 0: 1 });
    shown.format.streamCommit(streamed(789), commitOf(789), 1801);
    expect(shown.text().split('\n').slice(-4).join('\n')).toMatchInlineSnapshot(`
      "┊ 789/790  rollback  900 rows of 790 above do not stand
      ┊ 789     + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ─ 789  commit  901 rows stand, 900 taken back by rollback of 790  12 ms behind  2026-11-29 20:36:50.055 UTC  0/16B3900
      "
    `);
  });

  it('of nested subtransactions comes once for each, silently if it showed nothing', () => {
    const shown = screen();
    block(shown, 789, { 0: 2, 790: 3, 791: 1, 792: 2 });
    shown.text();
    for (const subxid of [793, 792, 791]) {
      shown.format.streamAbort(streamed(789), abortOf(789, subxid));
    }
    shown.format.streamCommit(streamed(789), commitOf(789), 8);
    expect(shown.text()).toMatchInlineSnapshot(`
      "┊ 789/792  rollback  2 rows of 792 above do not stand
      ┊ 789/791  rollback  1 row of 791 above does not stand
      ─ 789  commit  5 rows stand, 3 taken back by 2 rollbacks  12 ms behind  2026-11-29 20:36:50.055 UTC  0/16B3900
      "
    `);
  });

  it('of everything says that no row stands', () => {
    const shown = screen();
    block(shown, 789, { 0: 1000, 790: 148 });
    block(shown, 795, { 0: 1 });
    shown.format.streamAbort(streamed(789), abortOf(789, 790));
    shown.text();
    shown.format.streamAbort(streamed(789), abortOf(789));
    shown.format.streamAbort(streamed(795), abortOf(795));
    expect(shown.text()).toMatchInlineSnapshot(`
      "─ 789  rollback  none of its 1,148 rows stand
      ─ 795  rollback  1 row above does not stand
      "
    `);
  });

  it('says when and where it happened if the server tells', () => {
    const shown = screen();
    block(shown, 789, { 790: 2 });
    shown.text();
    const abort = { lsn: 0x16b3a00n, time: COMMIT_TIME };
    shown.format.streamAbort(streamed(789), { xid: 789, subxid: 790, abort });
    shown.format.streamAbort(streamed(789), { xid: 789, subxid: 789, abort });
    expect(shown.text()).toMatchInlineSnapshot(`
      "┊ 789/790  rollback  2 rows of 790 above do not stand  2026-11-29 20:36:50.055 UTC  0/16B3A00
      ─ 789  rollback  none of its 2 rows stand  20:36:50.055  0/16B3A00
      "
    `);
  });

  it('of a truncate or a message does not speak of rows', () => {
    const { format, text } = screen();
    const message = { transactional: true, lsn: 1n, prefix: 'shop', content: Buffer.from('hi') };
    format.streamStart(STREAMED, true);
    format.message(change(STREAMED, 746), message);
    format.insert(change(STREAMED, 747), orders, order);
    format.truncate(change(STREAMED, 747), [stock], none);
    text();
    format.streamAbort(STREAMED, abortOf(745, 747));
    format.streamAbort(STREAMED, abortOf(745, 746));
    format.streamCommit(STREAMED, commitOf(745), 1);
    expect(text()).toMatchInlineSnapshot(`
      "┊ 745/747  rollback  2 changes of 747 above do not stand
      ┊ 745/746  rollback  lines of 746 above do not stand
      ─ 745  commit  0 changes stand, 2 taken back by rollback of 747  12 ms behind  2026-11-29 20:36:50.055 UTC  0/16B3900
      "
    `);
  });

  it('of one of very many subtransactions may have forgotten the number of its rows', () => {
    const shown = screen();
    const subxids = Array.from({ length: 20_001 }, (_, i) => 790 + i);
    block(shown, 789, Object.fromEntries(subxids.map((subxid) => [subxid, 1])));
    shown.text();
    shown.format.streamAbort(streamed(789), abortOf(789, 790));
    shown.format.streamAbort(streamed(789), abortOf(789, 10_789));
    shown.format.streamAbort(streamed(789), abortOf(789, 10_790));
    shown.format.streamAbort(streamed(789), abortOf(789, 20_000));
    shown.format.streamAbort(streamed(789), abortOf(789, 30_000));
    shown.format.streamCommit(streamed(789), commitOf(789), 20_001);
    expect(shown.text()).toMatchInlineSnapshot(`
      "┊ 789/790    rollback  rows of 790 above do not stand
      ┊ 789/10789  rollback  rows of 10789 above do not stand
      ┊ 789/10790  rollback  1 row of 10790 above does not stand
      ┊ 789/20000  rollback  1 row of 20000 above does not stand
      ─ 789  commit  at most 19,999 rows stand, others taken back by 4 rollbacks  12 ms behind  2026-11-29 20:36:50.055 UTC
      "
    `);
  });
});

describe('the end of a streamed transaction', () => {
  it('keeps the numbers and lets the time go where the line is narrow', () => {
    const shown = screen({ columns: 64 });
    block(shown, 789, { 0: 9, 790: 4 });
    shown.format.streamAbort(streamed(789), abortOf(789, 790));
    shown.text();
    shown.format.streamCommit(streamed(789), commitOf(789), 13);
    block(shown, 795, { 0: 1 });
    shown.format.streamCommit(streamed(795), commitOf(795), 1);
    expect(shown.text()).toMatchInlineSnapshot(`
      "─ 789  commit  9 rows stand, 4 taken back by rollback of 790
      ┊ 795  in progress, not committed yet  like every line with ┊
      ┊ 795 + shop.orders  id 1001  customer_id 7  status new
      ┊ 795                total 129.90  note ∅
      ─ 795  commit  1 row stands  12 ms behind  0/16B3900
      "
    `);
  });

  it('may be a prepare', () => {
    const shown = screen();
    block(shown, 745, { 0: 3, 746: 2 });
    shown.format.streamAbort(STREAMED, abortOf(745, 746));
    shown.text();
    shown.format.streamPrepare(STREAMED, PREPARE, 5);
    shown.format.commitPrepared({ ...commitOf(745), gid: 'order-77' });
    expect(shown.text()).toMatchInlineSnapshot(`
      "─ 745  prepared 'order-77', not committed yet  3 rows, 2 taken back by rollback of 746  2026-11-29 20:36:50.055 UTC
      ─ 745  commit prepared 'order-77'  3 rows stand  12 ms behind  20:36:50.055  0/16B3900
      "
    `);
  });
});

describe('a prepared transaction', () => {
  const prepared = {
    kind: 'prepared',
    xid: 745,
    gid: 'order-77',
    prepareLsn: PREPARE.prepareLsn,
    prepareTime: COMMIT_TIME,
  } as const;
  const rollback = {
    prepareEndLsn: 0x16b3930n,
    rollbackEndLsn: 0x16b4000n,
    prepareTime: COMMIT_TIME,
    rollbackTime: COMMIT_TIME,
    xid: 745,
    gid: 'order-77',
  };

  function prepare({ format }: Screen, rows: number): void {
    format.beginPrepare(prepared, PREPARE);
    for (let i = 0; i < rows; i++) format.insert(change(prepared), orders, order);
    format.prepare(prepared, PREPARE, rows);
  }

  it('says that it is not committed yet, and later how many rows stand', () => {
    const shown = screen();
    prepare(shown, 2);
    shown.format.commitPrepared({ ...commitOf(745), gid: 'order-77' });
    expect(shown.text()).toMatchInlineSnapshot(`
      "┌ 745  2026-11-29 20:36:50.055 UTC  0/16B3900  prepared 'order-77'
      ┊ + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ┊ + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      └ prepared, not committed yet  2 changes
      ─ 745  commit prepared 'order-77'  2 rows stand  12 ms behind  20:36:50.055  0/16B3900
      "
    `);
  });

  it('that is rolled back says how many rows do not', () => {
    const shown = screen();
    prepare(shown, 2);
    shown.text();
    shown.format.rollbackPrepared(rollback);
    expect(shown.text()).toMatchInlineSnapshot(`
      "─ 745  rollback prepared 'order-77'  2 rows above do not stand  20:36:50.055  0/16B4000
      "
    `);
  });

  it('of which nothing was shown is only named', () => {
    const { format, text } = screen();
    format.commitPrepared({ ...commitOf(745), gid: 'order-77' });
    format.rollbackPrepared({ ...rollback, gid: "it's mine" });
    expect(text()).toMatchInlineSnapshot(`
      "─ 745  commit prepared 'order-77'  rows not shown here  2026-11-29 20:36:50.055 UTC  0/16B3900
      ─ 745  rollback prepared 'it''s mine'  rows not shown here  20:36:50.055  0/16B4000
      "
    `);
  });

  it('is not taken for a later one of the same name', () => {
    const shown = screen();
    prepare(shown, 2);
    shown.text();
    shown.format.commitPrepared({ ...commitOf(800), gid: 'order-77' });
    expect(shown.text()).toContain("800  commit prepared 'order-77'  rows not shown here");
  });

  it('shows a schema change and an origin in its block', () => {
    const shown = screen({ columns: 80 });
    shown.format.beginPrepare(prepared, PREPARE);
    shown.format.origin(prepared, { originLsn: 0xabcd00n, name: 'node_a' });
    shown.format.relation({ ...orders, identity: 'full' }, orders);
    shown.format.insert(change(prepared), orders, order);
    shown.format.prepare(prepared, PREPARE, 1);
    shown.format.commitPrepared({ ...commitOf(745), gid: 'order-77' });
    expect(shown.text()).toMatchInlineSnapshot(`
      "┌ 745  2026-11-29 20:36:50.055 UTC  0/16B3900  prepared 'order-77'
      ┊ from origin 'node_a'  0/ABCD00
      ┊ * shop.orders  schema changed  REPLICA IDENTITY DEFAULT → FULL
      ┊ + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      └ prepared, not committed yet  1 change
      ─ 745  commit prepared 'order-77'  1 row stands  20:36:50.055  0/16B3900
      "
    `);
  });
});

describe('a restart', () => {
  it('says where the stream begins anew and what is void', () => {
    const shown = screen();
    block(shown, 745, { 0: 1 });
    block(shown, 750, { 751: 1 });
    shown.format.restart(0x16b3930n, [745, 750]);
    block(shown, 745, { 0: 1 });
    shown.format.streamCommit(STREAMED, commitOf(745), 1);
    expect(shown.text()).toMatchInlineSnapshot(`
      "┊ 745  in progress, not committed yet  like every line with ┊
      ┊ 745 + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ┊ 750  in progress, not committed yet  like every line with ┊
      ┊ 750/751 + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ─ restart behind 0/16B3930  the stream begins anew
        void above: lines of 745, 750  whatever commits comes again
      ┊ 745  in progress, not committed yet  like every line with ┊
      ┊ 745 + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      ─ 745  commit  1 row stands  12 ms behind  2026-11-29 20:36:50.055 UTC  0/16B3900
      "
    `);
  });

  it('closes an open block, and leaves prepared transactions as they are', () => {
    const shown = screen();
    const prepared = { ...TRANSACTION, kind: 'prepared', gid: 'order-77' } as const;
    const { prepareLsn, prepareTime } = PREPARE;
    const transaction = { ...prepared, prepareLsn, prepareTime };
    shown.format.beginPrepare(transaction, PREPARE);
    shown.format.insert(change(transaction), orders, order);
    shown.format.prepare(transaction, PREPARE, 1);
    shown.format.begin(TRANSACTION);
    shown.text();
    shown.format.restart(undefined, [745]);
    shown.format.commitPrepared({ ...commitOf(745), gid: 'order-77' });
    expect(shown.text()).toMatchInlineSnapshot(`
      "└ cut off  it comes again from its beginning
      ─ restart  the stream begins anew
        void above: lines of 745  whatever commits comes again
      ─ 745  commit prepared 'order-77'  1 row stands  12 ms behind  20:36:50.055  0/16B3900
      "
    `);
  });

  it('names as many transactions as fit', () => {
    const { format, text } = screen({ columns: 60 });
    const xids = Array.from({ length: 20 }, (_, i) => 4_294_967_200 + i);
    format.restart(0x16b3930n, xids);
    format.restart(undefined, []);
    expect(text()).toMatchInlineSnapshot(`
      "─ restart behind 0/16B3930  the stream begins anew
        void above: lines of 4294967200, 4294967201 and 18 more
      ─ restart  the stream begins anew
      "
    `);
  });

  it('forgets what it counted', () => {
    const shown = screen();
    block(shown, 745, { 0: 5, 746: 2 });
    shown.format.restart(0x16b3930n, [745]);
    block(shown, 745, { 0: 1 });
    shown.text();
    shown.format.streamAbort(STREAMED, abortOf(745, 746));
    shown.format.streamCommit(STREAMED, commitOf(745), 1);
    expect(shown.text()).toContain('─ 745  commit  1 row stands  12 ms behind');
  });
});
