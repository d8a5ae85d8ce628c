// Every combination of identity, publication and generated column: what is said to fail is what fails
// on the server, and the statements that are printed mend it.

import { describe, expect, it } from 'vitest';
import { withCatalog } from '../../src/catalog/catalog-connection.ts';
import { readServerSummary } from '../../src/catalog/server-summary.ts';
import { readIdentities } from '../../src/identity/report.ts';
import { sharedServer, type TestDatabase, withDatabase } from '../support/server.ts';
import { refusal, tableOf } from './look.ts';

const { major } = sharedServer();

interface Combination {
  readonly identity: string;
  readonly generated: string;
  readonly list: string;
  readonly filter: string;
  readonly operations: string;
}

const IDENTITIES = ['DEFAULT', 'USING INDEX by_total', 'USING INDEX by_twice', 'FULL', 'NOTHING'];
const GENERATED =
  major >= 18 ? ['STORED', 'VIRTUAL'] : major >= 12 ? ['STORED'] : ['no generated column'];
const LISTS = major >= 15 ? ['', '(id, total)', '(total)'] : [''];
const FILTERS = major >= 15 ? ['', 'WHERE (id > 0)', 'WHERE (total > 0)'] : [''];
const OPERATIONS = ['insert, update, delete', 'insert, delete'];

const combinations: readonly Combination[] = IDENTITIES.flatMap((identity) =>
  GENERATED.flatMap((generated) =>
    LISTS.flatMap((list) =>
      FILTERS.flatMap((filter) =>
        OPERATIONS.map((operations) => ({ identity, generated, list, filter, operations })),
      ),
    ),
  ),
).filter(({ identity, generated }) => generated === 'STORED' || !identity.includes('twice'));

function schemaOf({ identity, generated, list, filter, operations }: Combination): string {
  const twice = major >= 12 ? `, twice int GENERATED ALWAYS AS (total * 2) ${generated}` : '';
  const notNull = generated === 'STORED' ? ' NOT NULL' : '';
  return `DROP PUBLICATION IF EXISTS shop; DROP TABLE IF EXISTS orders;
    CREATE TABLE orders (id int PRIMARY KEY, total int NOT NULL, note text ${twice}${notNull});
    CREATE UNIQUE INDEX by_total ON orders (total);
    ${generated === 'STORED' ? 'CREATE UNIQUE INDEX by_twice ON orders (twice);' : ''}
    ALTER TABLE orders REPLICA IDENTITY ${identity};
    INSERT INTO orders (id, total) VALUES (1, 1);
    CREATE PUBLICATION shop FOR TABLE orders ${list} ${filter} WITH (publish = '${operations}');`;
}

/** What the server does now, without doing it. */
async function failingNow(database: TestDatabase): Promise<readonly string[]> {
  const update = await refusal(database, 'UPDATE orders SET note = note WHERE false');
  const remove = await refusal(database, 'DELETE FROM orders WHERE false');
  return [...(update === undefined ? [] : ['update']), ...(remove === undefined ? [] : ['delete'])];
}

describe('every combination', () => {
  it.each(OPERATIONS)(
    'that publishes %s fails as is said, until it is mended',
    async (operations) => {
      const tried = combinations.filter((each) => each.operations === operations);
      await withDatabase((database) =>
        withCatalog(database.connection, async (query) => {
          const server = await readServerSummary(query);
          for (const combination of tried) {
            await database.sql(schemaOf(combination));
            const { failures, cure } = tableOf(await readIdentities(query, server), 'orders');
            const said = [...new Set(failures.flatMap((failure) => failure.operations))];
            const failing = await failingNow(database);
            expect({ combination, said }).toEqual({ combination, said: failing });
            if (!cure[0]?.startsWith('ALTER')) continue; // advice
            for (const statement of cure) await database.sql(statement);
            const left = await failingNow(database);
            expect({ combination, cure, left }).toEqual({ combination, cure, left: [] });
          }
        }),
      );
    },
  );
});
