// What must hold before the stream: each thing that does not has its exit code and its fix.

import { describe, expect, it } from 'vitest';
import { expectNoHang, expectWithin } from '../support/in-time.ts';
import { type PgtailResult, runPgtail, startPgtail } from '../support/pgtail.ts';
import { createDatabase, sharedServer } from '../support/server.ts';
import { insertedIds, linesOf, Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

function refusal({ code, stdout, stderr }: PgtailResult): { code: number | null; said: string } {
  expect(stdout).toBe('');
  for (const line of stderr.trimEnd().split('\n')) expect(line).toMatch(/^pgtail: /);
  return { code, said: stderr };
}

describe.concurrent('a publication', () => {
  it('that does not exist is exit code 4 within two seconds, with the existing ones', async () => {
    await using shop = await Shop.open();
    await shop.database.sql(`CREATE PUBLICATION "My""Pub', x"`);
    const args = [...shop.database.options, '-S', shop.slot, '-P', 'shpo', '-P', 'shop'];
    const { code, said } = refusal(await expectWithin(2000, () => runPgtail(args)));
    expect(code).toBe(4);
    expect(said).toMatch(/publication "shpo" does not exist in database "shop_\w+"/);
    expect(said).toMatch(/HINT: .*-P: "My\\"Pub', x", "shop"/);
  });

  it('is needed: without any, the line to create one is told', async () => {
    await using database = await createDatabase();
    const { code, said } = refusal(await runPgtail([...database.options]));
    expect(code).toBe(4);
    expect(said).toMatch(/has no publication\n.*CREATE PUBLICATION "pgtail" FOR ALL TABLES;/);
  });

  it('need not be named if there is only one, and pgtail says so', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const args = [...shop.database.options, '-S', shop.slot, '--no-follow'];
    const { code, stdout, stderr } = await runPgtail(args);
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1] });
    expect(stderr).toMatch(/^pgtail: publication "shop" \(the only one\), slot "\w+"/);
  });

  it('must be named if there are several', async () => {
    await using shop = await Shop.open();
    await shop.database.sql('CREATE PUBLICATION audit');
    const { code, said } = refusal(await runPgtail([...shop.database.options, '-S', shop.slot]));
    expect(code).toBe(4);
    expect(said).toMatch(/several publications\n.*-P: "audit", "shop"/);
  });

  it('may have any name, and several are read together', async () => {
    const names = [
      `My"Pub', x`,
      'a,b',
      '🐘 herd',
      'ü'.repeat(31),
      `x'); DROP TABLE orders;--`,
      '\\',
    ];
    await using shop = await Shop.open();
    await shop.database.sql('DROP PUBLICATION shop');
    for (const [index, name] of names.entries()) {
      await shop.database.sql(`CREATE TABLE "of_${index}" (id int PRIMARY KEY)`);
      const quoted = `"${name.replaceAll('"', '""')}"`;
      await shop.database.sql(`CREATE PUBLICATION ${quoted} FOR TABLE "of_${index}"`);
    }
    await shop.createSlot(`${shop.slot}_later`);
    for (const index of names.keys()) {
      await shop.database.sql(`INSERT INTO "of_${index}" VALUES (${index})`);
    }
    const args = [...shop.database.options, '-S', `${shop.slot}_later`, '--no-follow'];
    const { code, stdout } = await runPgtail([...args, ...names.flatMap((name) => ['-P', name])]);
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [0, 1, 2, 3, 4, 5] });
    expect(await shop.database.query('SELECT count(*)::int AS count FROM orders')).toEqual([
      { count: 0 },
    ]);
  });

  it('with a dangerous name that does not exist does nothing', async () => {
    await using shop = await Shop.open();
    const args = [...shop.database.options, '-S', shop.slot];
    for (const name of [`x"'); DROP TABLE orders; --`, `\\'; DROP TABLE orders; --`, '"']) {
      expect(refusal(await runPgtail([...args, '-P', name])).code).toBe(4);
    }
    expect(await shop.database.query(`SELECT to_regclass('orders')::text AS t`)).toEqual([
      { t: 'orders' },
    ]);
  });
});

