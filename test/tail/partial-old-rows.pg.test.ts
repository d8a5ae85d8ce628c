// A partitioned table announced as FULL, with a leaf that is not: its old rows lack values, and the
// protocol does not say which.

import { expect, it } from 'vitest';
import { runPgtail } from '../support/pgtail.ts';
import { linesOf, Shop } from '../support/tail.ts';

const MOVES = `
CREATE TABLE moves (id int NOT NULL, shelf text NOT NULL, note text) PARTITION BY LIST (shelf);
CREATE TABLE moves_north PARTITION OF moves (PRIMARY KEY (id)) FOR VALUES IN ('north');
CREATE TABLE moves_south PARTITION OF moves FOR VALUES IN ('south');
ALTER TABLE moves REPLICA IDENTITY FULL;
ALTER TABLE moves_south REPLICA IDENTITY FULL;
ALTER PUBLICATION shop SET (publish_via_partition_root = true);`;

const WORK = `
INSERT INTO moves VALUES (1, 'north', 'fragile'), (2, 'south', 'heavy');
UPDATE moves SET note = 'very fragile' WHERE id = 1;
UPDATE moves SET id = 3 WHERE id = 1;
DELETE FROM moves WHERE id = 3;
DELETE FROM moves WHERE id = 2;`;

it('no null is claimed for an old value that a leaf without FULL did not send', async () => {
  await using shop = await Shop.open();
  await shop.database.sql(MOVES);
  await shop.database.sql(WORK);
  const { code, stdout } = await runPgtail([...shop.args, '--no-follow', '--op', 'update,delete']);
  expect(code).toBe(0);
  const lines = linesOf(stdout).map(({ op, key, old, old_partial, changed }) => {
    return { op, key, old, old_partial, changed };
  });
  expect(lines).toEqual([
    { op: 'update' },
    { op: 'update', old: { id: 1 }, old_partial: true },
    { op: 'delete', old: { id: 3 }, old_partial: true },
    // of a partly known table even a whole old row is not told apart
    { op: 'delete', old: { id: 2, shelf: 'south', note: 'heavy' }, old_partial: true },
  ]);
});

it('pretty says why, and shows no NULL there either', async () => {
  await using shop = await Shop.open();
  await shop.database.sql(MOVES);
  await shop.database.sql(WORK);
  const { stdout } = await runPgtail([...shop.args, '--no-follow', '--format', 'pretty']);
  expect(stdout).toContain('a partition is not FULL');
  expect(stdout).toMatch(/- public\.moves +id 3\n/);
  expect(stdout).toMatch(/~ public\.moves +id 1 → 3 /);
  expect(stdout).not.toContain('∅');
});
