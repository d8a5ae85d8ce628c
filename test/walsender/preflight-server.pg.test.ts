// What the server itself must be set to: each test needs one of its own.

import { Client } from 'pg';
import { expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { runPgtail, startPgtail } from '../support/pgtail.ts';
import { startPrivateServer } from '../support/server.ts';

async function query(server: EmbeddedServer, ...statements: readonly string[]): Promise<void> {
  const client = new Client(server.connectionConfig());
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

const CREATE_SLOT = `SELECT pg_create_logical_replication_slot('audit', 'pgoutput')`;

const on = (server: EmbeddedServer): string[] => [
  ...['-h', server.host, '-p', String(server.port), '-U', server.user, '-d', 'postgres'],
];

it.concurrent('a wrong password is exit code 3 and is never shown', async () => {
  const password = 'Tr0ub4dor&3';
  await using server = await startPrivateServer({}, { password });
  await query(server, 'CREATE PUBLICATION shop');
  const none = await runPgtail(on(server));
  expect(none).toMatchObject({ code: 3, stdout: '' });
  expect(none.stderr).toMatch(/asks for a password.*\n.*PGPASSWORD/);
  const wrong = await runPgtail(on(server), { env: { PGPASSWORD: 'hunter2hunter2' } });
  expect(wrong).toMatchObject({ code: 3, stdout: '' });
  expect(wrong.stderr).toContain('password authentication failed');
  expect(wrong.stderr).not.toContain('hunter2');
  const uri = `postgresql://postgres:${encodeURIComponent(password)}@${server.host}:${server.port}/postgres`;
  const right = await runPgtail([uri, '--no-follow']);
  expect(right).toMatchObject({ code: 0, stdout: '' });
  expect(right.stderr).not.toContain(password);
});

it.concurrent('wal_level=replica is exit code 4 with the command that changes it', async () => {
  await using server = await startPrivateServer({ wal_level: 'replica' });
  await query(server, 'CREATE PUBLICATION shop');
  const { code, stderr } = await runPgtail(on(server));
  expect(code).toBe(4);
  expect(stderr).toMatch(/wal_level is replica.*\n.*ALTER SYSTEM SET wal_level = logical;/);
});

it.concurrent('no free slot or walsender is exit code 4, and the limit to raise is told', async () => {
  await using server = await startPrivateServer({
    max_replication_slots: '1',
    max_wal_senders: '1',
  });
  await query(server, 'CREATE PUBLICATION shop', CREATE_SLOT);
  const noSlot = await runPgtail(on(server));
  expect(noSlot).toMatchObject({ code: 4, stdout: '' });
  expect(noSlot.stderr).toMatch(/cannot create slot "pgtail_\w+": /);
  expect(noSlot.stderr).toMatch(/HINT: .*max_replication_slots/);
  await using reader = startPgtail([...on(server), '-S', 'audit']);
  await reader.started();
  const noSender = await runPgtail([...on(server), '-S', 'audit']);
  expect(noSender).toMatchObject({ code: 4, stdout: '' });
  expect(noSender.stderr).toMatch(/HINT: .*max_wal_senders/);
  expect(await reader.stop()).toMatchObject({ code: 0 });
});

it.concurrent('a slot whose WAL was removed is exit code 6, and what to do', async () => {
  await using server = await startPrivateServer({
    max_slot_wal_keep_size: '1MB',
    min_wal_size: '32MB',
    max_wal_size: '32MB',
  });
  const fillSegment = ['SELECT txid_current()', 'SELECT pg_switch_wal()'];
  await query(server, 'CREATE PUBLICATION shop', CREATE_SLOT);
  await query(server, ...fillSegment, ...fillSegment, ...fillSegment, 'CHECKPOINT');
  const { code, stderr } = await runPgtail([...on(server), '-S', 'audit']);
  expect(code).toBe(6);
  expect(stderr).toMatch(/slot "audit" is lost.*\n.*drop it and make a new one/);
});
