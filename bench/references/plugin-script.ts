// A program to compare with: LogicalReplicationService, PgoutputPlugin and JSON.stringify, a line a
// row on standard output. Its arguments: host port user database slot publication end-lsn.

import { createWriteStream } from 'node:fs';
import { LogicalReplicationService, PgoutputPlugin } from 'pg-logical-replication';
import { PluginLines } from './plugin-lines.ts';

const STDOUT = 1;

/** Comparable as text: both halves have leading zeros. */
function position(lsn: string): string {
  const [high = '', low = ''] = lsn.split('/');
  return high.padStart(8, '0') + low.padStart(8, '0');
}

async function main([host, port, user, database, slot, publication, endLsn]: readonly string[]) {
  const out = createWriteStream('', { fd: STDOUT });
  const service = new LogicalReplicationService(
    { host: host!, port: Number(port), user: user!, database: database!, ssl: false },
    // its default is a status for each row, which nobody should pay for
    { acknowledge: { auto: false, timeoutSeconds: 10 } },
  );
  const lines = new PluginLines();
  const end = position(endLsn!);
  service.on('data', (lsn, message) => {
    if (message.tag === 'begin' && position(message.commitLsn!) > end) {
      out.end();
      void service.stop();
      return;
    }
    const line = lines.line(lsn, message);
    if (line !== undefined && !out.writableEnded) out.write(`${line}\n`);
  });
  const plugin = new PgoutputPlugin({ protoVersion: 1, publicationNames: [publication!] });
  await service.subscribe(plugin, slot!).catch((error: unknown) => {
    if (!out.writableEnded) throw error;
  });
}

void main(process.argv.slice(2));
