// `pgtail slots` on a server: every slot with its reader and its costs, as far as the role may see it.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { slotsSchema } from '../../src/slots/schema.ts';
import { expectNoHang } from '../support/in-time.ts';
import { type PgtailResult, runPgtail, startPgtail } from '../support/pgtail.ts';
import { startPrivateServer } from '../support/server.ts';
import { Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const major = Number(process.env.PGTAIL_TEST_MAJOR || 18);

let server: EmbeddedServer;

beforeAll(async () => {
  server = await startPrivateServer();
});

afterAll(async () => {
  await server.stop();
});

function documentOf({ code, stdout, stderr }: PgtailResult) {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return slotsSchema.parse(JSON.parse(stdout));
}

/** Connects as another role. */
const asRole = ({ database }: Shop, role: string): readonly string[] =>
  database.options.map((option) => (option === database.user ? role : option));

describe('the list of slots', () => {
  it('tells of each slot what it is and what it costs', async () => {
    await using shop = await Shop.open(server);
    await shop.orderMany(1, 5000);
    const document = documentOf(await runPgtail(['slots', ...shop.database.options]));
    expect(document.server).toMatchObject({
      version: server.version,
      major,
      database: shop.database.name,
      role: shop.database.user,
      in_recovery: false,
    });
    expect(document.slots).toHaveLength(1);
    const [slot] = document.slots;
    expect(slot).toMatchObject({
      name: shop.slot,
      kind: 'logical',
      plugin: 'pgoutput',
      database: shop.database.name,
      temporary: false,
      two_phase: false,
      state: 'inactive',
      catalog_xmin_age: expect.any(Number),
    });
    expect(slot!.retained_bytes).toBeGreaterThan(500_000);
    expect(slot!.behind_bytes).toBeGreaterThan(500_000);
    expect(slot!.retained_bytes).toBeGreaterThanOrEqual(slot!.behind_bytes!);
    expect(slot!.inactive_since === undefined).toBe(major < 17);
    expect(slot!.counters === undefined).toBe(major < 14);
    expect(slot!.wal_status).toBe(major < 13 ? undefined : 'reserved');
    expect(slot).not.toHaveProperty('active_pid');
  });

  it('tells who reads a slot, and how far behind', async () => {
    await using shop = await Shop.open(server);
    const env = { PGAPPNAME: 'billing' };
    await using child = startPgtail([...shop.args, '--status-interval', '1'], { env });
    await child.started();
    let id = 0;
    const slot = await until(async () => {
      await shop.order(++id); // the lag is forgotten while nothing is written
      const { slots } = documentOf(await runPgtail(['slots', ...shop.database.options]));
      return slots[0]?.flush_lag_ms !== undefined && slots[0];
    });
    expect(slot).toMatchObject({
      state: 'active',
      application: 'billing',
      role: shop.database.user,
      client_addr: '127.0.0.1',
    });
    const [row] = await shop.database.query<{ pid: number }>(
      'SELECT active_pid AS pid FROM pg_replication_slots WHERE slot_name = $1',
      [shop.slot],
    );
    expect(slot.active_pid).toBe(row?.pid);
  });

  it('has physical and temporary slots too', async () => {
    await using shop = await Shop.open(server);
    const name = `${shop.slot}_physical`;
    await shop.database.query('SELECT pg_create_physical_replication_slot($1)', [name]);
    await using child = startPgtail([...shop.database.options, '-P', 'shop']);
    await child.started();
    const { slots } = documentOf(await runPgtail(['slots', ...shop.database.options]));
    expect(slots.find((slot) => slot.name === name)).toEqual({
      name,
      kind: 'physical',
      temporary: false,
      two_phase: false,
      failover: false,
      synced: false,
      state: 'inactive',
      ...(major >= 17 && { inactive_since: expect.any(String) }),
    });
    expect(slots.find(({ temporary }) => temporary)).toMatchObject({ state: 'active' });
    await shop.database.query('SELECT pg_drop_replication_slot($1)', [name]);
  });

  it.skipIf(major < 14)('tells what decoding put on disk', async () => {
    await using shop = await Shop.open(server);
    await shop.orderMany(1, 5000);
    const env = { PGOPTIONS: '-c logical_decoding_work_mem=64kB' };
    expect((await runPgtail([...shop.args, '--no-follow'], { env })).code).toBe(0);
    const counters = await until(async () => {
      const { slots } = documentOf(await runPgtail(['slots', ...shop.database.options]));
      return slots[0]?.counters?.spill_txns === 1 && slots[0].counters;
    });
    expect(counters.spill_bytes).toBeGreaterThan(500_000);
    const args = ['slots', '--format', 'pretty', '-v', ...shop.database.options];
    expect((await runPgtail(args)).stdout).toMatch(/spilled.*\n.* MB in 1 tx/);
  });

  it('is a table for people, and finds its server by CONNINFO too', async () => {
    await using shop = await Shop.open(server);
    const { host, port, user, name } = shop.database;
    const conninfo = `postgresql://${user}@${host}:${port}/${name}`;
    const { code, stdout } = await runPgtail(['slots', conninfo, '--format', 'pretty']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^PostgreSQL \d+[.\d]*: 1 of \d+ slots used, WAL ends at /);
    expect(stdout).toMatch(new RegExp(`\\n${shop.slot} +pgoutput in ${name} +inactive`));
    expect(stdout).not.toContain('\x1b');
  });
});

describe('a role that may only replicate and connect', () => {
  it('sees all slots, and is told what it cannot see', async () => {
    await using shop = await Shop.open(server);
    const role = `clerk_${shop.database.name}`;
    await shop.database.sql(`CREATE ROLE ${role} LOGIN REPLICATION`);
    try {
      const idle = documentOf(await runPgtail(['slots', ...asRole(shop, role)]));
      expect(idle.slots.map(({ name }) => name)).toEqual([shop.slot]);
      expect(idle).not.toHaveProperty('unreadable');
      await using child = startPgtail(shop.args);
      await child.started();
      const read = documentOf(await runPgtail(['slots', ...asRole(shop, role)]));
      expect(read.unreadable).toEqual(['client_addr', 'flush_lag_ms']);
      expect(read.slots[0]).toMatchObject({ state: 'active', application: 'pgtail' });
      expect(read.slots[0]).not.toHaveProperty('client_addr');
      const pretty = await runPgtail(['slots', '--format', 'pretty', ...asRole(shop, role)]);
      expect(pretty.stdout).toMatch(/may not read client_addr, flush_lag_ms .*pg_read_all_stats/);
    } finally {
      await shop.database.sql(`DROP ROLE ${role}`);
    }
  });

  it('creates, advances and drops slots', async () => {
    await using shop = await Shop.open(server);
    const role = `clerk_${shop.database.name}`;
    await shop.database.sql(`CREATE ROLE ${role} LOGIN REPLICATION`);
    try {
      const name = `${shop.slot}_new`;
      const run = (...args: readonly string[]) =>
        runPgtail(['slots', ...args, ...asRole(shop, role)]);
      expect(await run('create', name)).toMatchObject({ code: 0 });
      await shop.order(1);
      if (major >= 11) {
        const [row] = await shop.database.query<{ lsn: string }>(
          'SELECT pg_current_wal_lsn()::text AS lsn',
        );
        expect(await run('advance', name, row!.lsn, '--yes')).toMatchObject({ code: 0 });
      }
      expect(await run('drop', name, '--yes')).toMatchObject({ code: 0 });
    } finally {
      await shop.database.sql(`DROP ROLE ${role}`);
    }
  });
});

describe('a role that may not', () => {
  it('replicate is told so when it drops a slot, and how to mend it', async () => {
    await using shop = await Shop.open(server);
    const role = `guest_${shop.database.name}`;
    await shop.database.sql(`CREATE ROLE ${role} LOGIN`);
    try {
      const args = ['slots', 'drop', shop.slot, '--yes', ...asRole(shop, role)];
      const { code, stderr } = await runPgtail(args);
      expect({ code, stderr }).toEqual({
        code: 4,
        stderr: expect.stringMatching(
          /cannot drop slot [\s\S]*ALTER ROLE "guest_\w+" REPLICATION;/,
        ),
      });
    } finally {
      await shop.database.sql(`DROP ROLE ${role}`);
    }
  });

  it('connect is told the GRANT that it needs', async () => {
    await using shop = await Shop.open(server);
    const { name } = shop.database;
    const role = `guest_${name}`;
    await shop.database.sql(`CREATE ROLE ${role} LOGIN`);
    await shop.database.sql(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`);
    try {
      const { code, stderr } = await runPgtail(['slots', ...asRole(shop, role)]);
      expect(code).toBe(4);
      const [grant] = /GRANT CONNECT .*;/.exec(stderr) ?? [''];
      await shop.database.sql(grant);
      documentOf(await runPgtail(['slots', ...asRole(shop, role)]));
    } finally {
      await shop.database.sql(`REVOKE ALL ON DATABASE ${name} FROM ${role}; DROP ROLE ${role}`);
    }
  });
});

it('names of databases in another encoding fail nothing', async () => {
  await using shop = await Shop.open(server);
  const odd = `b\u00fccher_${shop.database.name}`;
  await shop.database.sql(
    `CREATE DATABASE "${odd}" ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
  );
  try {
    const base = shop.database.options.slice(0, -1);
    const { slots, server: asked } = documentOf(await runPgtail(['slots', ...base, odd]));
    expect(asked.database).toBe(odd);
    expect(slots.map(({ name }) => name)).toEqual([shop.slot]);
  } finally {
    await shop.database.sql(`DROP DATABASE "${odd}"`);
  }
});

it('a role that does not exist, or may not log in, is told so, and nothing of pg_hba.conf', async () => {
  await using shop = await Shop.open(server);
  const role = `${shop.database.name}_resting`;
  await shop.database.sql(`CREATE ROLE ${role} NOLOGIN`);
  for (const name of [role, 'no_such_role']) {
    const { code, stderr } = await runPgtail(['slots', ...asRole(shop, name)]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/HINT: {2}name a role that exists and may log in: -U/);
    expect(stderr).not.toContain('pg_hba');
  }
  await shop.database.sql(`DROP ROLE ${role}`);
});

describe('slots --watch', () => {
  it('prints a document a line, with rates from the second on, until it is stopped', async () => {
    await using shop = await Shop.open(server);
    await using child = startPgtail(['slots', '--watch', '0.2', ...shop.database.options]);
    await child.output(/\n/);
    await shop.orderMany(1, 20_000);
    await child.output(/"retained_bytes_per_second":[1-9].*\n/);
    const { code, stdout, stderr } = await child.stop();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [first, ...others] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => slotsSchema.parse(JSON.parse(line)));
    expect(first?.slots[0]).not.toHaveProperty('retained_bytes_per_second');
    expect(others.length).toBeGreaterThan(0);
    expect(others.some(({ wal_bytes_per_second: rate = 0 }) => rate > 1000)).toBe(true);
  });

  it('says that the server is away, and goes on when it is back', async () => {
    await using own = await startPrivateServer();
    await using child = startPgtail(['slots', '--watch', '0.1', ...optionsOf(own)]);
    await child.output(/\n/);
    await own.shutDown('fast');
    const notice = await child.notice(/^pgtail: .*\n/);
    expect(notice).toMatch(/cannot connect to .*: trying to connect again\n$/);
    await own.start();
    await child.notice(/^pgtail: connected again\n/m);
    const printed = child.stdout.length;
    await until(() => child.stdout.length > printed);
    const { code, stdout, stderr } = await child.stop();
    expect({ code, notices: stderr.split('\n').length }).toEqual({ code: 0, notices: 3 });
    for (const line of stdout.trimEnd().split('\n')) slotsSchema.parse(JSON.parse(line));
  });

  it('ends with exit code 0 when it is told to while the server is away', async () => {
    const own = await startPrivateServer();
    await using child = startPgtail(['slots', '--watch', '0.1', '-v', ...optionsOf(own)]);
    await child.output(/\n/).finally(() => own.stop());
    await child.notice(/connection refused.*: trying to connect again\n/);
    const begun = performance.now();
    expect((await child.stop()).code).toBe(0);
    expectNoHang(performance.now() - begun, 1000);
  });

  it('ends with an error that does not go away by itself', async () => {
    await using own = await startPrivateServer();
    await using child = startPgtail(['slots', '--watch', '0.1', ...optionsOf(own)]);
    await child.output(/\n/);
    await own.shutDown('fast');
    const hba = join(own.dataDirectory, 'pg_hba.conf');
    writeFileSync(
      hba,
      `host all all all reject\n${readFileSync(hba, 'utf8').replace(/^host/gm, '#')}`,
    );
    await own.start().catch(() => {}); // it cannot see that it is ready
    expect(await child.exited).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/pg_hba\.conf rejects/),
    });
  });
});

