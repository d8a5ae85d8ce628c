// Names are quoted where the server itself would find them to be something else.

import { expect, it } from 'vitest';
import { qualifiedSqlName, sqlName } from '../../src/pgoutput/sql-name.ts';
import { withDatabase } from '../support/server.ts';

it('a name is quoted only where it needs it', () => {
  const names = [
    'orders',
    'order_lines2',
    '_x',
    '2nd',
    'Orders',
    'a b',
    'q"q',
    'größe',
    'user',
    '',
  ];
  expect(names.map(sqlName)).toEqual([
    'orders',
    'order_lines2',
    '_x',
    '"2nd"',
    '"Orders"',
    '"a b"',
    '"q""q"',
    '"größe"',
    '"user"',
    '""',
  ]);
  expect(qualifiedSqlName({ schema: 'public', name: 'order' })).toBe('public."order"');
});

it('each word that is a key word of the server can be a table and a column so', async () => {
  await withDatabase(async (database) => {
    const rows = await database.query<{ word: string }>('SELECT word FROM pg_get_keywords()');
    const names = rows.map(({ word }) => sqlName(word));
    expect(names.length).toBeGreaterThan(400);
    const tables = names.map((name) => `CREATE TABLE ${name} (${name} int)`);
    await database.sql(tables.join(';\n'));
  });
});
