// lc_monetary decides what an amount of money means: that of the database counts, whoever connects.

import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectionSettings } from '../../src/connection/settings.ts';
import { type MoneyLocale, readMoneyLocale } from '../../src/walsender/money-locale.ts';
import { streamSettings } from '../../src/walsender/pinned-settings.ts';
import { ReplicationSession } from '../../src/walsender/session.ts';
import { runPgtail } from '../support/pgtail.ts';
import { temporaryFolder } from '../support/pty.ts';
import { Publisher } from '../support/publisher.ts';
import { createDatabase, startPrivateServer, type TestDatabase } from '../support/server.ts';
import { linesOf } from '../support/tail.ts';

let database: TestDatabase;
/** A role that may replicate, and nothing else. */
let clerk: string;

beforeEach(async () => {
  database = await createDatabase();
  clerk = `${database.name}_clerk`;
  await database.sql(`CREATE ROLE ${clerk} LOGIN REPLICATION`);
});

afterEach(async () => {
  await database.sql(`DROP ROLE ${clerk}`);
  await database.drop();
});

interface Found {
  readonly money: MoneyLocale;
  /** What the stream would be printed with. */
  readonly inEffect: string | null | undefined;
}

async function find(user: string, options = ''): Promise<Found> {
  const { host, port, name } = database;
  const address = { PGHOST: host, PGPORT: String(port), PGDATABASE: name };
  const env = { ...address, PGUSER: user, PGOPTIONS: options };
  const settings = connectionSettings({}, { env, userName: user, exists: () => false });
  const session = await ReplicationSession.connect(settings, () => {});
  try {
    const money = await readMoneyLocale(session);
    await session.query(streamSettings({ unconverted: false, money }));
    const [rows = []] = await session.query('SHOW lc_monetary');
    return { money, inEffect: rows[0]?.lc_monetary };
  } finally {
    session.destroy();
  }
}

describe('amounts of money', () => {
  it('are printed as the server is configured if nobody says otherwise', async () => {
    expect(await find(clerk)).toEqual({ money: { kind: 'in effect' }, inEffect: 'C' });
  });

  it('are printed as the database says', async () => {
    await database.sql(`ALTER DATABASE ${database.name} SET lc_monetary = 'POSIX'`);
    expect(await find(clerk)).toEqual({ money: { kind: 'in effect' }, inEffect: 'POSIX' });
  });

  const ofDatabase = { money: { kind: 'to be set', name: 'POSIX' }, inEffect: 'POSIX' };

  it('are printed as the database says, whatever the role says', async () => {
    await database.sql(`ALTER DATABASE ${database.name} SET lc_monetary = 'POSIX'`);
    await database.sql(`ALTER ROLE ${clerk} SET lc_monetary = 'C'`);
    expect(await find(clerk)).toEqual(ofDatabase);
  });

  it('are printed as the database says, whatever the role says for it or PGOPTIONS say', async () => {
    await database.sql(`ALTER DATABASE ${database.name} SET lc_monetary = 'POSIX'`);
    await database.sql(`ALTER ROLE ${clerk} IN DATABASE ${database.name} SET lc_monetary = 'C'`);
    expect(await find(clerk)).toEqual(ofDatabase);
    expect(await find(clerk, '-c lc_monetary=C')).toEqual(ofDatabase);
  });

  it('are printed as the server is configured where a superuser has another setting', async () => {
    const found = await find(database.user, '-c lc_monetary=POSIX');
    expect(found).toEqual({ money: { kind: 'to be set', name: 'C' }, inEffect: 'C' });
  });

  it('stay as the role says where it may not see how the server is configured', async () => {
    await database.sql(`ALTER ROLE ${clerk} SET lc_monetary = 'POSIX'`);
    const found = await find(clerk);
    expect(found).toEqual({ money: { kind: 'overridden', name: 'POSIX' }, inEffect: 'POSIX' });
  });

  it('that stay as PGOPTIONS say are told of, once', async () => {
    await database.sql(`CREATE PUBLICATION shop FOR ALL TABLES`);
    await database.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [clerk]);
    const args = [...database.options, '-U', clerk, '-S', clerk, '--no-follow'];
    const { code, stderr } = await runPgtail(args, {
      env: { PGOPTIONS: '-c lc_monetary=POSIX' },
    });
    expect(code).toBe(0);
    expect(stderr.match(/money are printed in lc_monetary "POSIX"/g)).toHaveLength(1);
  });
});

const YEN = 'ja_JP.UTF-8';
const EURO = 'de_DE.UTF-8';

/** False where the machine has no sources of locales. */
function buildLocale(folder: string, locale: string): boolean {
  const [language = ''] = locale.split('.');
  const args = ['-i', language, '-f', 'UTF-8', join(folder, locale)];
  return spawnSync('localedef', args).status === 0;
}

it('an amount in yen is no amount in euros', async ({ skip }) => {
  using folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  const isBuilt = buildLocale(folder.path, YEN) && buildLocale(folder.path, EURO);
  skip(!isBuilt, 'localedef cannot build the locales');
  const before = process.env.LOCPATH;
  process.env.LOCPATH = folder.path;
  await using own = await startPrivateServer();
  if (before === undefined) delete process.env.LOCPATH;
  else process.env.LOCPATH = before;
  const { host, port, user, socketDirectory, major, version } = own;
  const publisher = await Publisher.open({
    schema: 'CREATE TABLE orders (id int PRIMARY KEY, total money)',
    server: { host, port, user, socketDirectory, major, version },
  });
  await using _ = publisher;
  const { name } = publisher.database;
  await publisher.database.sql(`ALTER DATABASE ${name} SET lc_monetary = '${YEN}'`);
  await publisher.database.sql(`SET lc_monetary = '${YEN}'; INSERT INTO orders VALUES (1, '1234')`);
  await publisher.database.sql(`ALTER ROLE ${user} SET lc_monetary = '${EURO}'`);
  const { stdout } = await publisher.run(publisher.slot);
  const [row] = linesOf(stdout).filter(({ op }) => op === 'insert');
  expect(row?.new).toEqual({ id: 1, total: '￥1,234' });
});
