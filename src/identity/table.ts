// A table as the catalog describes it, as far as it decides what is sent of an old row.
// https://www.postgresql.org/docs/current/catalog-pg-class.html

/** What pg_class.relreplident says, whether it can be used or not. */
export type ReplicaIdentity = 'default' | 'index' | 'full' | 'nothing';

export interface Column {
  /** pg_attribute.attnum */
  readonly number: number;
  readonly name: string;
  readonly notNull: boolean;
  readonly generated: 'stored' | 'virtual' | undefined;
  /** A value of it may be kept out of line, and then is not sent when an update leaves it alone. */
  readonly toastable: boolean;
  /** Of a value that is not null, in bytes as stored; undefined: only ANALYZE would know. */
  readonly width: number | undefined;
  readonly nullFraction: number | undefined;
  /** Whether this role may see the statistics of it. */
  readonly readable: boolean;
}

export interface Index {
  readonly name: string;
  /** Numbers of its key columns; 0 is an expression. */
  readonly columns: readonly number[];
  readonly primary: boolean;
  /** The one that REPLICA IDENTITY USING INDEX named. */
  readonly isIdentity: boolean;
  readonly unique: boolean;
  /** Not deferrable. */
  readonly immediate: boolean;
  /** Valid, ready and live: whole, and kept up to date. */
  readonly valid: boolean;
  readonly partial: boolean;
}

/** What is known of a table without looking at its columns. */
export interface TableOutline {
  readonly id: number;
  readonly schemaId: number;
  readonly schema: string;
  readonly name: string;
  /** It has partitions, and no rows of its own. */
  readonly partitioned: boolean;
  /** Never sent by logical replication, whatever is published. */
  readonly unlogged: boolean;
  readonly identity: ReplicaIdentity;
  /** The partitioned tables it is a partition of, nearest first. */
  readonly ancestors: readonly number[];
  /** Tables that say INHERITS have it as a parent, or had: its name means them too, but after ONLY. */
  readonly hasHeirs: boolean;
}

export interface Table extends TableOutline {
  readonly columns: readonly Column[];
  readonly indexes: readonly Index[];
  /** As of the last VACUUM or ANALYZE; undefined: never. */
  readonly rows: number | undefined;
  /** Whether there are statistics of its columns, as far as is known. */
  readonly analyzed: boolean;
  /** Of its values out of line, in bytes. */
  readonly toastSize: number;
  /** Rows updated and deleted since the statistics began; undefined on a standby. */
  readonly changes: number | undefined;
}

/** The columns of those numbers, in that order. */
export function columnsOf(table: Table, numbers: readonly number[]): readonly Column[] {
  return numbers
    .map((number) => table.columns.find((column) => column.number === number))
    .filter((column) => column !== undefined);
}
