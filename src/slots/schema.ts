// `pgtail slots` and its subcommands as schemas of their JSON: for tests and for whoever reads it.
// Nothing that runs imports this.

import { z } from 'zod';
import { inspectionSchema, lsnText, serverSchema } from '../findings/schema.ts';

const bytes = z.int().min(0);
const count = z.int().min(0);

const counters = z.strictObject({
  spill_txns: count,
  spill_count: count,
  spill_bytes: bytes,
  stream_txns: count,
  stream_count: count,
  stream_bytes: bytes,
  total_txns: count,
  total_bytes: bytes,
});

export const slotSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9_]{1,63}$/),
  kind: z.enum(['logical', 'physical']),
  plugin: z.string().optional(),
  database: z.string().optional(),
  temporary: z.boolean(),
  two_phase: z.boolean(),
  failover: z.boolean(),
  synced: z.boolean(),
  state: z.enum(['active', 'inactive', 'invalidated']),
  active_pid: count.optional(),
  application: z.string().optional(),
  role: z.string().optional(),
  client_addr: z.string().optional(),
  flush_lag_ms: z.number().min(0).optional(),
  inactive_since: z.iso.datetime({ offset: true }).optional(),
  invalidation_reason: z.string().optional(),
  wal_status: z.enum(['reserved', 'extended', 'unreserved', 'lost']).optional(),
  restart_lsn: lsnText.optional(),
  confirmed_flush_lsn: lsnText.optional(),
  retained_bytes: bytes.optional(),
  /** Only with --watch, from the second document on; negative: it keeps less and less. */
  retained_bytes_per_second: z.int().optional(),
  behind_bytes: bytes.optional(),
  safe_wal_bytes: bytes.optional(),
  xmin_age: count.optional(),
  catalog_xmin_age: count.optional(),
  counters: counters.optional(),
});

const settings = z.strictObject({
  max_replication_slots: count,
  max_wal_size_bytes: bytes,
  max_slot_wal_keep_size_bytes: bytes.optional(),
  idle_replication_slot_timeout_seconds: z.number().min(0).optional(),
});

export const slotsSchema = inspectionSchema('slots', {
  settings,
  /** As retained_bytes_per_second. */
  wal_bytes_per_second: bytes.optional(),
  slots: z.array(slotSchema),
});

const done = <Shape extends z.core.$ZodLooseShape>(command: string, found: Shape) =>
  z.strictObject({
    version: z.literal(1),
    command: z.literal(command),
    server: serverSchema,
    ...found,
  });

export const createdSchema = done('slots create', {
  slot: z.strictObject({
    name: z.string(),
    plugin: z.string(),
    database: z.string(),
    two_phase: z.boolean(),
    failover: z.boolean(),
    consistent_point: lsnText,
  }),
});

export const droppedSchema = done('slots drop', { dropped: z.array(z.string()) });

export const advancedSchema = done('slots advance', {
  slot: z.string(),
  from: lsnText,
  to: lsnText,
  skipped_bytes: bytes,
});
