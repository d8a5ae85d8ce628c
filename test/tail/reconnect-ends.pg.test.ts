// Which losses of a connection end the tail and which do not, and how patient it is with a server
// that is silent.

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { startOwnServer } from '../support/own-server.ts';
import { type PgtailProcess, runPgtail, startPgtail } from '../support/pgtail.ts';
import { temporaryFolder } from '../support/pty.ts';
import type { SharedServer } from '../support/server.ts';
import { insertedIds, Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

let own: EmbeddedServer;
let server: SharedServer;

beforeAll(async () => {
  ({ own, server } = await startOwnServer());
});

afterAll(() => own.stop());

async function asAdministrator(...statements: readonly string[]): Promise<void> {
  const admin = new Client(own.connectionConfig());
  await admin.connect();
  for (const statement of statements) await admin.query(statement);
  await admin.end();
}

/** It does not notice before it is continued. */
async function loseConnection(child: PgtailProcess, shop: Shop): Promise<void> {
  child.kill('SIGSTOP');
  await shop.endWalsenders();
  await until(async () => !(await shop.slotIsActive()), { what: 'the slot to be free' });
}

/** What is done meanwhile meets it when it comes back. */
async function whileAway(
  child: PgtailProcess,
  shop: Shop,
  work: () => Promise<unknown>,
): Promise<void> {
  await loseConnection(child, shop);
  await work();
  child.kill('SIGCONT');
}

describe('a tail that comes back to find', () => {
  it('its role without REPLICATION is exit code 4', async () => {
    await using shop = await Shop.open(server);
    const role = `${shop.database.name}_reader`;
    await asAdministrator(`CREATE ROLE ${role} LOGIN REPLICATION`);
    await using child = startPgtail([...shop.args, '-U', role]);
    await child.started();
    await whileAway(child, shop, () => asAdministrator(`ALTER ROLE ${role} NOREPLICATION`));
    const { code, stderr } = await child.exited;
    await asAdministrator(`DROP ROLE ${role}`);
    expect(code).toBe(4);
    expect(stderr).toContain(`role "${role}" may not replicate`);
  });

  it('its role without LOGIN is exit code 3', async () => {
    await using shop = await Shop.open(server);
    const role = `${shop.database.name}_reader`;
    await asAdministrator(`CREATE ROLE ${role} LOGIN REPLICATION`);
    await using child = startPgtail([...shop.args, '-U', role]);
    await child.started();
    await whileAway(child, shop, () => asAdministrator(`ALTER ROLE ${role} NOLOGIN`));
    const { code, stderr } = await child.exited;
    await asAdministrator(`DROP ROLE ${role}`);
    expect(code).toBe(3);
    expect(stderr).toContain('is not permitted to log in');
  });

  it('its database under another name is exit code 3', async () => {
    await using shop = await Shop.open(server);
    const { name } = shop.database;
    await using child = startPgtail(shop.args);
    await child.started();
    await whileAway(child, shop, () =>
      asAdministrator(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
        `ALTER DATABASE ${name} RENAME TO ${name}_old`,
      ),
    );
    const { code, stderr } = await child.exited;
    await asAdministrator(`ALTER DATABASE ${name}_old RENAME TO ${name}`);
    expect(code).toBe(3);
    expect(stderr).toContain(`database "${name}" does not exist`);
  });

  it('its slot lost is exit code 6', async () => {
    await using shop = await Shop.open(server);
    if (shop.database.major < 13) return; // max_slot_wal_keep_size
    await using child = startPgtail(shop.args);
    await child.started();
    const keep = (size: string): string[] => [
      `ALTER SYSTEM SET max_slot_wal_keep_size = '${size}'`,
      'SELECT pg_reload_conf()',
    ];
    await whileAway(child, shop, async () => {
      await asAdministrator(...keep('1MB'));
      for (let segment = 0; segment < 3; segment++) {
        await shop.order(segment);
        await shop.database.query('SELECT pg_switch_wal()');
      }
      await until(async () => {
        await shop.database.sql('CHECKPOINT');
        const lost = `SELECT FROM pg_replication_slots WHERE slot_name = $1 AND wal_status = 'lost'`;
        return (await shop.database.query(lost, [shop.slot])).length > 0;
      });
    });
    const { code, stderr } = await child.exited;
    await asAdministrator(...keep('-1'));
    expect(code).toBe(6);
    expect(stderr).toContain(`slot "${shop.slot}" is lost`);
  });

  it('another consumer of its slot is exit code 5, and leaves that one alone', async () => {
    await using shop = await Shop.open(server);
    await using child = startPgtail(shop.args);
    await child.started();
    await loseConnection(child, shop);
    await using other = startPgtail(shop.args);
    await other.started();
    child.kill('SIGCONT');
    const { code, stderr } = await child.exited;
    expect(code).toBe(5);
    expect(stderr).toContain(`slot "${shop.slot}" is being read by the consumer with PID`);
    await shop.order(1);
    await other.output(/"op":"commit"/);
    const { code: otherCode, stderr: told } = await other.stop();
    expect(otherCode).toBe(0);
    expect(told).not.toContain('trying to connect again');
  });
});

describe('a host name that is not found', () => {
  const preload = fileURLToPath(new URL('../support/name-server.cjs', import.meta.url));
  const named = (shop: Shop) => [...shop.args, '-h', 'database.invalid'];

  it('is exit code 3 at the start, and waited for later', async () => {
    await using shop = await Shop.open(server);
    using folder = temporaryFolder();
    const answer = join(folder.path, 'answer');
    /** In one step: it may be looked up at any moment. */
    const answerWith = (text: string): void => {
      writeFileSync(`${answer}.new`, text);
      renameSync(`${answer}.new`, answer);
    };
    const env = { NODE_OPTIONS: `--require ${preload}`, NAME_ANSWER: answer };
    answerWith('ENOTFOUND');
    const refused = await runPgtail(named(shop), { env });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(/cannot connect to database\.invalid\S*: host name not found/);

    answerWith(server.host);
    await using child = startPgtail([...named(shop), '-v'], { env });
    await child.started();
    answerWith('ENOTFOUND');
    await shop.endWalsenders();
    await child.notice(/host name not found: trying to connect again/);
    answerWith('EAI_AGAIN');
    await child.notice(/host name could not be looked up: trying to connect again/);
    answerWith(server.host);
    await child.reconnected();
    await shop.order(1);
    await child.output(/"id":1\b[\s\S]*"op":"commit"/);
    expect((await child.stop()).code).toBe(0);
  });
});

async function serverTimeout(value: string): Promise<void> {
  await asAdministrator(
    `ALTER SYSTEM SET wal_sender_timeout = '${value}'`,
    'SELECT pg_reload_conf()',
  );
}

describe('a server that is silent', () => {
  afterEach(() => serverTimeout('2s'));

  it('is given more time as long as nothing came of it', async () => {
    await using shop = await Shop.open(server);
    await using proxy = await FaultProxy.start(server);
    await using child = startPgtail([...shop.args, '-h', '127.0.0.1', '-p', String(proxy.port)], {
      env: { PGSSLMODE: 'disable', ...(server.major < 12 ? {} : BRIEF) },
    });
    await child.started();
    const silences: number[] = [];
    for (const times of [1, 2]) {
      proxy.swallow();
      await child.notice(new RegExp(`(connected again[\\s\\S]*){${times}}`));
      const told = [...child.stderr.matchAll(/has not answered for (\d+) s/g)];
      silences.push(Number(told.at(-1)?.[1]));
    }
    expect(silences[1]).toBeGreaterThanOrEqual(2);
    await shop.order(1);
    await child.output(/"op":"commit"/);
    const { code, stdout } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1] });
  });

  it('is not taken for lost by a tail that was itself stopped for longer', async () => {
    await using shop = await Shop.open(server);
    if (shop.database.major < 12) return; // pg_stat_replication.reply_time
    await using child = startPgtail(shop.args);
    await child.started();
    await serverTimeout('0');
    await shop.order(1);
    await child.output(/"op":"commit"/);
    child.kill('SIGSTOP');
    const quiet = `SELECT FROM pg_stat_replication WHERE now() - reply_time > '3 s'`;
    await until(async () => (await shop.database.query(quiet)).length > 0);
    await shop.order(2);
    child.kill('SIGCONT');
    await child.output(/"id":2\b[\s\S]*"op":"commit"/);
    // it listens ten times in its patience: long enough to be wrong about an answer that waits
    await shop.order(3);
    await child.output(/"id":3\b[\s\S]*"op":"commit"/);
    const { code, stderr } = await child.stop();
    expect(code).toBe(0);
    expect(stderr).not.toContain('trying to connect again');
  });

  it('is given up again and again while it lasts, also before a stream has started', async () => {
    await using shop = await Shop.open(server);
    await using proxy = await FaultProxy.start(server);
    await using child = startPgtail(
      [...shop.args, '-h', '127.0.0.1', '-p', String(proxy.port), '-v'],
      { env: { PGSSLMODE: 'disable' } },
    );
    await child.started();
    proxy.freeze();
    proxy.cut('reset');
    await child.notice(/cannot connect to .*: timeout expired: trying to connect again/);
    proxy.swallow();
    proxy.thaw();
    await shop.order(1);
    await child.output(/"id":1\b[\s\S]*"op":"commit"/);
    const { code, stdout } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1] });
  });

  it('may hold the slot with our own walsender, which is ended', async () => {
    await using shop = await Shop.open(server);
    await using proxy = await FaultProxy.start(server);
    await using child = startPgtail([...shop.args, '-h', '127.0.0.1', '-p', String(proxy.port)], {
      env: { PGSSLMODE: 'disable' },
    });
    await child.started();
    await serverTimeout('0'); // it would wait for ever
    proxy.swallow();
    await child.reconnected();
    await shop.order(1);
    await child.output(/"op":"commit"/);
    const { code, stdout } = await child.stop();
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1] });
  });
});

/** From 12 on a session may set it. */
const BRIEF = { PGOPTIONS: '-c wal_sender_timeout=1s' };
