// What happens in the demo's shop: a fixed script of changes, and a live workload without an end.

/** One thing that happens in the shop. */
export interface ShopEvent {
  /** What a person would call it. */
  readonly name: string;
  /** `rollback`: everything it did is undone. `none`: not in a transaction block of its own. */
  readonly ends: 'commit' | 'rollback' | 'none';
  readonly statements: readonly string[];
}

/** The event as one simple query. */
export function eventText(event: ShopEvent): string {
  const body = event.statements.map((statement) => `${statement};`).join('\n');
  if (event.ends === 'none') return body;
  return `BEGIN;\n${body}\n${event.ends.toUpperCase()};`;
}

function committed(name: string, ...statements: string[]): ShopEvent {
  return { name, ends: 'commit', statements };
}

// More than 8 kB: far above the 2 kB where PostgreSQL moves values out of the row.
const TEAPOT_STORY = `repeat('Thrown by hand, glazed twice, fired for nineteen hours. ', 160)`;
const LAMP_STORY = `repeat('Brass arm, linen shade, and a switch that clicks. ', 180)`;

/** The same rows, in the same order, each time: every kind of change once at least. */
export const SHOP_SCRIPT: readonly ShopEvent[] = [
  committed(
    'the first customers register',
    `INSERT INTO shop.customers (id, name, email, phone, newsletter, joined_at) VALUES
       (1, 'Ada Brandt', 'ada@example.com', '+49 30 901820', true, '2026-03-02 09:15:00+00'),
       (2, 'Núria Vidal', 'nuria@example.com', NULL, false, '2026-03-02 09:40:12.5+00'),
       (3, 'Søren Holm', 'soren@example.com', '', true, '2026-03-02 10:03:59.001+00')`,
  ),
  committed(
    'articles are put on the shelf',
    `INSERT INTO shop.articles (id, title, price, tags, attributes, description) VALUES
       (1, 'Teapot "Uji"', 48.00, '{kitchen,ceramic}',
        '{"colour": "celadon", "litres": 0.7, "sizes": [1, 2]}', ${TEAPOT_STORY}),
       (2, 'Desk lamp', 129.90, '{office,"reading light"}',
        '{"watts": 7, "dimmable": true, "maker": {"city": "Aarhus"}}', ${LAMP_STORY}),
       (3, 'Notebook A5', 6.50, '{}', '{}', NULL)`,
    `INSERT INTO shop.stock (id, warehouse, sku, quantity) VALUES
       (1, 'north', 'TEA-UJI', 12), (2, 'north', 'LAMP-D', 4), (3, 'south', 'NOTE-A5', 250)`,
  ),
  {
    name: 'a visitor looks around: inserts are all that this table shows',
    ends: 'none',
    statements: [
      `INSERT INTO shop.page_views (viewed_at, path, referrer, visitor) VALUES
         ('2026-03-02 10:05:00+00', '/articles/1', 'https://example.org/tea', '203.0.113.7')`,
    ],
  },
  committed(
    'carts are filled',
    `INSERT INTO shop.carts (id, customer_id, opened_at) VALUES
       (1, 1, '2026-03-02 10:06:00+00'), (2, 2, '2026-03-02 10:06:30+00')`,
    'INSERT INTO shop.cart_items VALUES (1, 1, 1), (1, 3, 5), (2, 2, 1)',
  ),
  committed(
    'Ada orders',
    `INSERT INTO shop.orders (id, customer_id, status, total, note, ordered_at)
       VALUES (1, 1, 'new', 80.50, NULL, '2026-03-02 10:08:00+00')`,
    'INSERT INTO shop.order_lines VALUES (1, 1, 1, 1, 48.00), (1, 2, 3, 5, 6.50)',
    `UPDATE shop.stock SET quantity = quantity - 1 WHERE sku = 'TEA-UJI'`,
    `UPDATE shop.stock SET quantity = quantity - 5 WHERE sku = 'NOTE-A5'`,
  ),
  committed(
    'Ada pays: with FULL the old values are seen',
    `UPDATE shop.orders SET status = 'paid', paid_at = '2026-03-02 10:09:30+00' WHERE id = 1`,
    `SELECT pg_logical_emit_message(true, 'payments', '{"order": 1, "receipt": "R-1001"}')`,
  ),
  committed(
    'a price falls: the long description is untouched, so it is not sent',
    `UPDATE shop.articles
       SET price = 44.00, attributes = attributes || '{"sale": true}' WHERE id = 1`,
  ),
  committed(
    'a customer corrects her address',
    `UPDATE shop.customers SET email = 'nuria.vidal@example.com', phone = '+34 93 402 7000'
       WHERE id = 2`,
  ),
  committed(
    'a customer gets a new number: the key changes',
    'UPDATE shop.customers SET id = 1003 WHERE id = 3',
  ),
  committed(
    'stock moves to another warehouse: the key of the index changes',
    `UPDATE shop.stock SET warehouse = 'south' WHERE sku = 'LAMP-D'`,
  ),
  {
    name: 'a checkout fails: nothing of it is seen',
    ends: 'rollback',
    statements: [
      `INSERT INTO shop.orders (id, customer_id, status, total) VALUES (2, 2, 'new', 129.90)`,
      `UPDATE shop.stock SET quantity = quantity - 1 WHERE sku = 'LAMP-D'`,
    ],
  },
  {
    name: 'the till says hello, outside of any transaction',
    ends: 'none',
    statements: [`SELECT pg_logical_emit_message(false, 'till', 'opened by Søren')`],
  },
  committed(
    'an order is called off',
    `INSERT INTO shop.orders (id, customer_id, status, total, note, ordered_at)
       VALUES (3, 2, 'new', 129.90, '', '2026-03-02 10:20:00+00')`,
    'INSERT INTO shop.order_lines VALUES (3, 1, 2, 1, 129.90)',
    'DELETE FROM shop.order_lines WHERE order_id = 3',
    'DELETE FROM shop.orders WHERE id = 3',
  ),
  committed(
    'an article is dropped from the range',
    'DELETE FROM shop.articles WHERE id = 3',
    `DELETE FROM shop.stock WHERE sku = 'NOTE-A5'`,
  ),
  committed('the carts are emptied at night', 'TRUNCATE shop.carts RESTART IDENTITY CASCADE'),
];