describe.concurrent('a slot', () => {
  it('that does not exist is exit code 6', async () => {
    await using shop = await Shop.open();
    const args = [...shop.database.options, '-S', 'no_such_slot', '-P', 'shop'];
    const { code, said } = refusal(await runPgtail(args));
    expect(code).toBe(6);
    expect(said).toMatch(/slot "no_such_slot" does not exist\n.*--create-slot/);
  });

  it('that is physical is exit code 6', async () => {
    await using shop = await Shop.open();
    const name = `${shop.slot}_physical`;
    await shop.database.query('SELECT pg_create_physical_replication_slot($1)', [name]);
    try {
      const args = [...shop.database.options, '-S', name, '-P', 'shop'];
      const { code, said } = refusal(await runPgtail(args));
      expect(code).toBe(6);
      expect(said).toMatch(/is a physical slot, not a logical one\n.*HINT/);
    } finally {
      await shop.database.query('SELECT pg_drop_replication_slot($1)', [name]);
    }
  });

  it('of another plugin is exit code 6', async () => {
    await using shop = await Shop.open();
    await shop.createSlot(`${shop.slot}_test`, 'test_decoding');
    const args = [...shop.database.options, '-S', `${shop.slot}_test`, '-P', 'shop'];
    const { code, said } = refusal(await runPgtail(args));
    expect(code).toBe(6);
    expect(said).toMatch(/output plugin "test_decoding", not pgoutput\n.*HINT/);
  });

  it('of another database is exit code 6 and names that database', async () => {
    await using shop = await Shop.open();
    await using other = await Shop.open();
    const args = [...shop.database.options, '-S', other.slot, '-P', 'shop'];
    const { code, said } = refusal(await runPgtail(args));
    expect(code).toBe(6);
    expect(said).toContain(`belongs to database "${other.database.name}"`);
    expect(said).toContain(`-d ${other.database.name}`);
  });

  it('in use is exit code 5 after two quiet seconds, with the PID of its reader', async () => {
    await using shop = await Shop.open();
    await using first = startPgtail(shop.args);
    await first.started();
    const begun = performance.now();
    const { code, said } = refusal(await runPgtail(shop.args));
    const took = performance.now() - begun;
    expect(code).toBe(5);
    const [reader] = await shop.database.query<{ active_pid: number }>(
      'SELECT active_pid FROM pg_replication_slots WHERE slot_name = $1',
      [shop.slot],
    );
    expect(said).toMatch(new RegExp(`PID ${reader!.active_pid}\\n.*pg_terminate_backend`));
    expect(said.match(/pgtail: /g)).toHaveLength(2);
    expect(took).toBeGreaterThan(1900);
    expectNoHang(took, 4500);
    expect(await first.stop()).toMatchObject({ code: 0 });
  });

  it('that becomes free within two seconds is taken over quietly', async () => {
    await using shop = await Shop.open();
    await using first = startPgtail(shop.args);
    await first.started();
    await using second = startPgtail(shop.args);
    await until(async () => {
      const [row] = await shop.database.query<{ count: number }>(
        `SELECT count(*)::int FROM pg_stat_activity
          WHERE datname = current_database() AND backend_type = 'walsender'`,
      );
      return row!.count === 2;
    });
    expect(await first.stop()).toMatchObject({ code: 0 });
    await second.started();
    expect(second.stderr.match(/pgtail: /g)).toHaveLength(1);
    expect(await second.stop()).toMatchObject({ code: 0 });
  });

  it('may have a name that begins with a digit', async () => {
    await using shop = await Shop.open();
    const slot = `1${shop.slot}`;
    const args = [...shop.database.options, '-S', slot, '-P', 'shop', '--create-slot'];
    const created = await runPgtail([...args, '--no-follow']);
    expect(created).toMatchObject({ code: 0, stdout: '' });
    expect(created.stderr).toContain(`slot "${slot}", just created`);
    await shop.order(7);
    const { code, stdout, stderr } = await runPgtail([...args, '--no-follow']);
    expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [7] });
    expect(stderr).not.toContain('just created'); // "exists already" is fine
  });

  it('may have a name of 63 characters', async () => {
    await using shop = await Shop.open();
    const slot = shop.slot.padEnd(63, '_');
    const args = [...shop.database.options, '-S', slot, '-P', 'shop', '--create-slot'];
    expect(await runPgtail([...args, '--no-follow'])).toMatchObject({ code: 0 });
  });

  it('is not created for a publication that does not exist', async () => {
    await using shop = await Shop.open();
    const slot = `${shop.slot}_new`;
    const args = [...shop.database.options, '-S', slot, '-P', 'shpo', '--create-slot'];
    expect(refusal(await runPgtail(args)).code).toBe(4);
    const left = await shop.database.query(
      'SELECT slot_name FROM pg_replication_slots WHERE slot_name = $1',
      [slot],
    );
    expect(left).toEqual([]);
  });

  it('whose creation waits for an open transaction can be given up, and is not left', async () => {
    await using shop = await Shop.open();
    const clerk = await shop.database.connect();
    await clerk.query('BEGIN');
    await clerk.query(`INSERT INTO orders VALUES (1, 'being typed')`);
    const slot = `${shop.slot}_waiting`;
    const args = [...shop.database.options, '-S', slot, '-P', 'shop', '--create-slot'];
    await using child = startPgtail(args);
    const exists = async (): Promise<boolean> => {
      const rows = await shop.database.query(
        'SELECT 1 FROM pg_replication_slots WHERE slot_name = $1',
        [slot],
      );
      return rows.length === 1;
    };
    await until(exists);
    expect(await child.stop()).toMatchObject({ code: 0, stdout: '', stderr: '' });
    await until(async () => !(await exists()), { what: 'the half-made slot to go' });
    await clerk.end();
  });
});

