// The run of the doctor that the README shows is a real one.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runPgtail } from '../support/pgtail.ts';
import { sharedServer, startPrivateServer } from '../support/server.ts';
import { Patient } from './patient.ts';

const README = fileURLToPath(new URL('../../README.md', import.meta.url));
const RUN = /```sh\n(pgtail doctor [^\n]*)\n```\n```text\n([\s\S]*?)```/;

it.runIf(sharedServer().major === 18)('the doctor prints what the README shows', async () => {
  await using own = await startPrivateServer({
    wal_sender_timeout: '0',
    max_replication_slots: '10',
    max_wal_senders: '10',
    max_connections: '100',
  });
  const { host, port, user } = own;
  const server = new Patient({ host, port, user, database: 'postgres' });
  await server.sql('CREATE DATABASE shop');
  await server.sql('CREATE ROLE cdc LOGIN REPLICATION');
  const shop = new Patient({ host, port, user, database: 'shop' });
  await shop.sql(`CREATE TABLE orders (id int PRIMARY KEY); CREATE TABLE customers (id int PRIMARY KEY);
    CREATE TABLE log (line text); CREATE PUBLICATION shop FOR TABLE orders`);
  const [, command = '', output = ''] = RUN.exec(readFileSync(README, 'utf8')) ?? [];
  const env = {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: 'cdc',
    PGDATABASE: 'shop',
    PGTAIL_FORMAT: 'pretty',
    COLUMNS: '100',
  };
  const { code, stdout } = await runPgtail(command.split(' ').slice(1), { env });
  const anyVersion = (text: string): string => text.replaceAll(/PostgreSQL 18\.\d+/g, 'PostgreSQL');
  expect(anyVersion(stdout)).toBe(anyVersion(output));
  expect(code).toBe(4);
});
