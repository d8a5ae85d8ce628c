// Records what a real server sends, with the output pgtail must make of it:
// npx tsx scripts/record-fixtures.ts [MAJOR…] writes test/fixtures/<major>/<scenario>.*
// Nothing is written unless two witnesses agree: see test/fixtures/oracles.ts.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { connectionSettings } from '../src/connection/settings.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../src/demo/embedded-server.ts';
import { INVALID_LSN, lsnFromWords } from '../src/lsn.ts';
import type { CatalogTypes } from '../src/pgtypes/type-facts.ts';
import { startReplication } from '../src/walsender/commands.ts';
import { streamSettings } from '../src/walsender/pinned-settings.ts';
import { ReplicationSession } from '../src/walsender/session.ts';
import { readWalStart, XLOG_DATA, XLOG_DATA_HEADER_LENGTH } from '../src/wire/replication.ts';
import {
  checkAgainstPlugin,
  checkAgainstServer,
  type WitnessedRow,
} from '../test/fixtures/oracles.ts';
import { calls, type Frame, framesText, replay } from '../test/fixtures/replay.ts';
import { SCENARIOS, type Scenario } from '../test/fixtures/scenarios.ts';
import { catalogTypes } from '../test/support/catalog-types.ts';
import { nativeDirectory } from '../test/support/server-binaries.ts';

const FIXTURES = fileURLToPath(new URL('../test/fixtures', import.meta.url));

const SERVER_SETTINGS = {
  autovacuum: 'off',
  max_prepared_transactions: '20',
  logical_decoding_work_mem: '64kB',
};

/** The last message of each scenario: it is not recorded. */
const END_PREFIX = 'end of the recording';

/** A trigger on each table writes down every new row as the server's own JSON. */
const WITNESS = `
  CREATE SCHEMA shop;
  CREATE SCHEMA witness;
  CREATE TABLE witness.rows (n bigint GENERATED ALWAYS AS IDENTITY, xid bigint, json text);
  CREATE TABLE witness.filler (body text);
  CREATE FUNCTION witness.note() RETURNS trigger LANGUAGE plpgsql SET timezone = 'UTC' AS $$
    BEGIN
      INSERT INTO witness.rows (xid, json)
        VALUES (pg_current_xact_id()::text::bigint % 4294967296, row_to_json(NEW)::text);
      RETURN NULL;
    END $$`;

/** The tables to publish: a partitioned one stands for its partitions. */
const TABLES = `
  SELECT oid::regclass::text AS name FROM pg_class
   WHERE relnamespace = 'shop'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
   ORDER BY oid`;

async function record(majors: readonly string[]): Promise<void> {
  for (const major of majors) {
    await using server = await startEmbeddedServer({
      nativeDirectory: nativeDirectory(major),
      settings: SERVER_SETTINGS,
    });
    const possible = SCENARIOS.filter(({ since = 14 }) => server.major >= since);
    const folder = join(FIXTURES, String(server.major));
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const scenario of possible) await recordScenario(server, scenario, folder);
  }
}

async function recordScenario(
  server: EmbeddedServer,
  scenario: Scenario,
  folder: string,
): Promise<void> {
  const { name } = scenario;
  const database = name.replaceAll('-', '_');
  await withClient(server, 'postgres', (admin) => admin.query(`CREATE DATABASE ${database}`));
  const witnessed = await withClient(server, database, (client) => play(client, scenario));
  const frames = await receive(server, database, scenario);
  const { host, port, user, major } = server;
  const connection = { host, port, user, database, ssl: false };
  const announced = calls(frames).flatMap((call) =>
    call.call === 'type' ? [call.type.typeId] : [],
  );
  const catalog = await catalogTypes(connection, major, [...new Set(announced)]);
  const ndjson = replay(frames, 'ndjson', { catalog });
  try {
    if (scenario.protocol === 1) checkAgainstPlugin(frames);
    checkAgainstServer(frames, ndjson, witnessed);
  } catch (cause) {
    throw new Error(`${server.major}, ${name}: the witnesses disagree`, { cause });
  }
  writeFileSync(join(folder, `${name}.frames`), framesText(frames));
  writeFileSync(join(folder, `${name}.ndjson`), ndjson);
  writeFileSync(join(folder, `${name}.pretty`), replay(frames, 'pretty', { catalog }));
  if (catalog.facts.length > 0) writeFileSync(join(folder, `${name}.types.json`), inLines(catalog));
  process.stderr.write(`${server.major} ${name}: ${frames.length} frames\n`);
}

