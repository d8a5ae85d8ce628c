// Statements that are large enough to be streamed while their transaction is in progress.

/** A table for them, and a table beside it. */
export const MANY_ORDERS = `
  CREATE TABLE orders (id int PRIMARY KEY, customer text, note text);
  CREATE TABLE lines (id int PRIMARY KEY, article text)`;

/** With 64 kB of memory the server streams 150 to 300 of them at a time: others count, too. */
export function orders(from: number, to: number): string {
  return `INSERT INTO orders SELECT id, 'customer ' || id % 7, repeat('n', 100)
    FROM generate_series(${from}, ${to}) AS id`;
}
