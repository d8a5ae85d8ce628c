// Inserts, updates and deletes under every replica identity, as people see them.

import { describe, expect, it } from 'vitest';
import { articles, change, orders, row, screen, stock, TYPES, table, UNCHANGED } from './shop.ts';

const lines = table('shop.order_lines', 'index', {
  'order_id*': TYPES.bigint,
  'line_no*': TYPES.integer,
  quantity: TYPES.integer,
});

describe('an insert', () => {
  it('shows every column, NULL and what looks like it apart', () => {
    const { format, text } = screen();
    for (const note of [null, 'NULL', '', '∅', ' by post ', "it's fine", '‹unchanged›']) {
      format.insert(change(), orders, row('new', ['1001', '7', 'new', '129.90', note]));
    }
    expect(text()).toMatchInlineSnapshot(`
      "· + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ∅
      · + shop.orders  id 1001  customer_id 7  status new  total 129.90  note 'NULL'
      · + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ''
      · + shop.orders  id 1001  customer_id 7  status new  total 129.90  note '∅'
      · + shop.orders  id 1001  customer_id 7  status new  total 129.90  note ' by post '
      · + shop.orders  id 1001  customer_id 7  status new  total 129.90  note it's fine
      · + shop.orders  id 1001  customer_id 7  status new  total 129.90  note '‹unchanged›'
      "
    `);
  });

  it('lines columns up with the rows above', () => {
    const { format, text } = screen();
    format.insert(change(), lines, row('new', ['1001', '1', '10']));
    format.insert(change(), orders, row('new', ['1001', '7', 'cancelled', '9.90', null]));
    format.insert(change(), orders, row('new', ['1002', '31', 'new', '1240.00', null]));
    expect(text()).toMatchInlineSnapshot(`
      "· + shop.order_lines  order_id 1001  line_no 1  quantity 10
      · + shop.orders       id 1001  customer_id 7  status cancelled  total 9.90  note ∅
      · + shop.orders       id 1002  customer_id 31  status new        total 1240.00  note ∅
      "
    `);
  });

  it('shows each kind of value in its own way', () => {
    const customers = table('shop.customers', 'default', {
      'id*': TYPES.uuid,
      newsletter: TYPES.bool,
      prefs: TYPES.jsonb,
      import: TYPES.json,
      avatar: TYPES.bytea,
      icon: TYPES.bytea,
    });
    const { format, text } = screen({ columns: 200 });
    const png = `\\x${'89504e470d0a1a0a'.repeat(260)}`;
    format.insert(
      change(),
      customers,
      row('new', [
        '5b30857f-0bfa-48b5-ac0b-5c64e28078d1',
        't',
        '{"lang": "pt"}',
        '{\n  "by": "csv"\n}',
        png,
        '\\x00ff',
      ]),
    );
    expect(text()).toMatchInlineSnapshot(`
      "· + shop.customers  id 5b30857f-0bfa-48b5-ac0b-5c64e28078d1  newsletter true  prefs {"lang": "pt"}  import { "by": "csv" }  avatar ‹2.0 kB› \\x89504e470d0a1a0a…  icon \\x00ff
      "
    `);
  });

  it('shows the size of binary values', () => {
    const { format, text } = screen();
    const id = Buffer.from([0, 0, 0, 0, 0, 0, 3, 233]);
    format.insert(change(), articles, row('new', [id, 'Espresso cup', null, null]));
    expect(text()).toMatchInlineSnapshot(`
      "· + shop.articles  id ‹binary 8 B›  name Espresso cup  price ∅  body ∅
      "
    `);
  });

  it('cuts a wide value to the rest of the line and says its size', () => {
    const { format, text } = screen({ columns: 80 });
    const body = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit. '.repeat(183);
    format.insert(change(), articles, row('new', ['9', 'Cup', '3.20', body]));
    expect(text()).toMatchInlineSnapshot(`
      "· + shop.articles  id 9  name Cup  price 3.20  body ‹10.2 kB› Lorem ipsum dolor…
      "
    `);
  });

  it('goes on below where there are too many columns', () => {
    const { format, text } = screen({ columns: 60 });
    format.insert(
      change(),
      orders,
      row('new', ['1001', '7', 'new', '129.90', 'leave at the door']),
    );
    expect(text()).toMatchInlineSnapshot(`
      "· + shop.orders  id 1001  customer_id 7  status new
      ·                total 129.90  note leave at the door
      "
    `);
  });

  it('shows a table without columns', () => {
    const { format, text } = screen();
    format.insert(change(), table('shop.ticks', 'default', {}), row('new', []));
    expect(text()).toBe('· + shop.ticks\n');
  });

  it('writes names as SQL would', () => {
    const { format, text } = screen();
    const odd = table('shop.Order Lines', 'default', { 'Order "No"*': TYPES.bigint, größe: 25 });
    format.insert(change(), odd, row('new', ['1', 'XL']));
    expect(text()).toBe('· + shop."Order Lines"  "Order ""No""" 1  größe XL\n');
  });
});