const optionsOf = ({ host, port, user }: EmbeddedServer): readonly string[] => [
  ...['-h', host, '-p', String(port)],
  ...['-U', user, '-d', 'postgres'],
];

describe('a word after slots', () => {
  it('that is no command and no database is told with the commands', async () => {
    await using shop = await Shop.open(server);
    const where = shop.database.options.slice(0, -2);
    const { code, stdout, stderr } = await runPgtail(['slots', ...where, 'list']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^pgtail: "list" is neither a command of pgtail slots nor a database: .*"list" does not exist \(the commands are create, drop, advance\)\n$/,
    );
    const asOption = await runPgtail(['slots', ...where, '-d', 'list']);
    expect(asOption.code).toBe(3);
    const asString = await runPgtail(['slots', ...where, 'dbname=list']);
    expect(asString.code).toBe(3);
  });

  it('that is a database is where it looks', async () => {
    await using shop = await Shop.open(server);
    const { name } = shop.database;
    const document = documentOf(
      await runPgtail(['slots', ...shop.database.options.slice(0, -2), name]),
    );
    expect(document.server.database).toBe(name);
  });
});

// on a server of its own: next to a slot that is being decoded there may be nothing to wait for
it('slots create says which transaction it waits for, and leaves nothing behind when stopped', async () => {
  await using shop = await Shop.open(server);
  const clerk = await shop.database.connect();
  await clerk.query(`BEGIN; INSERT INTO orders VALUES (1, 'a secret note')`);
  const args = ['slots', 'create', `${shop.slot}_new`, ...shop.database.options];
  await using child = startPgtail(args);
  const notice = await child.notice(/the slot can be made once this transaction is over: .*/);
  expect(notice).toMatch(/PID \d+, for \d+ s: BEGIN; INSERT INTO orders VALUES \(…, …\)$/);
  const begun = performance.now();
  const { code, stdout, stderr } = await child.stop();
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`stopped: slot ${shop.slot}_new was not made`);
  expectNoHang(performance.now() - begun, 1000);
  await clerk.query('COMMIT');
  await clerk.end();
  await until(async () => (await slotCount(shop)) === 1);
});

async function slotCount(shop: Shop): Promise<number> {
  return (await shop.database.query('SELECT FROM pg_replication_slots')).length;
}
