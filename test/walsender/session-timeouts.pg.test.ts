// Timeouts of the role that would end a session which only waits: none of pgtail's has them.

import { describe, expect, it } from 'vitest';
import { withCatalog } from '../../src/catalog/catalog-connection.ts';
import { connectionSettings } from '../../src/connection/settings.ts';
import { streamSettings } from '../../src/walsender/pinned-settings.ts';
import { readPreflight } from '../../src/walsender/preflight.ts';
import { ReplicationSession } from '../../src/walsender/session.ts';
import { createDatabase, sharedServer } from '../support/server.ts';

const { major } = sharedServer();

const TIMEOUTS = [
  ...(major >= 14 ? ['idle_session_timeout'] : []),
  ...(major >= 17 ? ['transaction_timeout'] : []),
];

const SHOW = `SELECT name, setting FROM pg_settings
  WHERE name IN ('idle_session_timeout', 'transaction_timeout') ORDER BY name`;
const NONE = [TIMEOUTS.map((name) => ({ name, setting: '0' }))];

async function withTimeouts(work: (session: ReplicationSession) => Promise<void>): Promise<void> {
  await using database = await createDatabase();
  const { host, port, user, name } = database;
  for (const timeout of TIMEOUTS) {
    await database.sql(`ALTER ROLE ${user} IN DATABASE ${name} SET ${timeout} = '1min'`);
  }
  const env = { PGHOST: host, PGPORT: String(port), PGUSER: user, PGDATABASE: name };
  const settings = connectionSettings({}, { env, userName: user, exists: () => false });
  const session = await ReplicationSession.connect(settings, () => {});
  try {
    await work(session);
  } finally {
    session.destroy();
  }
}

describe.skipIf(TIMEOUTS.length === 0)('timeouts of the role', () => {
  it('are off once the preflight has begun', () =>
    withTimeouts(async (session) => {
      await readPreflight(session, undefined, []);
      expect(await session.query(SHOW)).toEqual(NONE);
    }));

  it('are off on a connection that goes on with a stream', () =>
    withTimeouts(async (session) => {
      await session.query(streamSettings({ unconverted: false, money: { kind: 'in effect' } }));
      expect(await session.query(SHOW)).toEqual(NONE);
    }));

  it('are off while the catalog is asked', () =>
    withTimeouts(async (session) => {
      const shown = await withCatalog(session.ordinaryConfig, (query) => query(SHOW));
      expect(shown).toEqual(NONE);
    }));
});

it('servers without such timeouts are asked all the same', () =>
  withTimeouts(async (session) => {
    expect((await readPreflight(session, undefined, [])).server.major).toBe(major);
  }));
