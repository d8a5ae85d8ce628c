// After 022_twophase_cascade, its publisher: what is prepared with savepoints and other kinds of
// changes in it. The cascade itself, from subscriber to subscriber, is not pgtail's.

import { describe, expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';

const { major } = sharedServer();

describe.runIf(major >= 15)('a prepared transaction', () => {
  it('leaves out what it rolled back to a savepoint', async () => {
    await using shop = await Publisher.open({
      schema: 'CREATE TABLE orders (id int PRIMARY KEY, note text)',
    });
    const gid = `${shop.database.name} nested`;
    await shop.commit(
      `BEGIN; INSERT INTO orders VALUES (1, 'kept'); SAVEPOINT a;
       INSERT INTO orders VALUES (2, 'gone'); ROLLBACK TO a; SAVEPOINT b;
       INSERT INTO orders VALUES (3, 'kept'); RELEASE b; PREPARE TRANSACTION '${gid}'`,
      `COMMIT PREPARED '${gid}'`,
    );
    const runs = await shop.readInEveryMode({
      tables: wholeTables('public.orders'),
      undecided: [],
    });
    for (const lines of runs.of({ twoPhase: true, streaming: 'off' })) {
      expect(lines.find(({ op }) => op === 'prepare')).toMatchObject({ gid, changes: 2 });
    }
  });

  it('may hold truncates, messages and changes of a table’s shape', async () => {
    await using shop = await Publisher.open({
      schema: `CREATE TABLE orders (id int PRIMARY KEY, note text);
        CREATE TABLE carts (id int PRIMARY KEY)`,
    });
    const gid = `${shop.database.name} mixed`;
    await shop.commit(
      'INSERT INTO carts VALUES (1), (2)',
      `BEGIN; ALTER TABLE orders ADD COLUMN total int; INSERT INTO orders VALUES (1, 'tea', 3);
       SELECT pg_logical_emit_message(true, 'shop', 'prepared'); TRUNCATE carts;
       SELECT pg_logical_emit_message(false, 'shop', 'at once');
       PREPARE TRANSACTION '${gid}'`,
      `COMMIT PREPARED '${gid}'`,
      `INSERT INTO orders VALUES (2, 'mug', 8)`,
    );
    const runs = await shop.readInEveryMode({
      tables: wholeTables('public.orders', 'public.carts'),
      undecided: [],
    });
    for (const lines of runs.of({ twoPhase: true, streaming: 'off' })) {
      const message = lines.find(({ content }) => content === 'prepared');
      expect(message).toMatchObject({ gid, transactional: true });
    }
  });

  it('without a published change is acknowledged silently, and so is its decision', async () => {
    await using shop = await Publisher.open({
      schema: 'CREATE TABLE orders (id int PRIMARY KEY); CREATE TABLE secrets (id int)',
      publications: { shop: 'FOR TABLE orders' },
    });
    const name = `${shop.database.name}`;
    await shop.commit(
      `BEGIN; INSERT INTO secrets VALUES (1); PREPARE TRANSACTION '${name} a'`,
      `BEGIN; INSERT INTO secrets VALUES (2); PREPARE TRANSACTION '${name} b'`,
      `COMMIT PREPARED '${name} a'`,
      `ROLLBACK PREPARED '${name} b'`,
      'INSERT INTO orders VALUES (1)',
    );
    const { runs } = await shop.readInEveryMode({
      tables: wholeTables('public.orders'),
      undecided: [],
    });
    for (const { stdout } of runs) expect(stdout).not.toContain('"gid"');
  });
});
