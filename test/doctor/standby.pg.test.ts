// A standby, and a primary that has one.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../src/demo/embedded-server.ts';
import { sharedServer, startPrivateServer } from '../support/server.ts';
import { FIRST_WITH_STANDBY_SIGNAL, startStandby } from '../support/standby.ts';
import { until } from '../support/until.ts';
import { Patient } from './patient.ts';

const { major } = sharedServer();
const FIRST_WITH_STANDBY_DECODING = 16;
const FIRST_WITH_FAILOVER = 17;

describe.runIf(major >= FIRST_WITH_STANDBY_SIGNAL)('the doctor on a standby', () => {
  let primary: EmbeddedServer;
  let standby: EmbeddedServer;
  let onPrimary: Patient;
  let onStandby: Patient;

  const patientOf = ({ host, port, user }: EmbeddedServer): Patient =>
    new Patient({ host, port, user, database: 'postgres' });

  beforeAll(async () => {
    primary = await startPrivateServer({ synchronous_commit: 'off' });
    onPrimary = patientOf(primary);
    await onPrimary.sql('CREATE TABLE orders (id int PRIMARY KEY)');
    await onPrimary.sql('CREATE PUBLICATION shop FOR TABLE orders');
    standby = await startStandby(primary);
    onStandby = patientOf(standby);
  });

  afterAll(async () => {
    await standby.stop();
    await primary.stop();
  });

  it.runIf(major < FIRST_WITH_STANDBY_DECODING)('says that it is too old for that', async () => {
    const finding = await onStandby.finding('standby-too-old');
    expect(finding).toMatchObject({
      severity: 'error',
      fact: `the server is a standby of PostgreSQL ${major}`,
      consequence: 'logical decoding on a standby needs PostgreSQL 16: here nothing can be read',
      fix: ['connect to its primary (-h, -p), or promote this server if the primary is gone'],
    });
    expect(await onPrimary.ids()).not.toContain('standby-too-old');
  });

  it.runIf(major >= FIRST_WITH_STANDBY_DECODING)(
    'sees that nothing keeps the rows that a slot there needs',
    async () => {
      const { unreadable } = await onStandby.examine();
      expect(unreadable).toEqual([{ what: 'wal_level of the primary, which must be logical' }]);
      const finding = await onStandby.finding('standby-feedback-off');
      expect(finding).toMatchObject({
        severity: 'warning',
        fact: 'the server is a standby with hot_standby_feedback off',
        consequence:
          'VACUUM on the primary removes catalog rows that a slot here still needs, and the slot is invalidated',
        fix: ['ALTER SYSTEM SET hot_standby_feedback = on;', 'SELECT pg_reload_conf();'],
      });
      await onStandby.mend(finding);
    },
  );

  it.runIf(major >= FIRST_WITH_STANDBY_DECODING)(
    'sees that the primary forgets it while it is away',
    async () => {
      const finding = await onStandby.finding('standby-without-slot');
      expect(finding).toMatchObject({
        severity: 'info',
        fact: 'the standby follows its primary without a physical slot (primary_slot_name is empty)',
        consequence:
          'while it is not connected, the primary forgets its feedback, and slots here may be invalidated',
      });
      const [there, ...here] = finding.fix;
      expect(there).toMatch(/^SELECT pg_create_physical_.*; -- on the primary$/);
      await onPrimary.sql(there!);
      await onStandby.mend({ ...finding, fix: here });
    },
  );

  it('names the standby where any client would be a synchronous one', async () => {
    await onPrimary.sql(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await onPrimary.sql('SELECT pg_reload_conf()');
    const finding = await until(async () => {
      const { findings } = await onPrimary.examine();
      return findings.find(({ id, fix }) => id === 'synchronous-standby' && /wal/.test(fix[0]!));
    });
    expect(finding.fix).toEqual([
      `ALTER SYSTEM SET synchronous_standby_names = '"walreceiver"'; -- the names of those standbys that a COMMIT is to wait for`,
      'SELECT pg_reload_conf();',
    ]);
    await onPrimary.mend(finding);
  });

  it.runIf(major >= FIRST_WITH_FAILOVER)(
    'sees that a slot is the copy of the primary’s, until it is promoted',
    async () => {
      await onPrimary.sql(
        `SELECT pg_create_logical_replication_slot('audit', 'pgoutput', false, false, true)`,
      );
      await onStandby.sql('ALTER SYSTEM SET sync_replication_slots = on');
      await onStandby.sql('SELECT pg_reload_conf()');
      const finding = await until(() =>
        onStandby.finding('slot-synced', { slot: 'audit' }).catch(() => null),
      );
      expect(finding).toMatchObject({
        severity: 'error',
        fact: `slot "audit" is the copy that this standby keeps of its primary's`,
        consequence: 'it can be read after a promotion, not before',
        fix: ['SELECT pg_promote(); -- if the primary is gone; else connect to the primary'],
      });
      await onStandby.mend(finding, { slot: 'audit' });
    },
  );
});
