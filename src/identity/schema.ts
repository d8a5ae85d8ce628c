// `pgtail identity` as a schema of its JSON: for tests and for whoever reads it. Nothing that runs
// imports this.

import { z } from 'zod';
import { inspectionSchema } from '../findings/schema.ts';

const count = z.int().min(0);
const bytes = z.int().min(0);
const names = z.array(z.string().min(1));

/** A table under which rows are sent, or whose partition one is. */
const tableName = z.strictObject({ schema: z.string(), table: z.string() });

const published = z.strictObject({
  publication: z.string(),
  operations: z.array(z.enum(['insert', 'update', 'delete', 'truncate'])),
  /** Another table, whose rows they are sent as. */
  as: tableName.optional(),
  /** The column list, if there is one. */
  columns: names.optional(),
  /** The row filter, as the server prints it. */
  filter: z.string().optional(),
  generated_not_sent: names.optional(),
});

/** What REPLICA IDENTITY FULL writes to the WAL besides: of this table, or so much more than now. */
const fullPrice = z.strictObject({
  /** For each UPDATE and DELETE, as estimated; left out: no statistics. */
  bytes: bytes.optional(),
  /** With --what-if. */
  measured: z.strictObject({ rows: count, update_bytes: bytes, delete_bytes: bytes }).optional(),
  /** Rows updated and deleted as far as they were counted; left out: on a standby. */
  changes: count.optional(),
  changes_per_day: count.optional(),
});

export const tableIdentitySchema = z.strictObject({
  schema: z.string(),
  table: z.string(),
  partitioned: z.boolean(),
  /** The topmost table that it is a partition of. */
  root: tableName.optional(),
  unlogged: z.literal(true).optional(),
  identity: z.enum(['default', 'index', 'full', 'nothing']),
  /** The one that `identity` means, usable or not; left out: it means none, or it is gone. */
  index: z.string().optional(),
  /** Whether the server can tell a row by it. */
  usable: z.boolean(),
  key: names.min(1).optional(),
  /** Keys of the NDJSON lines; unchanged is in some. Empty: nothing says which row it was. */
  update_shows: z.array(z.enum(['key', 'old', 'new', 'unchanged', 'changed'])),
  delete_shows: z.array(z.enum(['key', 'old'])),
  /** Columns that an update may leave out. */
  toasted: names,
  /** What fails in the application. */
  fails: z.array(z.enum(['update', 'delete'])),
  published: z.array(published),
  /** Left out for a partitioned table, which has no rows of its own. */
  full_price: fullPrice.optional(),
  /** With --what-if: why there is nothing to measure. */
  not_measured: z.enum(['partitioned', 'unlogged', 'empty', 'without columns']).optional(),
});

export const identitySchema = inspectionSchema('identity', {
  tables: z.array(tableIdentitySchema),
});
