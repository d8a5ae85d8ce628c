// What stands around changes: committed transactions, messages, truncates, schema changes.

import { describe, expect, it } from 'vitest';
import {
  COMMIT,
  COMMIT_TIME,
  change,
  orders,
  row,
  screen,
  TRANSACTION,
  TYPES,
  table,
} from './shop.ts';

const order = row('new', ['1001', '7', 'new', '129.90', null]);
const DAY = 86_400_000_000n;

describe('a transaction', () => {
  it('is a block with time, xid, LSN, changes and lag', () => {
    const { format, text } = screen();
    format.begin(TRANSACTION);
    format.insert(change(), orders, order);
    format.commit(TRANSACTION, COMMIT, 1);
    expect(text()).toMatchInlineSnapshot(`
      "┌ 745  2026-11-29 20:36:50.055 UTC  0/16B3900
      │ + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      └ commit  1 change  12 ms behind
      "
    `);
  });

  it('shows the date only when it is another one', () => {
    const { format, text } = screen();
    for (const day of [0n, 0n, 1n]) {
      format.begin({ ...TRANSACTION, commitTime: COMMIT_TIME + day * DAY } as typeof TRANSACTION);
      format.commit(TRANSACTION, COMMIT, 12_345);
    }
    expect(text()).toMatchInlineSnapshot(`
      "┌ 745  2026-11-29 20:36:50.055 UTC  0/16B3900
      └ commit  12,345 changes  12 ms behind
      ┌ 745  20:36:50.055  0/16B3900
      └ commit  12,345 changes  12 ms behind
      ┌ 745  2026-11-30 20:36:50.055 UTC  0/16B3900
      └ commit  12,345 changes  12 ms behind
      "
    `);
  });

  it.each([
    [0, '  0 ms behind'],
    [3400, '  3.4 s behind'],
    [400_000, '  6 min behind'],
    [6 * 3_600_000, '  6 h behind'],
    [12 * 86_400_000, '  12 days behind'],
    [-200, ''],
  ])('committed %i ms ago ends with "%s"', (behindMs, shown) => {
    const { format, text } = screen({ behindMs });
    format.commit(TRANSACTION, COMMIT, 1);
    expect(text()).toBe(`└ commit  1 change${shown}\n`);
  });

  it('from another server names it and shows no lag, which would be of two clocks', () => {
    const { format, text } = screen();
    format.begin(TRANSACTION);
    format.origin(TRANSACTION, { originLsn: 0xabcd00n, name: 'node_a' });
    format.insert(change(), orders, order);
    format.commit(TRANSACTION, COMMIT, 1);
    format.begin(TRANSACTION);
    format.commit(TRANSACTION, COMMIT, 1);
    expect(text()).toMatchInlineSnapshot(`
      "┌ 745  2026-11-29 20:36:50.055 UTC  0/16B3900
      │ from origin 'node_a'  0/ABCD00
      │ + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      └ commit  1 change
      ┌ 745  20:36:50.055  0/16B3900
      └ commit  1 change  12 ms behind
      "
    `);
  });

  it('that a lost connection cut is closed before the next begins', () => {
    const { format, text } = screen();
    format.begin(TRANSACTION);
    format.insert(change(), orders, order);
    format.begin(TRANSACTION);
    expect(text()).toMatchInlineSnapshot(`
      "┌ 745  2026-11-29 20:36:50.055 UTC  0/16B3900
      │ + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      └ cut off  it comes again from its beginning
      ┌ 745  20:36:50.055  0/16B3900
      "
    `);
  });

  it('shows a commit time beyond every calendar', () => {
    const { format, text } = screen();
    format.begin({ ...TRANSACTION, commitTime: 2n ** 63n - 1n } as typeof TRANSACTION);
    expect(text()).toBe('┌ 745  infinity  0/16B3900\n');
  });
});

describe('a truncate', () => {
  it('names the tables and what it did besides', () => {
    const { format, text } = screen();
    const carts = table('shop.carts', 'default', { 'id*': TYPES.bigint });
    const items = table('shop.cart_items', 'default', { 'id*': TYPES.bigint });
    format.truncate(change(), [carts, items], { cascade: true, restartIdentity: true });
    format.truncate(change(), [carts], { cascade: false, restartIdentity: false });
    expect(text()).toMatchInlineSnapshot(`
      "· ! truncate  shop.carts  shop.cart_items  cascade  restart identity
      · ! truncate  shop.carts
      "
    `);
  });
});

describe('a message', () => {
  const message = { transactional: true, lsn: 0x16b3a00n, prefix: 'shop' };

  it('stands in its transaction', () => {
    const { format, text } = screen();
    format.begin(TRANSACTION);
    format.message(change(), { ...message, content: Buffer.from('import finished\n12 rows') });
    expect(text()).toContain('│ @ message shop  import finished\\n12 rows\n');
  });

  it('that is not transactional stands alone, with its position', () => {
    const { format, text } = screen();
    format.message(null, { ...message, transactional: false, content: Buffer.from('alive') });
    expect(text()).toBe('· @ message shop  alive  outside any transaction  0/16B3A00\n');
  });

  it('that is not text is shown as bytes', () => {
    const { format, text } = screen();
    format.message(change(), { ...message, content: Buffer.from([0xff, 0x00, 0x80]) });
    format.message(change(), { ...message, content: Buffer.alloc(4096, 0xfe) });
    expect(text()).toMatchInlineSnapshot(`
      "· @ message shop  \\xff0080
      · @ message shop  ‹4.0 kB› \\xfefefefefefefefe…
      "
    `);
  });

  it('without prefix and content shows both as empty', () => {
    const { format, text } = screen();
    format.message(change(), { ...message, prefix: '', content: Buffer.alloc(0) });
    expect(text()).toBe("· @ message ''  ''\n");
  });
});

describe('a relation', () => {
  it('is not shown when it is new or as it was', () => {
    const { format, text } = screen();
    format.relation(orders, undefined);
    format.relation({ ...orders }, orders);
    expect(text()).toBe('');
  });

  it('that differs says how', () => {
    const { format, text } = screen();
    const [id, customer, status, total] = orders.columns;
    const columns = [
      id!,
      { ...customer!, name: 'buyer_id' },
      status!,
      { ...total!, typmod: (10 << 16) + 2 + 4 },
      { name: 'coupon', typeId: 1043, typmod: 24, key: false },
    ];
    format.relation({ ...orders, name: 'sales', identity: 'full', columns }, orders);
    expect(text()).toMatchInlineSnapshot(`
      "· * shop.sales  schema changed  renamed from shop.orders  customer_id renamed → buyer_id  total numeric → numeric(10,2)
      ·               + coupon character varying(20)  - note  REPLICA IDENTITY DEFAULT → FULL
      "
    `);
  });

  it('says again what a new identity keeps away', () => {
    const { format, text } = screen();
    const keyed = { ...orders, identity: 'index' as const };
    format.delete(change(), orders, row('key', ['1', null, null, null, null]));
    format.relation(keyed, orders);
    format.delete(change(), keyed, row('key', ['2', null, null, null, null]));
    expect(text()).toMatchInlineSnapshot(`
      "· - shop.orders  id 1  key only: REPLICA IDENTITY DEFAULT
      · * shop.orders  schema changed  REPLICA IDENTITY DEFAULT → INDEX
      · - shop.orders  id 2  key only: REPLICA IDENTITY USING INDEX
      "
    `);
  });
});
