// Random tables: columns of random types, and every replica identity.

import { escapeIdentifier, escapeLiteral } from 'pg';
import type { ReplicaIdentity } from '../../src/pgoutput/relation.ts';
import type { Dice } from './dice.ts';
import type { RandomType } from './random-types.ts';

export interface RandomColumn {
  readonly name: string;
  /** Quoted. */
  readonly sql: string;
  readonly type: RandomType;
  readonly key: boolean;
}

export interface RandomTable {
  readonly name: string;
  /** Quoted. */
  readonly sql: string;
  readonly columns: readonly RandomColumn[];
  readonly identity: ReplicaIdentity;
  /** The statements that make it. */
  readonly create: string;
}

/** Where updates and deletes are published, the server refuses them without an identity. */
export const isUpdatable = ({ identity, columns }: RandomTable): boolean =>
  identity !== 'nothing' && (identity === 'full' || columns.some(({ key }) => key));

const COLUMN_NAMES = [
  ...['id', 'total', '"quoted"', 'Ünï', 'line\nbreak', 'back\\slash', '__proto__', 'constructor'],
  ...['1', '0', 'a b', '🍵', '{,}', 'new', 'tab\t', 'n'.repeat(63)],
];
const TABLE_NAMES = ['orders', 'Order "lines"', '__proto__', 'a.b', 'tab\t', '1'];

/** Values of a key that are in no other row: the type's text of a number. */
const COUNTED: Readonly<Record<string, (n: number) => string>> = {
  int4: String,
  int8: (n) => String(9_007_199_254_740_992n + BigInt(n)),
  numeric: (n) => `${n}.50`,
  text: (n) => `"${n}" \\ é\n`,
  timestamptz: (n) => new Date(n * 1_000).toISOString(),
};

function countedType(name: string): RandomType {
  const text = COUNTED[name]!;
  const value = (dice: Dice) => text(dice.count());
  // enough to leave the row, and not too much for an index
  const large = name === 'text' ? (dice: Dice) => value(dice) + dice.noise(2_200) : undefined;
  return { name, sortable: true, delimiter: ',', value, large };
}

export function randomTables(dice: Dice, types: readonly RandomType[], count: number) {
  return dice.some(TABLE_NAMES, count).map((name) => randomTable(dice, types, name));
}

function randomTable(dice: Dice, types: readonly RandomType[], name: string): RandomTable {
  const sql = escapeIdentifier(name);
  const identity = dice.pick(['default', 'default', 'index', 'full', 'full', 'nothing'] as const);
  const keys = identity === 'index' ? dice.between(1, 3) : dice.below(4);
  const columns = randomColumns(dice, types, keys);
  const create = createTable(dice, sql, columns, identity);
  return { name, sql, columns, identity, create };
}

function randomColumns(dice: Dice, types: readonly RandomType[], keys: number): RandomColumn[] {
  const names = dice.some(COLUMN_NAMES, Math.max(keys, dice.between(1, 12)));
  const sortable = types.filter((type) => type.sortable);
  const columns = names.map((name, i): RandomColumn => {
    const key = i < keys;
    if (!key) return { name, sql: escapeIdentifier(name), type: dice.pick(types), key };
    // the first of a key makes it unique, the others must not be too large for its index
    const type =
      i === 0
        ? countedType(dice.pick(Object.keys(COUNTED)))
        : { ...dice.pick(sortable), large: undefined };
    return { name, sql: escapeIdentifier(name), type, key };
  });
  return dice.some(columns, columns.length);
}

function createTable(
  dice: Dice,
  table: string,
  columns: readonly RandomColumn[],
  identity: ReplicaIdentity,
): string {
  const dropped = dice.oneIn(4) ? dice.below(columns.length + 1) : undefined;
  const list = columns.map(({ sql, type, key }) => `${sql} ${type.name}${key ? ' NOT NULL' : ''}`);
  if (dropped !== undefined) list.splice(dropped, 0, '"gone" int');
  return [
    `CREATE TABLE ${table} (${list.join(', ')})`,
    ...(dropped === undefined ? [] : [`ALTER TABLE ${table} DROP "gone"`]),
    ...columns.flatMap(({ sql, type }) =>
      type.large ? [`ALTER TABLE ${table} ALTER ${sql} SET STORAGE EXTERNAL`] : [],
    ),
    ...identitySql(table, columns, identity),
  ].join(';\n');
}

function identitySql(
  table: string,
  columns: readonly RandomColumn[],
  identity: ReplicaIdentity,
): string[] {
  const keys = columns.filter(({ key }) => key).map(({ sql }) => sql);
  if (identity === 'index') {
    const index = escapeIdentifier(`of ${table}`);
    return [
      `CREATE UNIQUE INDEX ${index} ON ${table} (${keys.join(', ')})`,
      `ALTER TABLE ${table} REPLICA IDENTITY USING INDEX ${index}`,
    ];
  }
  const primaryKey =
    keys.length > 0 ? [`ALTER TABLE ${table} ADD PRIMARY KEY (${keys.join(', ')})`] : [];
  return [...primaryKey, `ALTER TABLE ${table} REPLICA IDENTITY ${identity}`];
}

/** An expression for a value of the column. */
export function columnValue(dice: Dice, { type, key }: RandomColumn): string {
  if (!key && dice.oneIn(6)) return 'NULL';
  const isLarge = type.large !== undefined && dice.oneIn(3);
  return `${escapeLiteral(isLarge ? type.large(dice) : type.value(dice))}::${type.name}`;
}
