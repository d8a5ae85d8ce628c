// A document that is longer than a pipe holds is printed whole, also to a reader that takes its time.

import { expect, it } from 'vitest';
import { runPgtail, runShell } from '../support/pgtail.ts';
import { withDatabase } from '../support/server.ts';

const LONG_NAME = 'a_table_with_a_name_that_is_long_enough_to_fill_a_line';

/** Bash reads from a pipe byte by byte: slower than anything is written. */
const SLOW_READER = `while IFS= read -r line; do printf '%s\\n' "$line"; done`;

/** Other tests write on the same server. */
const withoutPosition = (text: string): string => text.replace(/"wal_end":"[^"]*"/, '');

it.each(['pretty', 'json'])('in %s, whole, as fast as the reader takes it', async (format) => {
  await withDatabase(async (database) => {
    await database.sql(`DO $$ BEGIN FOR i IN 1..400 LOOP
      EXECUTE format('CREATE TABLE ${LONG_NAME}_%s (id int PRIMARY KEY, note text)', i);
    END LOOP; END $$`);
    const args = ['identity', ...database.options, '--format', format, '--verbose'];
    const { stdout: whole } = await runPgtail(args);
    expect(whole.length).toBeGreaterThan(100_000);
    const command = `set -o pipefail; pgtail ${args.join(' ')} | ${SLOW_READER}`;
    const { code, stdout, stderr } = await runShell(command);
    expect(stderr).toBe('');
    expect(withoutPosition(stdout) === withoutPosition(whole)).toBe(true);
    expect(code).toBe(0);
  });
});
