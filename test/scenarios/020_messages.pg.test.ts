// After 020_messages: logical messages, inside a transaction and beside it.

import { describe, expect, it } from 'vitest';
import { Publisher, wholeTables } from '../support/publisher.ts';
import { sharedServer } from '../support/server.ts';
import type { Line } from '../support/tail.ts';
import { linesOf } from '../support/tail.ts';

const { major } = sharedServer();
const SCHEMA = 'CREATE TABLE orders (id int PRIMARY KEY, note text)';
const tables = wholeTables('public.orders');

const emit = (transactional: boolean, content: string): string =>
  `SELECT pg_logical_emit_message(${transactional}, 'shop', ${content})`;

const contents = (lines: readonly Line[]): unknown[] =>
  lines.flatMap((line) =>
    line.op === 'message' ? [line.content ?? { base64: line.content_base64 }] : [],
  );

describe.runIf(major >= 14)('logical messages', () => {
  it('of a transaction stand where they were emitted, and go with it', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    await shop.commit(
      `INSERT INTO orders VALUES (1, 'tea'); ${emit(true, `'between'`)}; INSERT INTO orders VALUES (2, '')`,
      `BEGIN; ${emit(true, `'taken back'`)}; ROLLBACK`,
      `BEGIN; INSERT INTO orders VALUES (3, ''); SAVEPOINT s; INSERT INTO orders VALUES (4, '');
       ROLLBACK TO s; ${emit(true, `'after it'`)}; COMMIT`,
      emit(true, `'alone'`),
      emit(true, `''`),
      emit(true, String.raw`'\xff00fe'::bytea`),
      `CREATE TABLE drafts (id int); DROP TABLE drafts; ${emit(true, `'beside a table'`)}`,
    );
    const { plain } = await shop.readInEveryMode({ tables });
    expect(contents(plain)).toEqual([
      'between',
      'after it',
      'alone',
      '',
      { base64: '/wD+' },
      'beside a table',
    ]);
    const between = plain.find(({ op }) => op === 'message');
    expect(between).toMatchObject({ seq: 2, transactional: true, prefix: 'shop' });
  });

  it('go with the subtransaction they are in, unless they are shown live', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    await shop.commit(
      `BEGIN; INSERT INTO orders VALUES (1, ''); SAVEPOINT s; ${emit(true, `'gone'`)};
       INSERT INTO orders VALUES (2, ''); ROLLBACK TO s; ${emit(true, `'kept'`)}; COMMIT`,
    );
    // in a stream a message carries the xid of the whole transaction: nobody can tell, so
    // `buffer` reads the transaction again without streaming
    const { runs } = await shop.readInEveryMode({
      tables,
      modes: ({ streaming }) => streaming === 'off' || streaming === 'buffer',
    });
    for (const { stdout } of runs) expect(contents(linesOf(stdout))).toEqual(['kept']);
  });

  it('outside one come at once, whatever becomes of the transaction around them', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    await shop.commit(
      `BEGIN; INSERT INTO orders VALUES (1, 'tea'); ${emit(false, `'first'`)}; COMMIT`,
      `BEGIN; INSERT INTO orders VALUES (2, 'tea'); ${emit(false, `'second'`)}; ROLLBACK`,
      `INSERT INTO orders VALUES (3, 'mug')`,
    );
    const { runs } = await shop.readInEveryMode({ tables });
    for (const { stdout } of runs) {
      const lines = linesOf(stdout).filter(({ op }) => op === 'message');
      expect(contents(lines)).toEqual(['first', 'second']);
      for (const line of lines) expect(line).not.toHaveProperty('xid');
    }
  });

  it('are streamed with a large transaction', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    const rows = (from: number) =>
      `INSERT INTO orders SELECT id, repeat('n', 200) FROM generate_series(${from}, ${from + 299}) id`;
    await shop.commit(
      `BEGIN; ${rows(1)}; ${emit(true, `'one'`)}; ${emit(false, `'apart'`)}; SAVEPOINT s; ${rows(1001)};
       ROLLBACK TO s; ${rows(2001)}; ${emit(true, `repeat('two', 9999)`)};
       ${emit(false, `'apart too'`)}; ${rows(3001)}; COMMIT`,
    );
    const { plain } = await shop.readInEveryMode({ tables, pressure: 'memory' });
    expect(contents(plain)).toEqual(['apart', 'apart too', 'one', 'two'.repeat(9999)]);
  });

  it('are left out by --no-messages, and acknowledged', async () => {
    await using shop = await Publisher.open({ schema: SCHEMA });
    await shop.commit(emit(true, `'a'`), emit(false, `'b'`), `INSERT INTO orders VALUES (1, '')`);
    const { code, stdout } = await shop.run(shop.slot, ['--no-messages']);
    expect({ code, contents: contents(linesOf(stdout)) }).toEqual({ code: 0, contents: [] });
    expect(stdout).toContain('"insert"');
    expect((await shop.run(shop.slot)).stdout).toBe('');
  });
});