/** Something that happens again and again; its text is made anew each time. */
interface Habit {
  /** How often, compared with the others. */
  readonly weight: number;
  readonly event: (random: () => number) => ShopEvent;
}

const NAMES = ['Ines Costa', 'Jonas Weber', 'Mei Tan', 'Omar Farouk', 'Zoë Martin', 'Lars Dahl'];
const PATHS = ['/', '/articles/1', '/articles/2', '/search?q=lamp', '/cart', '/about'];
const REASONS = ['card declined', 'out of stock', 'session expired'];
const PICK_CUSTOMER = '(SELECT id FROM shop.customers ORDER BY random() LIMIT 1)';
const PICK_ARTICLE = '(SELECT id FROM shop.articles ORDER BY random() LIMIT 1)';
const LAST_ORDER = '(SELECT max(id) FROM shop.orders)';

const HABITS: readonly Habit[] = [
  { weight: 5, event: viewPage },
  { weight: 4, event: fillCart },
  { weight: 4, event: order },
  { weight: 4, event: pay },
  { weight: 3, event: ship },
  { weight: 2, event: register },
  { weight: 2, event: changePrice },
  { weight: 2, event: restock },
  { weight: 1, event: failCheckout },
  { weight: 1, event: callOff },
  { weight: 1, event: renumberCustomer },
  { weight: 1, event: describeArticle },
  { weight: 1, event: sayHello },
  { weight: 0.5, event: emptyCarts },
];

/** Shop events without an end. They stand on the rows that `SHOP_SCRIPT` leaves behind. */
export function* shopLife(random: () => number): Generator<ShopEvent, never> {
  const total = HABITS.reduce((sum, habit) => sum + habit.weight, 0);
  for (;;) {
    let place = random() * total;
    const habit = HABITS.find(({ weight }) => {
      place -= weight;
      return place < 0;
    });
    yield (habit ?? HABITS[0]!).event(random);
  }
}

function oneOf<T>(choices: readonly T[], random: () => number): T {
  return choices[Math.floor(random() * choices.length)]!;
}

function between(low: number, high: number, random: () => number): number {
  return low + Math.floor(random() * (high - low + 1));
}

function viewPage(random: () => number): ShopEvent {
  return committed(
    'a page is viewed',
    `INSERT INTO shop.page_views (path, referrer, visitor)
       VALUES ('${oneOf(PATHS, random)}', NULL, '203.0.113.${between(1, 254, random)}')`,
  );
}