describe.concurrent('without --slot', () => {
  it('a temporary slot shows what happens from now on, and leaves nothing', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const args = [...shop.database.options, '-P', 'shop'];
    await using first = startPgtail(args);
    await using second = startPgtail(args);
    await Promise.all([first.started(), second.started()]);
    await shop.order(2);
    for (const child of [first, second]) {
      await child.output(/"op":"commit"/);
      const { code, stdout, stderr } = await child.stop();
      expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [2] });
      expect(stderr).toMatch(/from now on \(temporary slot\)/);
    }
    const left = await shop.database.query(
      'SELECT slot_name FROM pg_replication_slots WHERE database = current_database()',
    );
    expect(left).toEqual([{ slot_name: shop.slot }]);
  });

  it('--no-follow ends at once with nothing to print', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const { code, stdout } = await runPgtail([...shop.database.options, '--no-follow']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  });
});

describe.concurrent('a role', () => {
  const createRole = async (shop: Shop, attributes: string): Promise<string> => {
    const role = `${shop.database.name}_clerk`;
    await shop.database.sql(`CREATE ROLE ${role} LOGIN ${attributes}`);
    return role;
  };
  const as = (shop: Shop, role: string, ...more: readonly string[]): string[] => {
    const { host, port, name } = shop.database;
    return ['-h', host, '-p', String(port), '-U', role, '-d', name, '-P', 'shop', ...more];
  };

  it('without REPLICATION is exit code 4, with the command that grants it', async () => {
    await using shop = await Shop.open();
    const role = await createRole(shop, '');
    try {
      const { code, said } = refusal(await runPgtail(as(shop, role)));
      expect(code).toBe(4);
      expect(said).toContain(`role "${role}" may not replicate`);
      expect(said).toContain(`ALTER ROLE "${role}" REPLICATION;`);
    } finally {
      await shop.database.sql(`DROP ROLE ${role}`);
    }
  });

  it('with REPLICATION, CONNECT and one connection is all it takes', async () => {
    await using shop = await Shop.open();
    const role = await createRole(shop, 'REPLICATION CONNECTION LIMIT 1');
    try {
      await shop.database.sql('REVOKE ALL ON SCHEMA public FROM PUBLIC');
      await shop.order(1);
      const args = as(shop, role, '-S', shop.slot, '--no-follow');
      const { code, stdout } = await runPgtail(args);
      expect({ code, ids: insertedIds(stdout) }).toEqual({ code: 0, ids: [1] });
      const temporary = await runPgtail(as(shop, role, '--no-follow'));
      expect(temporary).toMatchObject({ code: 0, stdout: '' });
    } finally {
      await shop.database.sql(`DROP ROLE ${role}`);
    }
  });

  it('without CONNECT is told so by every command, with the statement that grants it', async () => {
    await using shop = await Shop.open();
    const role = await createRole(shop, 'REPLICATION');
    const { name } = shop.database;
    try {
      await shop.database.sql(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`);
      const options = as(shop, role).slice(0, -2);
      const commands = [
        as(shop, role),
        ['slots', ...options],
        ['slots', 'create', `${shop.slot}_new`, ...options],
        ['doctor', ...options],
        ['identity', ...options],
      ];
      for (const command of commands) {
        const { code, said } = refusal(await runPgtail(command));
        expect(code).toBe(4);
        expect(said).toContain(`role "${role}" may not connect to database "${name}"`);
        expect(said).toContain(`GRANT CONNECT ON DATABASE "${name}" TO "${role}";`);
      }
      const { said } = refusal(await runPgtail(as(shop, role)));
      await shop.database.sql(/GRANT .*;/.exec(said)![0]);
      expect((await runPgtail(as(shop, role, '--no-follow'))).code).toBe(0);
      await shop.database.sql(`REVOKE CONNECT ON DATABASE ${name} FROM ${role}`);
    } finally {
      await shop.database.sql(`DROP ROLE ${role}`);
    }
  });

  it('that asks for a setting it may not have is told which', async () => {
    await using shop = await Shop.open();
    const role = await createRole(shop, 'REPLICATION');
    try {
      const env = { PGOPTIONS: '-c log_statement=all' };
      const options = as(shop, role).slice(0, -2);
      for (const command of [as(shop, role), ['slots', ...options]]) {
        const { code, said } = refusal(await runPgtail(command, { env }));
        expect(code).toBe(4);
        expect(said).toContain('permission denied to set parameter "log_statement"');
        expect(said).toContain('HINT:  PGOPTIONS, or options= of the connection string');
      }
    } finally {
      await shop.database.sql(`DROP ROLE ${role}`);
    }
  });

  it('that does not exist is exit code 3', async () => {
    await using shop = await Shop.open();
    const { code, said } = refusal(await runPgtail(as(shop, 'nobody_here')));
    expect(code).toBe(3);
    expect(said).toContain('role "nobody_here" does not exist');
  });
});

it.concurrent('a database that does not exist is exit code 3', async () => {
  const { host, port, user } = sharedServer();
  const args = ['-h', host, '-p', String(port), '-U', user, '-d', 'no_such_shop'];
  const { code, said } = refusal(await runPgtail(args));
  expect(code).toBe(3);
  expect(said).toContain('database "no_such_shop" does not exist');
});

it.concurrent('row values do not stand in notices, not even with --verbose', async () => {
  await using shop = await Shop.open();
  await shop.database.sql(`INSERT INTO orders VALUES (1, 'confidential')`);
  const { stdout, stderr } = await runPgtail([...shop.args, '--no-follow', '--verbose']);
  expect(linesOf(stdout).map(({ op }) => op)).toEqual(['begin', 'relation', 'insert', 'commit']);
  expect(stderr).not.toContain('confidential');
});
