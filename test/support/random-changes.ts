// Random transactions on random tables: rows, truncates, savepoints, rollbacks.

import type { Dice } from './dice.ts';
import { columnValue, isUpdatable, type RandomColumn, type RandomTable } from './random-tables.ts';

/** The statements of a transaction, with its begin and its end. */
export function randomTransaction(dice: Dice, tables: readonly RandomTable[]): string[] {
  const parts = dice.times(dice.between(1, 4), () => randomPart(dice, tables));
  return ['BEGIN', ...parts.flat(), dice.oneIn(8) ? 'ROLLBACK' : 'COMMIT'];
}

/** Some statements, now and then in a savepoint. */
function randomPart(dice: Dice, tables: readonly RandomTable[]): string[] {
  const statements = dice.times(dice.between(1, 3), () => randomStatement(dice, tables));
  if (!dice.oneIn(3)) return statements;
  return ['SAVEPOINT s', ...statements, dice.oneIn(2) ? 'ROLLBACK TO s' : 'RELEASE s'];
}

function randomStatement(dice: Dice, tables: readonly RandomTable[]): string {
  if (dice.oneIn(15)) return truncate(dice, tables);
  const table = dice.pick(tables);
  if (!isUpdatable(table) || dice.oneIn(4)) return insert(dice, table);
  return dice.oneIn(4) ? deleteRows(dice, table) : update(dice, table);
}

function truncate(dice: Dice, tables: readonly RandomTable[]): string {
  const some = dice.some(tables, dice.between(1, tables.length));
  return `TRUNCATE ${some.map(({ sql }) => sql).join(', ')}`;
}

export function insert(dice: Dice, { sql, columns }: RandomTable): string {
  const names = columns.map((column) => column.sql).join(', ');
  const rows = dice.times(
    dice.between(1, 4),
    () => `(${columns.map((column) => columnValue(dice, column)).join(', ')})`,
  );
  return `INSERT INTO ${sql} (${names}) VALUES ${rows.join(', ')}`;
}

function update(dice: Dice, table: RandomTable): string {
  // of key columns seldom: most updates touch others
  const free = table.columns.filter(({ key }) => !key || dice.oneIn(4));
  const set = dice.some(free.length === 0 ? table.columns : free, dice.between(1, 3));
  const isKeyChange = set.some(({ key }) => key);
  const list = set.map((column) => `${column.sql} = ${newValue(dice, column)}`).join(', ');
  return `UPDATE ${table.sql} SET ${list} WHERE ${someRows(dice, table, isKeyChange ? 1 : 3)}`;
}

/** The same again, so that nothing changes, or another. */
const newValue = (dice: Dice, column: RandomColumn): string =>
  dice.oneIn(4) ? column.sql : columnValue(dice, column);

const deleteRows = (dice: Dice, table: RandomTable): string =>
  `DELETE FROM ${table.sql} WHERE ${someRows(dice, table, 2)}`;

function someRows(dice: Dice, { sql }: RandomTable, most: number): string {
  const offset = `(SELECT ${dice.below(1_000)} % greatest(count(*), 1) FROM ${sql})`;
  const limit = dice.between(1, most);
  return `ctid IN (SELECT ctid FROM ${sql} ORDER BY ctid OFFSET ${offset} LIMIT ${limit})`;
}