/** One type or name a line. */
function inLines({ facts, names }: CatalogTypes): string {
  const list = (items: readonly object[]): string =>
    items.map((item) => JSON.stringify(item)).join(',\n');
  return `{"facts":[\n${list(facts)}\n],"names":[\n${list(names)}\n]}\n`;
}

/** Makes the tables, the publication and the slot, and then the changes. */
async function play(client: Client, scenario: Scenario): Promise<WitnessedRow[]> {
  await client.query(WITNESS);
  await client.query(scenario.setup);
  const { rows: tables } = await client.query<{ name: string }>(TABLES);
  const names = tables.map(({ name }) => name);
  for (const table of names) await client.query(witnessTrigger(table));
  const viaRoot = scenario.viaPartitionRoot ? ' WITH (publish_via_partition_root)' : '';
  await client.query(`CREATE PUBLICATION shop FOR TABLE ${names.join(', ')}${viaRoot}`);
  await client.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput', false, $2)`, [
    slotName(scenario),
    scenario.twoPhase ?? false,
  ]);
  for (const statement of scenario.statements) await client.query(statement);
  await client.query(`SELECT pg_logical_emit_message(false, '${END_PREFIX}', '')`);
  // a commit has the message before it flushed
  await client.query(`INSERT INTO witness.filler VALUES ('done')`);
  const { rows } = await client.query<{ xid: string; json: string }>(
    'SELECT xid, json FROM witness.rows ORDER BY n',
  );
  return rows.map(({ xid, json }) => ({ xid: Number(xid), json }));
}

const slotName = ({ name }: Scenario): string => `record_${name.replaceAll('-', '_')}`;

const witnessTrigger = (table: string): string =>
  `CREATE TRIGGER witness AFTER INSERT OR UPDATE ON ${table}
     FOR EACH ROW EXECUTE FUNCTION witness.note()`;

/** Everything the server sends up to the last message. */
async function receive(
  server: EmbeddedServer,
  database: string,
  scenario: Scenario,
): Promise<Frame[]> {
  const { host, port, user } = server;
  const settings = connectionSettings(
    { host, port: String(port), username: user, dbname: database },
    { env: { PGSSLMODE: 'disable' }, userName: userInfo().username, exists: () => false },
  );
  const session = await ReplicationSession.connect(settings, () => {});
  const frames: Frame[] = [];
  try {
    await session.query(streamSettings({ unconverted: false, money: { kind: 'in effect' } }));
    await collect(session, scenario, frames);
  } finally {
    session.destroy();
  }
  return frames;
}

function collect(session: ReplicationSession, scenario: Scenario, frames: Frame[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let done = false;
    session.attach({
      frame(bytes, start, end) {
        if (done || bytes[start] !== XLOG_DATA) return;
        const walStart = { high: 0, low: 0 };
        readWalStart(bytes, start, end, walStart);
        const message = Buffer.from(bytes.subarray(start + XLOG_DATA_HEADER_LENGTH, end));
        done = message.includes(END_PREFIX);
        if (done) return resolve();
        frames.push({ walStart: lsnFromWords(walStart.high, walStart.low), payload: message });
      },
      batchEnd() {},
    });
    const command = startReplication({
      slot: slotName(scenario),
      from: INVALID_LSN,
      options: pluginOptions(scenario),
    });
    session
      .start(command)
      .then(({ ended }) => ended, reject)
      .catch(reject);
  });
}

function pluginOptions({ protocol, streaming, twoPhase }: Scenario): Record<string, string> {
  return {
    proto_version: String(protocol),
    publication_names: '"shop"',
    messages: 'true',
    ...(streaming !== undefined && { streaming }),
    ...(twoPhase && { two_phase: 'on' }),
  };
}

async function withClient<T>(
  { host, port, user }: EmbeddedServer,
  database: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ host, port, user, database, ssl: false });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const majors = process.argv.slice(2);
await record(majors.length > 0 ? majors : ['18']);
