// `pgtail doctor` as a schema of its JSON: for tests and for whoever reads it.
// Nothing that runs imports this.

import { z } from 'zod';
import { findingSchema, inspectionSchema } from '../findings/schema.ts';

export const checkSchema = z.strictObject({
  /** A stable name, as in `wal-level`. */
  check: z.string().regex(/^[a-z]+(-[a-z0-9]+)*$/),
  subject: findingSchema.shape.subject,
  /** The worst of its findings. */
  result: z.enum(['ok', 'info', 'warning', 'error']),
  /** What was seen. */
  fact: z.string().min(1),
});

export const doctorSchema = inspectionSchema('doctor', {
  /** The one asked for, whether it exists or not; missing: a temporary one would be made. */
  slot: z.string().optional(),
  /** Those that are read: asked for, or the only one, as far as they exist. */
  publications: z.array(z.string()),
  checks: z.array(checkSchema).min(1),
});
