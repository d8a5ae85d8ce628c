// Rows and relations of a small shop, built without a server, to feed the pretty formatter.

import { ByteWriter } from '../../../src/byte-writer.ts';
import type { Change, Formatter, Transaction } from '../../../src/format/formatter.ts';
import { PrettyFormatter } from '../../../src/format/pretty/formatter.ts';
import type { Relation, ReplicaIdentity } from '../../../src/pgoutput/relation.ts';
import {
  COLUMN_BINARY,
  COLUMN_NULL,
  COLUMN_TEXT,
  COLUMN_UNCHANGED,
  TupleData,
  type TupleRole,
} from '../../../src/pgoutput/tuple.ts';
import { TypeRegistry } from '../../../src/pgtypes/type-registry.ts';
import type { ColorLevel } from '../../../src/terminal/color.ts';
import { createTheme } from '../../../src/terminal/theme.ts';
import { timestampFromUnixMs } from '../../../src/wire/timestamp.ts';

export const TYPES = {
  bool: 16,
  bytea: 17,
  bigint: 20,
  integer: 23,
  text: 25,
  json: 114,
  timestamptz: 1184,
  numeric: 1700,
  uuid: 2950,
  jsonb: 3802,
} as const;

export const UNCHANGED = Symbol('unchanged TOAST value');
export type Value = string | null | typeof UNCHANGED | Buffer;

/** A tuple as the decoder hands it over: all values in one buffer, with strange bytes around. */
export function row(role: TupleRole, values: readonly Value[]): TupleData {
  const tuple = new TupleData(role);
  tuple.reserve(values.length);
  tuple.columnCount = values.length;
  const parts: Buffer[] = [Buffer.from('~~~')];
  let length = 3;
  for (const [column, value] of values.entries()) {
    tuple.kinds[column] = kindOf(value);
    if (value === null || value === UNCHANGED) continue;
    const bytes = typeof value === 'string' ? Buffer.from(value) : (value as Buffer);
    tuple.starts[column] = length;
    length += bytes.length;
    tuple.ends[column] = length;
    parts.push(bytes);
  }
  tuple.bytes = Buffer.concat([...parts, Buffer.from('~~~')]);
  return tuple;
}

function kindOf(value: Value): number {
  if (value === null) return COLUMN_NULL;
  if (value === UNCHANGED) return COLUMN_UNCHANGED;
  return typeof value === 'string' ? COLUMN_TEXT : COLUMN_BINARY;
}

let nextRelationId = 16_392;

/** `table('shop.orders', 'default', { 'id*': TYPES.bigint })`: a `*` marks the key. */
export function table(
  qualified: string,
  identity: ReplicaIdentity,
  columns: Readonly<Record<string, number>>,
  relationId = nextRelationId++,
): Relation {
  const [schema = '', name = ''] = qualified.split('.');
  return {
    relationId,
    schema,
    name,
    identity,
    columns: Object.entries(columns).map(([column, typeId]) => ({
      name: column.replace(/\*$/, ''),
      typeId,
      typmod: -1,
      key: identity === 'full' || column.endsWith('*'),
    })),
  };
}

export const orders = table('shop.orders', 'default', {
  'id*': TYPES.bigint,
  customer_id: TYPES.bigint,
  status: TYPES.text,
  total: TYPES.numeric,
  note: TYPES.text,
});

export const stock = table('shop.stock', 'full', {
  article_id: TYPES.bigint,
  warehouse: TYPES.text,
  quantity: TYPES.integer,
  checked_at: TYPES.timestamptz,
});

export const articles = table('shop.articles', 'default', {
  'id*': TYPES.bigint,
  name: TYPES.text,
  price: TYPES.numeric,
  body: TYPES.text,
});

const COMMIT_MS = Date.UTC(2026, 10, 29, 20, 36, 50, 55);
export const COMMIT_TIME = timestampFromUnixMs(COMMIT_MS);
export const COMMIT = { commitLsn: 0x16b3900n, endLsn: 0x16b3930n, commitTime: COMMIT_TIME };

export const TRANSACTION: Transaction = {
  kind: 'committed',
  xid: 745,
  commitLsn: COMMIT.commitLsn,
  commitTime: COMMIT_TIME,
};

export const PREPARE = {
  prepareLsn: 0x16b3900n,
  endLsn: 0x16b3930n,
  prepareTime: COMMIT_TIME,
  xid: 745,
  gid: 'order-77',
};

export const STREAMED: Transaction = { kind: 'streamed', xid: 745 };

export function change(transaction: Transaction = TRANSACTION, subxid = 0): Change {
  return { transaction, seq: 1, lsnHigh: 0, lsnLow: 0x16b3748, subxid };
}

export interface Screen {
  readonly format: Formatter;
  /** What was written since the last call. */
  readonly text: () => string;
}

export interface ScreenSettings {
  readonly columns?: number | (() => number);
  readonly colors?: ColorLevel;
  /** How long after the commit the clock stands. */
  readonly behindMs?: number;
  /** Relation ids of partitioned tables of which a leaf is not FULL. */
  readonly partialRoots?: ReadonlySet<number>;
}

export function screen(settings: ScreenSettings = {}): Screen {
  const { columns = 120, colors = 0, behindMs = 12, partialRoots = new Set<number>() } = settings;
  const writer = new ByteWriter();
  const format = new PrettyFormatter({
    writer,
    types: new TypeRegistry(),
    leaves: {
      limitsOf: ({ relationId, columns }) =>
        partialRoots.has(relationId)
          ? { oldIsPartial: true, keptColumns: columns.map(() => false) }
          : undefined,
    },
    theme: createTheme(colors),
    columns: typeof columns === 'number' ? () => columns : columns,
    now: () => COMMIT_MS + behindMs,
    timeZone: 'UTC',
  });
  return { format, text: () => writer.take().toString() };
}
