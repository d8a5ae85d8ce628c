// pgtail itself, as it is installed.

import { fileURLToPath } from 'node:url';
import type { Consumer, ConsumerTask } from './consumer.ts';

export const PGTAIL = fileURLToPath(new URL('../../bin/pgtail.js', import.meta.url));

/** `options` are added to each command line. */
export function pgtailConsumers(options: readonly string[]): Consumer[] {
  const command = (format: string) => (task: ConsumerTask) => [
    process.execPath,
    PGTAIL,
    ...source(task),
    ...['--format', format, '--quiet'],
    ...options,
  ];
  return [
    { name: 'pgtail', plugin: 'pgoutput', command: command('ndjson') },
    { name: 'pgtail-pipe', plugin: 'pgoutput', piped: true, command: command('ndjson') },
    { name: 'pgtail-pretty', plugin: 'pgoutput', command: command('pretty') },
  ];
}

function source({ host, port, user, database, publication, slot, endLsn }: ConsumerTask) {
  return [
    ...['-h', host, '-p', String(port), '-U', user, '-d', database],
    ...['-S', slot, '-P', publication, '--end-lsn', endLsn],
  ];
}
