// The same number of rows spread over more and more tables.

import type { Client } from 'pg';

/** The publication of all tables: made before the WAL that is to be read through it. */
export const ALL_TABLES = 'bench_all';

/**
 * Tables bench.relation_1 … with the columns of bench.orders, and no key: each load inserts the same
 * rows. Each in a transaction of its own: thousands of them in one would need as many locks.
 */
export async function makeRelations(client: Client, relations: number): Promise<void> {
  await client.query(`
    DO $$ BEGIN
      FOR i IN 1 .. ${relations} LOOP
        EXECUTE format('CREATE TABLE IF NOT EXISTS bench.relation_%s
          (LIKE bench.orders)', i);
        COMMIT;
      END LOOP;
    END $$`);
}

/** The tables take turns, in transactions of 100 rows. */
export function spreadRows(rows: number, relations: number): string[] {
  return [
    `DO $$
     BEGIN
       FOR i IN 0 .. ${rows - 1} LOOP
         EXECUTE format('INSERT INTO bench.relation_%s VALUES
           ($1, $1 %% 9973, ''paid'', round($1 * 0.37, 2), true, ''2026-01-01 08:00+00'', ''a note'')',
           1 + i % ${relations}) USING i::bigint;
         IF i % 100 = 99 THEN COMMIT; END IF;
       END LOOP;
     END $$`,
  ];
}
