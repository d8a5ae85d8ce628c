// What of a relation's lines never changes, made into bytes once.

import { type Block, blocksOf } from '../../byte-writer.ts';
import type { Relation } from '../../pgoutput/relation.ts';
import { type ColumnEncoder, worstCase } from '../../pgtypes/encoder.ts';
import { jsonString } from '../../pgtypes/json-text.ts';
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
  readonly encoders: readonly ColumnEncoder[];
  /** Those for binary values, each put in when the first one comes. */
  readonly binaryEncoders: ColumnEncoder[];
  /** One of the encoders does: see ColumnEncoder. */
  grows: boolean;
  /** The columns of the replica identity, where it is a key: none under FULL and NOTHING. */
  readonly keyColumns: readonly number[];
  readonly allColumns: readonly number[];
  /** The most bytes a tuple's JSON takes besides its values' own text. */
  readonly fixedRoom: number;
}

export function relationPlan(relation: Relation, types: TypeRegistry): RelationPlan {
  const { schema, name, identity, columns } = relation;
  const table = `"schema":${jsonString(schema)},"table":${jsonString(name)}`;
  const keyTexts = columns.map((column) => `,${jsonString(column.name)}:`);
  const [insertHead, updateHead, deleteHead, identityField, ...keys] = blocksOf([
    `{"op":"insert",${table}`,
    `{"op":"update",${table}`,
    `{"op":"delete",${table}`,
    `,"identity":"${identity}"`,
    ...keyTexts,
  ]);
  const encoders = columns.map((column) => types.encoder(column.typeId));
  return {
    relation,
    typesVersion: types.version,
    insertHead: insertHead!,
    updateHead: updateHead!,
    deleteHead: deleteHead!,
    identity: identityField!,
    keys,
    encoders,
    binaryEncoders: [],
    grows: encoders.some((encoder) => encoder.grows),
    keyColumns: hasKey(relation) ? columns.flatMap((column, i) => (column.key ? [i] : [])) : [],
    allColumns: columns.map((_, i) => i),
    fixedRoom: keys.reduce((room, key) => room + key.length + worstCase(0), 0),
  };
}

const hasKey = (relation: Relation): boolean =>
  relation.identity === 'default' || relation.identity === 'index';
