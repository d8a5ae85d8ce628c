// Records the messages of each shape of rows from an embedded server: npm run bench:record

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Client } from 'pg';
import { startEmbeddedServer } from '../../src/demo/embedded-server.ts';
import { parseLsn } from '../../src/lsn.ts';
import { withClient } from '../server/benchmark-server.ts';
import { packMessages, type RecordedMessage } from './frames-file.ts';
import { recordingFile, type TupleFormat, tag } from './recording.ts';
import { ROW_SHAPES, type RowShape } from './shapes.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url));

const MESSAGES = `
  SELECT lsn::text AS lsn, data FROM pg_logical_slot_peek_binary_changes('bench', NULL, NULL,
    'proto_version', '1', 'publication_names', 'bench', 'binary', $1)`;

async function record(): Promise<void> {
  await using server = await startEmbeddedServer({ settings: { autovacuum: 'off' } });
  await withClient(server, 'postgres', async (client) => {
    await client.query("SET timezone = 'UTC'; SET extra_float_digits = 3; CREATE SCHEMA bench");
    for (const shape of ROW_SHAPES) await recordShape(client, shape);
  });
}

async function recordShape(client: Client, shape: RowShape): Promise<void> {
  for (const statement of shape.setup) await client.query(statement);
  await client.query(`CREATE PUBLICATION bench FOR TABLE bench.${shape.name}`);
  await client.query("SELECT pg_create_logical_replication_slot('bench', 'pgoutput')");
  await client.query(shape.change);
  for (const format of ['text', 'binary'] as const) await write(client, shape, format);
  await client.query("SELECT pg_drop_replication_slot('bench')");
  await client.query('DROP PUBLICATION bench');
}

async function write(client: Client, { name }: RowShape, format: TupleFormat): Promise<void> {
  const { rows } = await client.query<{ lsn: string; data: Buffer }>(MESSAGES, [
    String(format === 'binary'),
  ]);
  const file = packMessages(rows.map(({ lsn, data }) => recorded(lsn, data)));
  writeFileSync(recordingFile(FIXTURES, name, format), file);
  process.stderr.write(`${name} ${format}: ${rows.length} messages, ${file.length} bytes\n`);
}

/** In the replication stream, what announces something has no position. */
function recorded(lsn: string, bytes: Buffer): RecordedMessage {
  const message = { walStart: { high: 0, low: 0 }, bytes };
  if (tag(message) === 'R' || tag(message) === 'Y') return message;
  const position = parseLsn(lsn)!;
  const walStart = { high: Number(position >> 32n), low: Number(position & 0xffff_ffffn) };
  return { walStart, bytes };
}

await record();
