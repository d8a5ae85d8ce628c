// What of a relation's lines never changes, made into bytes once.

import { Block } from '../../byte-writer.ts';
import type { Relation } from '../../pgoutput/relation.ts';
import { type ColumnEncoder, worstCase } from '../../pgtypes/encoder.ts';
import { jsonStringBytes } from '../../pgtypes/json-text.ts';
import type { TypeRegistry } from '../../pgtypes/type-registry.ts';

export interface RelationPlan {
  readonly relation: Relation;
  /** See TypeRegistry. */
  readonly typesVersion: number;
  /** `{"op":"insert","schema":"public","table":"orders"` and so on. */
  readonly insertHead: Block;
  readonly updateHead: Block;
  readonly deleteHead: Block;
  /** `,"identity":"default"` */
  readonly identity: Block;
  /** `,"id":` for each column; the first one printed drops its comma. */
  readonly keys: readonly Block[];
  /** `,"id"` for each column, for lists of names. */
  readonly names: readonly Block[];
  readonly encoders: readonly ColumnEncoder[];
  /** One of the encoders does: see ColumnEncoder. */
  readonly grows: boolean;
  /** The columns of the replica identity, where it is a key: none under FULL and NOTHING. */
  readonly keyColumns: readonly number[];
  readonly allColumns: readonly number[];
  /** The most bytes a tuple's JSON takes besides its values' own text. */
  readonly fixedRoom: number;
}

export function relationPlan(relation: Relation, types: TypeRegistry): RelationPlan {
  const { schema, name, identity, columns } = relation;
  const table = `"schema":${jsonStringBytes(schema)},"table":${jsonStringBytes(name)}`;
  const head = (op: string): Block => new Block(`{"op":"${op}",${table}`);
  const names = columns.map((column) => `,${jsonStringBytes(column.name)}`);
  const encoders = columns.map((column) => types.encoder(column.typeId));
  return {
    relation,
    typesVersion: types.version,
    insertHead: head('insert'),
    updateHead: head('update'),
    deleteHead: head('delete'),
    identity: new Block(`,"identity":"${identity}"`),
    keys: names.map((name) => new Block(`${name}:`)),
    names: names.map((name) => new Block(name)),
    encoders,
    grows: encoders.some((encoder) => encoder.grows),
    keyColumns: hasKey(relation) ? columns.flatMap((column, i) => (column.key ? [i] : [])) : [],
    allColumns: columns.map((_, i) => i),
    fixedRoom: names.reduce((room, name) => room + Buffer.byteLength(name) + 1 + worstCase(0), 0),
  };
}

const hasKey = (relation: Relation): boolean =>
  relation.identity === 'default' || relation.identity === 'index';
