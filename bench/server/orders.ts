// The table whose changes are measured, and the same number of row changes in three shapes.

/** How the row changes are cut into transactions. */
export type ShapeName = 'one' | 'hundreds' | 'singles';

export interface Shape {
  readonly name: ShapeName;
  /** What it is, for the reader of a table of results. */
  readonly title: string;
  /** Statements that make so many row changes, each to be run outside a transaction. */
  readonly load: (rows: number) => readonly string[];
}

/** `bench.mark` gets a row behind each load: whoever reads up to a position needs a next change. */
export const SCHEMA = `
  CREATE SCHEMA bench;
  CREATE TABLE bench.orders (
    id bigint PRIMARY KEY,
    customer int NOT NULL,
    status text NOT NULL,
    total numeric(10,2) NOT NULL,
    paid boolean NOT NULL,
    placed_at timestamptz NOT NULL,
    note text);
  CREATE TABLE bench.mark (shape text);
  CREATE PUBLICATION bench FOR TABLE bench.orders, bench.mark`;

/** A row as a function of its number: every run loads the same ones. */
const rowsOf = (source: string): string =>
  `SELECT id, id % 9973, (ARRAY['new', 'paid', 'sent', 'returned'])[1 + id % 4],
          round((id % 100000) * 0.37, 2), id % 2 = 0,
          '2026-01-01 08:00:00.123456+00'::timestamptz + id * interval '7 seconds',
          CASE WHEN id % 5 > 0 THEN 'leave at the "back" door, floor ' || id % 40 END
     FROM ${source} AS id`;

/** In a DO block: as many transactions as the client can start would be 100,000 round trips. */
const inTransactions = (count: number, statement: string): string =>
  `DO $$ BEGIN FOR i IN 0 .. ${count - 1} LOOP ${statement}; COMMIT; END LOOP; END $$;`;

const PER_TRANSACTION = 100;
/** Of the third shape's rows: each is inserted, updated three times and deleted. */
const CHANGES_OF_A_ROW = 5;

export const SHAPES: readonly Shape[] = [
  {
    name: 'one',
    title: 'one transaction',
    load: (rows) => [`INSERT INTO bench.orders ${rowsOf(`generate_series(1::bigint, ${rows})`)}`],
  },
  {
    name: 'hundreds',
    title: 'transactions of 100 rows',
    load: (rows) => [
      inTransactions(
        Math.ceil(rows / PER_TRANSACTION),
        `INSERT INTO bench.orders ${rowsOf(span(PER_TRANSACTION))}`,
      ),
    ],
  },
  {
    name: 'singles',
    title: 'transactions of 1 row, then updates and deletes of 100',
    load: (rows) => {
      const inserted = Math.ceil(rows / CHANGES_OF_A_ROW);
      const batches = Math.ceil(inserted / PER_TRANSACTION);
      const batch = `id BETWEEN i * ${PER_TRANSACTION} + 1 AND (i + 1) * ${PER_TRANSACTION}`;
      return [
        inTransactions(inserted, `INSERT INTO bench.orders ${rowsOf(span(1))}`),
        ...["'paid'", "'sent'", "'returned'"].map((status) =>
          inTransactions(
            batches,
            `UPDATE bench.orders SET status = ${status}, total = total + 1 WHERE ${batch}`,
          ),
        ),
        inTransactions(batches, `DELETE FROM bench.orders WHERE ${batch}`),
      ];
    },
  },
];

const span = (size: number): string =>
  `generate_series(i::bigint * ${size} + 1, (i::bigint + 1) * ${size})`;

/** @throws if there is none of that name */
export function shapeNamed(name: string): Shape {
  const shape = SHAPES.find((each) => each.name === name);
  if (shape !== undefined) return shape;
  throw new Error(`no shape "${name}": there are ${SHAPES.map((each) => each.name).join(', ')}`);
}
