// Published tables whose UPDATE and DELETE fail for want of a replica identity.

import { expect, it } from 'vitest';
import { withDatabase } from '../support/server.ts';
import { Patient } from './patient.ts';

it('a published table without an identity is told, and mended, under the names of pgtail identity', async () => {
  await withDatabase(async (database) => {
    await database.sql('CREATE TABLE log (line text); CREATE TABLE orders (id int PRIMARY KEY)');
    await database.sql('CREATE PUBLICATION shop FOR ALL TABLES');
    const { host, port, user, name } = database;
    const patient = new Patient({ host, port, user, database: name });
    const finding = await patient.finding('identity-missing');
    expect(finding).toMatchObject({
      severity: 'error',
      subject: { kind: 'table', name: 'public.log' },
      consequence: expect.stringContaining('UPDATE and DELETE fail in the application'),
    });
    await expect(database.sql(`UPDATE log SET line = ''`)).rejects.toMatchObject({ code: '55000' });
    await patient.mend(finding);
    await database.sql(`UPDATE log SET line = ''`);
  });
});

it('what is only good to know about tables is left to pgtail identity', async () => {
  await withDatabase(async (database) => {
    await database.sql('CREATE TABLE orders (id int PRIMARY KEY, note text)');
    await database.sql('CREATE PUBLICATION shop FOR TABLE orders');
    const { host, port, user, name } = database;
    const { findings, checks } = await new Patient({ host, port, user, database: name }).examine();
    expect(findings.filter(({ subject }) => subject.kind === 'table')).toEqual([]);
    const identity = checks.find((each) => each.name === 'replica-identity');
    expect(identity?.fact).toBe('the replica identity of 1 published table');
  });
});
