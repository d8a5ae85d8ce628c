// The command line of npm run bench:live.

import { parseArgs } from 'node:util';
import { count } from '../measure/count-option.ts';
import type { ConnectionKind } from '../server/benchmark-server.ts';
import { SHAPES, type Shape, shapeNamed } from '../server/orders.ts';

export const USAGE = `npm run bench:live -- [OPTIONS]
  --rows N                 row changes in each shape (500000)
  --runs N                 runs of each consumer (5)
  --shapes LIST            of ${SHAPES.map(({ name }) => name).join(',')} (all)
  --consumers LIST         of recvlogical,wal2json,test_decoding,plugin,pgtail,pgtail-pipe,
                           pgtail-pretty (all)
  --connection KIND        socket, tcp or both (socket)
  --pgtail-options TEXT    added to pgtail's command line, as in '--binary'
  --server FOLDER          a PostgreSQL installation with bin/ and lib/
  --json                   results as JSON, the table on standard error
`;

export interface LiveOptions {
  readonly rows: number;
  readonly runs: number;
  readonly shapes: readonly Shape[];
  /** Undefined: all. */
  readonly consumers: readonly string[] | undefined;
  readonly connections: readonly ConnectionKind[];
  readonly pgtailOptions: readonly string[];
  readonly server: string | undefined;
  readonly json: boolean;
}

/** Undefined if help is asked for. @throws on a wrong option */
export function liveOptions(args: readonly string[]): LiveOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string', default: '500000' },
      runs: { type: 'string', default: '5' },
      shapes: { type: 'string' },
      consumers: { type: 'string' },
      connection: { type: 'string', default: 'socket' },
      'pgtail-options': { type: 'string', default: '' },
      server: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  return {
    rows: count('rows', values.rows),
    runs: count('runs', values.runs),
    shapes: values.shapes === undefined ? SHAPES : values.shapes.split(',').map(shapeNamed),
    consumers: values.consumers?.split(','),
    connections: connectionKinds(values.connection),
    pgtailOptions: values['pgtail-options'].split(' ').filter((word) => word !== ''),
    server: values.server,
    json: values.json,
  };
}

function connectionKinds(text: string): ConnectionKind[] {
  if (text === 'both') return ['socket', 'tcp'];
  if (text === 'socket' || text === 'tcp') return [text];
  throw new Error(`--connection takes socket, tcp or both, got "${text}"`);
}
