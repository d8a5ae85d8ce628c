// A PgoutputPlugin and JSON.stringify program: see bench/references/plugin-script.ts.

import type { Consumer } from './consumer.ts';

/** `script` is its bundle. */
export function pluginConsumer(script: string): Consumer {
  return {
    name: 'plugin',
    plugin: 'pgoutput',
    command: ({ host, port, user, database, slot, publication, endLsn }) => [
      process.execPath,
      script,
      ...[host, String(port), user, database, slot, publication, endLsn],
    ],
  };
}