describe('an update', () => {
  it('under FULL shows what identifies the row and what changed', () => {
    const { format, text } = screen();
    format.update(
      change(),
      stock,
      row('new', ['9', 'Berlin', '40', '2026-11-29 20:36:49.1+00']),
      row('old', ['9', 'Berlin', '42', null]),
    );
    expect(text()).toMatchInlineSnapshot(`
      "· ~ shop.stock  article_id 9  warehouse Berlin  quantity 42 → 40  checked_at ∅ → 2026-11-29 20:36:49.1+00
      "
    `);
  });

  it('under FULL takes an unchanged TOAST value for unchanged', () => {
    const { format, text } = screen();
    const posts = table('shop.posts', 'full', { id: TYPES.bigint, title: 25, body: 25 });
    format.update(
      change(),
      posts,
      row('new', ['1', 'Cups', UNCHANGED]),
      row('old', ['1', 'Mugs', 'Lorem ipsum']),
    );
    expect(text()).toBe('· ~ shop.posts  id 1  title Mugs → Cups\n');
  });

  it('under FULL says so if nothing changed', () => {
    const { format, text } = screen();
    const values = ['9', 'Berlin', '42', null];
    format.update(change(), stock, row('new', values), row('old', values));
    expect(text()).toBe('· ~ shop.stock  article_id 9  warehouse Berlin  nothing changed\n');
  });

  it('under DEFAULT shows the new values, and once why there are no old ones', () => {
    const { format, text } = screen();
    format.update(change(), orders, row('new', ['1', '7', 'paid', '9.90', null]), null);
    format.update(change(), orders, row('new', ['2', '7', 'paid', '9.90', null]), null);
    format.delete(change(), orders, row('key', ['3', null, null, null, null]));
    expect(text()).toMatchInlineSnapshot(`
      "· ~ shop.orders  id 1  customer_id 7  status paid  total 9.90  note ∅  old values not sent: REPLICA IDENTITY DEFAULT
      · ~ shop.orders  id 2  customer_id 7  status paid  total 9.90  note ∅
      · - shop.orders  id 3
      "
    `);
  });

  it('shows a TOAST value that was not sent as unchanged, never as NULL', () => {
    const { format, text } = screen({ columns: 60 });
    format.update(change(), articles, row('new', ['9', 'Cup', '3.40', UNCHANGED]), null);
    expect(text()).toMatchInlineSnapshot(`
      "· ~ shop.articles  id 9  name Cup  price 3.40
      ·                  body ‹unchanged›
      ·     old values not sent: REPLICA IDENTITY DEFAULT
      "
    `);
  });

  it('shows the key first, and how it changed', () => {
    const { format, text } = screen();
    const prices = table('shop.prices', 'index', { amount: TYPES.numeric, 'sku*': 25 });
    format.update(change(), prices, row('new', ['3.20', 'CUP-2']), row('key', [null, 'CUP-1']));
    expect(text()).toMatchInlineSnapshot(`
      "· ~ shop.prices  sku CUP-1 → CUP-2  amount 3.20  old values not sent: REPLICA IDENTITY USING INDEX
      "
    `);
  });

  it('takes a TOASTed key column from the key tuple', () => {
    const { format, text } = screen();
    const urls = table('shop.urls', 'default', { 'url*': 25, hits: TYPES.bigint });
    const url = 'https://shop.example/articles/9';
    format.update(change(), urls, row('new', [UNCHANGED, '8']), row('key', [url, null]));
    expect(text()).toContain(`~ shop.urls  url ${url}  hits 8  old values not sent`);
  });

  it('claims no NULL for a FULL table with a partition of another identity', () => {
    const { relationId, columns } = stock;
    const root = { ...stock, relationId: relationId + 1000, columns };
    const { format, text } = screen({ partialRoots: new Set([root.relationId]) });
    format.update(change(), root, row('new', ['9', 'Berlin', '40', null]), null);
    format.delete(change(), root, row('old', ['9', null, null, null]));
    expect(text()).toMatchInlineSnapshot(`
      "· ~ shop.stock  article_id 9  warehouse Berlin  quantity 40  checked_at ∅  old values not sent: a partition is not FULL
      · - shop.stock  article_id 9
      "
    `);
  });
});

