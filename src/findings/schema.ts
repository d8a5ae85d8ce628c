// The JSON document of an inspection command as a schema: for tests and for whoever reads it.
// Nothing that runs imports this.

import { z } from 'zod';

export const lsnText = z.string().regex(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/);

export const findingSchema = z.strictObject({
  id: z.string().regex(/^[a-z]+(-[a-z0-9]+)*$/),
  severity: z.enum(['error', 'warning', 'info']),
  subject: z.strictObject({
    kind: z.enum(['server', 'role', 'publication', 'table', 'slot']),
    name: z.string().optional(),
  }),
  fact: z.string().min(1),
  consequence: z.string().min(1),
  fix: z.array(z.string().min(1)).min(1),
});

export const serverSchema = z.strictObject({
  version: z.string().regex(/^\d+(\.\d+)*/),
  major: z.int().min(10),
  database: z.string(),
  role: z.string(),
  in_recovery: z.boolean(),
  wal_end: lsnText.optional(),
});

/** The document of `command`, which says `found` between its server and its findings. */
export function inspectionSchema<Shape extends z.core.$ZodLooseShape>(
  command: string,
  found: Shape,
) {
  return z.strictObject({
    version: z.literal(1),
    command: z.literal(command),
    server: serverSchema,
    ...found,
    findings: z.array(findingSchema),
    unreadable: z.array(z.string()).min(1).optional(),
  });
}