function register(random: () => number): ShopEvent {
  const name = oneOf(NAMES, random);
  const mail = `${name
    .split(' ')[0]!
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase()}`;
  return committed(
    'a customer registers',
    `INSERT INTO shop.customers (name, email, phone, newsletter) VALUES
       ('${name}', '${mail}${between(10, 99, random)}@example.com', NULL, ${random() < 0.5})`,
  );
}

function fillCart(random: () => number): ShopEvent {
  return committed(
    'a cart is filled',
    `WITH cart AS (INSERT INTO shop.carts (customer_id) VALUES (${PICK_CUSTOMER}) RETURNING id)
       INSERT INTO shop.cart_items SELECT id, ${PICK_ARTICLE}, ${between(1, 4, random)} FROM cart`,
  );
}

function order(random: () => number): ShopEvent {
  const quantity = between(1, 3, random);
  const note = oneOf(['NULL', `''`, `'a gift, please wrap'`, `'ring twice'`], random);
  return committed(
    'somebody orders',
    `WITH article AS (SELECT id, price FROM shop.articles ORDER BY random() LIMIT 1),
          placed AS (INSERT INTO shop.orders (customer_id, total, note)
            SELECT ${PICK_CUSTOMER}, price * ${quantity}, ${note} FROM article RETURNING id)
       INSERT INTO shop.order_lines
         SELECT placed.id, 1, article.id, ${quantity}, article.price FROM placed, article`,
    `UPDATE shop.stock SET quantity = quantity - ${quantity}
       WHERE id = (SELECT id FROM shop.stock ORDER BY random() LIMIT 1)`,
  );
}

function pay(random: () => number): ShopEvent {
  const receipt = `R-${between(2000, 9999, random)}`;
  return committed(
    'an order is paid',
    `UPDATE shop.orders SET status = 'paid', paid_at = now()
       WHERE id = (SELECT min(id) FROM shop.orders WHERE status = 'new')`,
    `SELECT pg_logical_emit_message(true, 'payments', '{"receipt": "${receipt}"}')`,
  );
}

function ship(): ShopEvent {
  return committed(
    'a parcel is sent',
    `UPDATE shop.orders SET status = 'sent'
       WHERE id = (SELECT min(id) FROM shop.orders WHERE status = 'paid')`,
  );
}

function changePrice(random: () => number): ShopEvent {
  return committed(
    'a price changes',
    `UPDATE shop.articles SET price = round(price * ${oneOf([0.9, 0.95, 1.05, 1.1], random)}, 2),
         attributes = attributes || '{"sale": ${random() < 0.5}}'
       WHERE id = ${PICK_ARTICLE}`,
  );
}

function restock(random: () => number): ShopEvent {
  return committed(
    'goods come in',
    `UPDATE shop.stock SET quantity = quantity + ${between(5, 40, random)}
       WHERE id = (SELECT id FROM shop.stock ORDER BY quantity LIMIT 1)`,
  );
}

function failCheckout(random: () => number): ShopEvent {
  return {
    name: 'a checkout fails, and says so in a message that the rollback does not undo',
    ends: 'rollback',
    statements: [
      `INSERT INTO shop.orders (customer_id, total) VALUES (${PICK_CUSTOMER}, 19.00)`,
      `SELECT pg_logical_emit_message(false, 'checkout', '${oneOf(REASONS, random)}')`,
    ],
  };
}

function callOff(): ShopEvent {
  return committed(
    'an order is called off',
    `DELETE FROM shop.order_lines WHERE order_id = ${LAST_ORDER}`,
    `DELETE FROM shop.orders WHERE id = ${LAST_ORDER}`,
  );
}

function renumberCustomer(): ShopEvent {
  return committed(
    'a customer gets a new number',
    `UPDATE shop.customers SET id = nextval(pg_get_serial_sequence('shop.customers', 'id'))
       WHERE id = ${PICK_CUSTOMER}`,
  );
}

function describeArticle(random: () => number): ShopEvent {
  const sentence = oneOf(['Now with a longer cord. ', 'Back by popular demand. '], random);
  return committed(
    'an article gets a new description',
    `UPDATE shop.articles SET description = repeat('${sentence}', 400) WHERE id = ${PICK_ARTICLE}`,
  );
}

function sayHello(random: () => number): ShopEvent {
  return {
    name: 'the till sends a message',
    ends: 'none',
    statements: [
      `SELECT pg_logical_emit_message(false, 'till', 'drawer ${between(1, 3, random)} counted')`,
    ],
  };
}

function emptyCarts(): ShopEvent {
  return committed('the carts are emptied', 'TRUNCATE shop.carts, shop.cart_items');
}
