// A relation as the server announced it: immutable, and replaced when it is announced again.
// https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html (Relation)

/** The table's REPLICA IDENTITY: what the server sends of a row before its change. */
export type ReplicaIdentity = 'default' | 'nothing' | 'full' | 'index';

export interface RelationColumn {
  readonly name: string;
  /** The type's OID. */
  readonly typeId: number;
  /** The type modifier, -1 if there is none: the (10,2) of numeric(10,2), encoded. */
  readonly typmod: number;
  /** Part of the replica identity. Under FULL every column is. */
  readonly key: boolean;
}

/**
 * `columns` holds the columns that are sent, in the order they are sent: dropped and unpublished
 * ones are left out, so an index here is no attnum.
 */
export interface Relation {
  readonly relationId: number;
  readonly schema: string;
  readonly name: string;
  readonly identity: ReplicaIdentity;
  readonly columns: readonly RelationColumn[];
}
