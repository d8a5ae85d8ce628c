// Slots on a standby: listed on any, made from 16 on; the copy of a primary's slot follows it (17+).

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { createdSchema, slotsSchema } from '../../src/slots/schema.ts';
import { type PgtailResult, runPgtail, startPgtail } from '../support/pgtail.ts';
import { startPrivateServer } from '../support/server.ts';
import { FIRST_WITH_STANDBY_SIGNAL, startStandby } from '../support/standby.ts';
import { until } from '../support/until.ts';

const major = Number(process.env.PGTAIL_TEST_MAJOR || 18);

describe.skipIf(major < FIRST_WITH_STANDBY_SIGNAL)('on a standby', () => {
  let primary: EmbeddedServer;
  let standby: EmbeddedServer;

  beforeAll(async () => {
    primary = await startPrivateServer();
    await run(primary, `SELECT pg_create_physical_replication_slot('replica', true)`);
    const syncs = major >= 17 ? { sync_replication_slots: 'on' } : {};
    standby = await startStandby(primary, {
      primary_slot_name: 'replica',
      hot_standby_feedback: 'on',
      wal_receiver_status_interval: '1s',
      ...syncs,
    });
  });

  afterAll(async () => {
    await standby?.stop();
    await primary?.stop();
  });

  const slots = (server: EmbeddedServer, ...args: readonly string[]): Promise<PgtailResult> =>
    runPgtail(['slots', ...args, ...optionsOf(server)]);

  it('slots are listed', async () => {
    await run(standby, `SELECT pg_create_physical_replication_slot('cascade')`);
    const { code, stdout } = await slots(standby);
    expect(code).toBe(0);
    const document = slotsSchema.parse(JSON.parse(stdout));
    expect(document.server).toMatchObject({ in_recovery: true, wal_end: expect.any(String) });
    expect(document.slots.map(({ name }) => name)).toContain('cascade');
    const pretty = await slots(standby, '--format', 'pretty');
    expect(pretty.stdout).toMatch(/^PostgreSQL \d+[.\d]*, a standby: /);
  });

  it.skipIf(major >= 16)('a logical slot cannot be made before 16', async () => {
    const { code, stderr } = await slots(standby, 'create', 'audit');
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringMatching(/standby/) });
  });

  it.skipIf(major < 16)(
    'a logical slot is made once the primary logs its transactions',
    async () => {
      await using child = startPgtail(['slots', 'create', 'audit', ...optionsOf(standby)]);
      const notice = await child.notice(/a standby makes a slot once .*/);
      const [statement] = /SELECT pg_log_standby_snapshot\(\);/.exec(notice) ?? [''];
      // it may take until the standby looks for it
      const ended = until(async () => {
        await run(primary, statement);
        return child.stdout !== '';
      });
      const { code, stdout } = await child.exited;
      await ended;
      expect(code).toBe(0);
      expect(createdSchema.parse(JSON.parse(stdout)).slot.name).toBe('audit');
      expect((await slots(standby, 'drop', 'audit', '--yes')).code).toBe(0);
    },
  );

  it.skipIf(major < 17)('the copy of a slot cannot be changed, and it is said why', async () => {
    await run(
      primary,
      `SELECT pg_create_logical_replication_slot('orders', 'pgoutput', false, false, true)`,
    );
    await until(async () => {
      await run(primary, 'SELECT pg_log_standby_snapshot()');
      const { slots: found } = slotsSchema.parse(JSON.parse((await slots(standby)).stdout));
      return found.some(({ name, synced, temporary }) => name === 'orders' && synced && !temporary);
    });
    for (const args of [
      ['drop', 'orders'],
      ['advance', 'orders', '0/1'],
    ]) {
      const { code, stderr } = await slots(standby, ...args, '--yes');
      expect({ code, stderr }).toEqual({
        code: 4,
        stderr: expect.stringMatching(/is the copy that this standby keeps .*\n.*on the primary/),
      });
    }
    expect((await slots(primary, 'drop', 'orders', '--yes')).code).toBe(0);
    await until(async () => !(await slots(standby)).stdout.includes('"orders"'));
  });
});

const optionsOf = ({ host, port, user }: EmbeddedServer): readonly string[] => [
  '-h',
  host,
  '-p',
  String(port),
  '-U',
  user,
  '-d',
  'postgres',
];

async function run({ host, port, user }: EmbeddedServer, sql: string): Promise<void> {
  const client = new Client({ host, port, user, database: 'postgres' });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}
