// A row looks the same whether its values came as text or in binary: random values of every type,
// and arrays of them, through a real stream.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sqlName, TYPE_VALUES } from '../pgtypes/binary/type-values.ts';
import { runPgtail } from '../support/pgtail.ts';
import { sharedServer } from '../support/server.ts';
import { Shop } from '../support/tail.ts';

const ROWS = 100;
const SEED = Date.now() & 0x7fff_ffff;

function textsOf(type: string): string[] {
  const { edges, random } = TYPE_VALUES[type]!;
  const few = edges.slice(0, ROWS / 2);
  return [...few, ...fc.sample(random, { numRuns: ROWS - few.length, seed: SEED })];
}

it.skipIf(sharedServer().major < 14)(
  `--binary prints random values of every type as text mode does (seed ${SEED})`,
  async () => {
    await using shop = await Shop.open();
    const { database } = shop;
    for (const type of Object.keys(TYPE_VALUES)) {
      const name = sqlName(type);
      const table = `all_${type}`;
      await database.sql(`CREATE TABLE ${table} (id int PRIMARY KEY, one ${name}, many ${name}[])`);
      await database.sql(`ALTER TABLE ${table} REPLICA IDENTITY FULL`);
      await database.query(
        `INSERT INTO ${table}
         SELECT n, v::${name}, ARRAY[v::${name}, NULL, v::${name}]
         FROM unnest($1::text[]) WITH ORDINALITY AS t (v, n)`,
        [textsOf(type)],
      );
      await database.sql(`UPDATE ${table} SET many = NULL WHERE id % 3 = 0`);
      await database.sql(`DELETE FROM ${table} WHERE id % 5 = 0`);
    }
    const copy = `${shop.slot}_binary`;
    await database.query('SELECT pg_copy_logical_replication_slot($1, $2)', [shop.slot, copy]);
    const text = await runPgtail([...shop.args, '--no-follow', '-q']);
    const args = [...database.options, '-S', copy, '-P', 'shop', '--no-follow', '--binary'];
    const binary = await runPgtail(args);
    expect(binary.stderr).not.toContain('left off');
    expect(binary.stderr).not.toContain('without --binary');
    const lines = text.stdout.split('\n');
    expect(lines.length).toBeGreaterThan(Object.keys(TYPE_VALUES).length * ROWS);
    // line by line, so that a difference names its value and not the whole output
    for (const [i, line] of binary.stdout.split('\n').entries()) expect(line).toBe(lines[i]);
  },
);
