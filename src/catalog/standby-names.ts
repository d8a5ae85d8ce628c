// Whose acknowledgements COMMITs wait for: a reload may change it at any time.
// https://www.postgresql.org/docs/current/runtime-config-replication.html#GUC-SYNCHRONOUS-STANDBY-NAMES

import * as z from 'zod/mini';
import type { RunQuery } from './catalog-connection.ts';

const row = z.object({ names: z.string() });

/** synchronous_standby_names as it is now. */
export async function standbyNames(query: RunQuery): Promise<string> {
  const [[found] = []] = await query(
    `SELECT current_setting('synchronous_standby_names') AS names`,
  );
  return row.parse(found).names;
}