describe('a delete', () => {
  it('shows the key alone, and once why', () => {
    const { format, text } = screen();
    format.delete(change(), lines, row('key', ['1001', '1', null]));
    format.delete(change(), lines, row('key', ['1001', '2', null]));
    expect(text()).toMatchInlineSnapshot(`
      "· - shop.order_lines  order_id 1001  line_no 1  key only: REPLICA IDENTITY USING INDEX
      · - shop.order_lines  order_id 1001  line_no 2
      "
    `);
  });

  it('shows the whole row under FULL', () => {
    const { format, text } = screen();
    format.delete(change(), stock, row('old', ['9', 'Berlin', '40', null]));
    expect(text()).toBe(
      '· - shop.stock  article_id 9  warehouse Berlin  quantity 40  checked_at ∅\n',
    );
  });
});

describe('colour', () => {
  it('goes by operation and by kind of value, and by nothing else', () => {
    const { format, text } = screen({ colors: 1 });
    const cells = table('shop.cells', 'full', { id: TYPES.bigint, ok: TYPES.bool, note: 25 });
    format.update(change(), cells, row('new', ['1', 't', 'a\tb']), row('old', ['1', 'f', null]));
    expect(text().replaceAll('\x1b', '␛')).toMatchInlineSnapshot(`
      "␛[2m·␛[22m ␛[33m~␛[39m ␛[1mshop.cells␛[22m  ␛[2mid␛[22m ␛[36m1␛[39m  ␛[2mok␛[22m ␛[35mfalse␛[39m ␛[33m→␛[39m ␛[35mtrue␛[39m  ␛[2mnote␛[22m ␛[2m␛[3m∅␛[23m␛[22m ␛[33m→␛[39m a␛[7m\\t␛[27mb
      "
    `);
  });
});

describe('the width of the terminal', () => {
  it('may change between two lines', () => {
    let columns = 120;
    const { format, text } = screen({ columns: () => columns });
    const values = ['1001', '7', 'new', '129.90', 'leave the parcel at the door'];
    format.insert(change(), orders, row('new', values));
    columns = 60;
    format.insert(change(), orders, row('new', values));
    expect(text()).toMatchInlineSnapshot(`
      "· + shop.orders  id 1001  customer_id 7  status new  total 129.90  note leave the parcel at the door
      · + shop.orders  id 1001  customer_id 7  status new
      ·                total 129.90
      ·                note leave the parcel at the door
      "
    `);
  });

  it('is taken for 80 where nobody knows it', () => {
    const { format, text } = screen({ columns: () => Number.NaN });
    format.insert(change(), articles, row('new', ['9', 'Cup', '3.20', 'x'.repeat(500)]));
    expect(text()).toHaveLength(81);
  });
});
