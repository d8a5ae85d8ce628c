// The rows that formatting is measured with.

export interface RowShape {
  readonly name: string;
  readonly title: string;
  /** Makes the table bench.NAME and, for updates, its rows. */
  readonly setup: readonly string[];
  /** One statement: its changes are recorded. */
  readonly change: string;
}

/** Plain text from a few words, other ones for each row: quotes and line breaks now and then. */
const TEXT = (length: number): string => `
  (SELECT left(string_agg((ARRAY['the', 'order', 'was', 'packed', 'by', 'hand', 'and', 'sent',
     'over', 'night', 'to', '"customer"', 'without', 'delay', E'again\\n', 'carefully'])
     [1 + abs(hashint8(id * 10007 + word)) % 16], ' ' ORDER BY word), ${length})
   FROM generate_series(1, ${length / 4}) AS word)`;

const WIDE_COLUMNS = `
  id bigint PRIMARY KEY, customer int, status text, total numeric(12,2), paid boolean,
  placed_at timestamptz, due date, token uuid, details jsonb, weight float8`;

const WIDE_ROW = `
  id, (id * 7919 % 100000)::int, (ARRAY['new', 'paid', 'sent', 'returned'])[1 + id % 4],
  round(id * 12.37, 2), id % 2 = 0,
  '2026-01-01 08:00:00.123456+00'::timestamptz + id * interval '7 minutes 3 milliseconds',
  '2026-02-01'::date + id::int % 300, md5(id::text)::uuid,
  jsonb_build_object('lines', id % 9, 'gift', id % 3 = 0, 'voucher', 'V-' || id), id / 7.0`;

export const ROW_SHAPES: readonly RowShape[] = [
  {
    name: 'narrow',
    title: 'inserts of 2 columns',
    setup: ['CREATE TABLE bench.narrow (id int PRIMARY KEY, name text)'],
    change: `INSERT INTO bench.narrow SELECT id, 'customer ' || id FROM generate_series(1, 600) AS id`,
  },
  {
    name: 'wide',
    title: 'inserts of 10 columns of mixed types',
    setup: [`CREATE TABLE bench.wide (${WIDE_COLUMNS})`],
    change: `INSERT INTO bench.wide SELECT ${WIDE_ROW} FROM generate_series(1::bigint, 300) AS id`,
  },
  {
    name: 'full',
    title: 'updates under REPLICA IDENTITY FULL',
    setup: [
      `CREATE TABLE bench.full (${WIDE_COLUMNS})`,
      'ALTER TABLE bench.full REPLICA IDENTITY FULL',
      `INSERT INTO bench.full SELECT ${WIDE_ROW} FROM generate_series(1::bigint, 200) AS id`,
    ],
    change: `UPDATE bench.full SET status = 'sent again', total = total + 1, details = NULL`,
  },
  {
    name: 'toast',
    title: 'updates that leave a TOAST value unchanged',
    setup: [
      'CREATE TABLE bench.toast (id int PRIMARY KEY, status text, changed_at timestamptz, body text)',
      'ALTER TABLE bench.toast ALTER body SET STORAGE EXTERNAL',
      `INSERT INTO bench.toast SELECT id, 'new', '2026-01-01 08:00+00', repeat('body ', 1000)
         FROM generate_series(1, 400) AS id`,
    ],
    change: `UPDATE bench.toast SET status = 'read', changed_at = changed_at + id * interval '1.5 s'`,
  },
  {
    name: 'text',
    title: 'inserts of 10 KB of text',
    setup: ['CREATE TABLE bench.text (id int PRIMARY KEY, body text)'],
    change: `INSERT INTO bench.text SELECT id, ${TEXT(10_240)} FROM generate_series(1, 24) AS id`,
  },
];
