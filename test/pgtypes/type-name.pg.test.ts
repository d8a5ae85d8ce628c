// The server's own format_type is the judge of every built-in type's name.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OID } from '../../src/pgtypes/builtin-types.ts';
import { builtinTypeName, qualifiedTypeName } from '../../src/pgtypes/type-name.ts';
import { createDatabase, type TestDatabase } from '../support/server.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});

afterAll(() => database.drop());

/** Types of the system's own catalogs. */
const INTERNAL = /^(pg_node_tree|pg_ndistinct|pg_dependencies|pg_mcv_list|pg_brin_\w+|cstring)$/;

const numeric = (precision: number, scale: number): number =>
  ((precision << 16) | (scale & 0x7ff)) + 4;

const INTERVAL_FIELDS = [2, 4, 6, 8, 1024, 1032, 2048, 3072, 3080, 4096, 6144, 7168, 7176, 0x7fff];
const INTERVALS = INTERVAL_FIELDS.flatMap((fields) =>
  [0, 3, 6, 0xffff].map((precision) => (fields << 16) | precision),
);

const TYPMODS: readonly (readonly [typeId: number, typmods: readonly number[]])[] = [
  [OID.varchar, [5, 24, 10_485_764]],
  [OID.bpchar, [5, 9]],
  [OID.bit, [1, 64]],
  [OID.varbit, [1, 64]],
  [OID.numeric, [numeric(10, 2), numeric(1, 0), numeric(1000, 1000)]],
  [OID.time, [0, 6]],
  [OID.timetz, [0, 6]],
  [OID.timestamp, [0, 6]],
  [OID.timestamptz, [0, 3]],
  [OID.interval, INTERVALS],
];

/** The server's name of each type with each typmod, beside ours. */
async function compared(
  pairs: readonly (readonly [typeId: number, typmod: number])[],
): Promise<{ ours: unknown[]; theirs: unknown[] }> {
  const values = pairs.map(([typeId, typmod]) => `(${typeId}, ${typmod})`).join(', ');
  const rows = await database.query<{ id: number; typmod: number; name: string }>(
    `SELECT id, typmod, format_type(id, typmod) AS name FROM (VALUES ${values}) v (id, typmod)`,
  );
  return {
    ours: rows.map(({ id, typmod }) => [id, typmod, builtinTypeName(id, typmod)]),
    theirs: rows.map(({ id, typmod, name }) => [id, typmod, name]),
  };
}

describe('the name of a built-in type', () => {
  it('is known for each that a column can have, and is what format_type says', async () => {
    const types = await database.query<{ id: number; name: string }>(
      `SELECT oid::int8::float8 AS id, typname AS name FROM pg_type
        WHERE oid < 10000 AND typtype IN ('b', 'r', 'm') AND typcategory <> 'Z' OR typname = 'char'
        ORDER BY oid`,
    );
    const columnTypes = types.filter(({ name }) => !INTERNAL.test(name.replace(/^_/, '')));
    // arrays of the catalogs' row types, such as _pg_class
    const wanted = columnTypes.filter(({ name }) => !/^_pg_(?!lsn|snapshot)/.test(name));
    expect(wanted.length).toBeGreaterThan(120);
    const { ours, theirs } = await compared(wanted.map(({ id }) => [id, -1]));
    expect(ours).toEqual(theirs);
  });

  it('shows the type modifier as format_type does, for arrays too', async () => {
    const arrays = await database.query<{ oid: number; typarray: number }>(
      `SELECT oid::int8::float8 AS oid, typarray::int8::float8 AS typarray FROM pg_type
        WHERE oid IN (${TYPMODS.map(([typeId]) => typeId)})`,
    );
    const arrayOf = new Map(arrays.map(({ oid, typarray }) => [oid, typarray]));
    const negativeScale = database.major >= 15 ? [[OID.numeric, [numeric(5, -2)]] as const] : [];
    const pairs = [...TYPMODS, ...negativeScale].flatMap(([typeId, typmods]) =>
      typmods.flatMap((typmod): [number, number][] => [
        [typeId, typmod],
        [arrayOf.get(typeId)!, typmod],
      ]),
    );
    const { ours, theirs } = await compared(pairs);
    expect(ours).toEqual(theirs);
  });
});

describe('the name of a type made by a user', () => {
  it('is qualified, each part quoted as quote_ident does', async () => {
    const names = ['mood', 'Mood', 'with space', 'a"b', '1st', '_x', 'ünï', 'a$1', ''];
    for (const name of names.filter((each) => each !== '')) {
      const [row] = await database.query<{ name: string }>('SELECT quote_ident($1) AS name', [
        name,
      ]);
      // quote_ident also quotes a dollar sign, which SQL does not need
      const quoted = name === 'a$1' ? name : row!.name;
      expect(qualifiedTypeName('shop', name)).toBe(`shop.${quoted}`);
    }
  });

  it('is the SQL name for a domain over a built-in type', () => {
    expect(qualifiedTypeName('pg_catalog', 'int8')).toBe('bigint');
    expect(qualifiedTypeName('pg_catalog', 'text')).toBe('text');
  });
});
