// PostgreSQL's own client, with each of its output plugins.
// https://www.postgresql.org/docs/current/app-pgrecvlogical.html

import type { Consumer, ConsumerTask } from './consumer.ts';

export interface RecvlogicalPlace {
  readonly recvlogical: string | undefined;
  readonly hasWal2json: boolean;
}

export function recvlogicalConsumers({ recvlogical, hasWal2json }: RecvlogicalPlace): Consumer[] {
  const program = recvlogical ?? 'pg_recvlogical';
  const missing =
    recvlogical === undefined
      ? 'no pg_recvlogical here: apt-get install postgresql-client-15'
      : undefined;
  const noWal2json = hasWal2json
    ? undefined
    : 'the server has no wal2json: apt-get install postgresql-15-wal2json';
  return [
    {
      name: 'recvlogical',
      plugin: 'pgoutput',
      missing,
      command: (task) => [
        ...start(program, task),
        ...['-o', 'proto_version=1', '-o', `publication_names=${task.publication}`],
      ],
    },
    {
      name: 'wal2json',
      plugin: 'wal2json',
      missing: missing ?? noWal2json,
      command: (task) => [...start(program, task), '-o', 'format-version=2'],
    },
    {
      name: 'test_decoding',
      plugin: 'test_decoding',
      missing,
      command: (task) => start(program, task),
    },
  ];
}

/** Nothing is synced to the disk: pgtail does not sync what it writes to standard output, either. */
function start(program: string, { host, port, user, database, slot, endLsn }: ConsumerTask) {
  return [
    program,
    ...['--host', host, '--port', String(port), '--username', user, '--dbname', database],
    ...['--slot', slot, '--start', '--endpos', endLsn, '--no-loop'],
    ...['--file', '-', '--fsync-interval', '0'],
  ];
}
