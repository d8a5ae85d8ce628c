// The ordinary connection of a command that only looks.

import { expect, it } from 'vitest';
import { openCatalog } from '../../src/catalog/open-catalog.ts';
import { connectionSettings } from '../../src/connection/settings.ts';
import { createDatabase, type TestDatabase } from '../support/server.ts';

function settingsOf({ host, port, user, name }: TestDatabase, options = '') {
  const flags = { host, port: String(port), username: user, dbname: name };
  return connectionSettings(flags, {
    env: { PGOPTIONS: options },
    userName: 'nobody',
    exists: () => false,
  });
}

it('can change nothing if it is read-only, whatever PGOPTIONS says', async () => {
  await using database = await createDatabase();
  const settings = settingsOf(database, '-c default_transaction_read_only=off');
  const catalog = await openCatalog(settings, { readOnly: true });
  const creating = catalog.run((query) => query('CREATE TABLE public.orders (id int);'));
  await expect(creating).rejects.toMatchObject({ code: '25006' });
  await catalog.close();
});

it('can change something if it has to', async () => {
  await using database = await createDatabase();
  const catalog = await openCatalog(settingsOf(database), { readOnly: false });
  await catalog.run((query) => query('CREATE TABLE public.orders (id int);'));
  await catalog.close();
  expect(await database.query('SELECT FROM orders')).toEqual([]);
});

it('fails as the tail does where no server is', async () => {
  await using database = await createDatabase();
  const nowhere = { ...settingsOf(database), port: 1 };
  await expect(openCatalog(nowhere, { readOnly: true })).rejects.toMatchObject({
    exitCode: 3,
    message: `cannot connect to ${database.host}:1: connection refused`,
  });
});
