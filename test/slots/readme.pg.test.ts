// The slots that the README shows are those of a real server, whatever their sizes and times.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import { sharedServer, startPrivateServer } from '../support/server.ts';
import { Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const README = fileURLToPath(new URL('../../README.md', import.meta.url));
const LIST = /```sh\npgtail slots\n```\n```text\n([\s\S]*?)```/;

/** Without what differs from run to run, widths and the order of slots that are fine included. */
function withoutFigures(text: string): string {
  const lines = text
    .replaceAll(/PostgreSQL 18\.\d+/g, 'PostgreSQL')
    .replaceAll(/PID \d+/g, 'PID')
    .replaceAll(/[0-9A-F]+\/[0-9A-F]+/g, 'LSN')
    .replaceAll(/\d[\d.]* (B|kB|MB|GB)(, \d+ ms)?/g, 'SIZE')
    .replaceAll(/\d[\d.]* (s|min)\b/g, 'TIME')
    .replaceAll(/ {2,}/g, '  ')
    .split('\n');
  return lines.toSorted().join('\n');
}

it.runIf(sharedServer().major === 18)('the slots are listed as the README shows it', async () => {
  await using own = await startPrivateServer({
    max_replication_slots: '10',
    max_slot_wal_keep_size: '10GB',
    max_wal_size: '32MB',
  });
  const { host, port, user, socketDirectory, major, version } = own;
  await using shop = await Shop.open({ host, port, user, socketDirectory, major, version });
  await shop.createSlot('old_etl');
  const write = `SELECT pg_logical_emit_message(false, 'app', repeat('x', 1000000))`;
  for (let i = 0; i < 40; i++) await shop.database.sql(write);
  await shop.database.query('SELECT pg_drop_replication_slot($1)', [shop.slot]);
  const args = [...shop.database.options, '-P', 'shop', '-S', 'audit', '--create-slot'];
  await using reader = startPgtail(args, { env: { PGAPPNAME: 'billing' } });
  await reader.started();
  await shop.database.sql(`SELECT pg_create_physical_replication_slot('replica', true)`);
  const list = ['slots', ...shop.database.options, '--format', 'pretty'];
  const [, shown = ''] = LIST.exec(readFileSync(README, 'utf8')) ?? [];
  const expected = withoutFigures(shown);
  let printed = '';
  // until the reader has told how long a flush takes
  await until(async () => {
    const { stdout } = await runPgtail(list);
    printed = withoutFigures(stdout.replaceAll(shop.database.name, 'shop'));
    return printed === expected;
  }).catch(() => {}); // what differs says more
  expect(printed).toBe(expected);
  expect((await reader.stop()).code).toBe(0);
});
