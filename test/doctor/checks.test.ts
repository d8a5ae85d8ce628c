// What no server at hand can show: settings of servers to come, the end of a major, a full server.

import { expect, it } from 'vitest';
import { resultOf } from '../../src/doctor/check.ts';
import { connectionsCheck } from '../../src/doctor/checks/capacity.ts';
import { replicationRoleCheck } from '../../src/doctor/checks/role.ts';
import { outputPluginCheck, versionCheck, walLevelCheck } from '../../src/doctor/checks/server.ts';
import { slotChecks } from '../../src/doctor/checks/slot.ts';
import type { DoctorFacts } from '../../src/doctor/facts.ts';
import { LIMITS } from '../../src/doctor/limits.ts';
import type { Settings } from '../../src/doctor/settings.ts';
import type { Slot } from '../../src/slots/slot.ts';
import { slot, settings as slotSettings } from '../slots/slot-case.ts';

const settings = (values: Readonly<Record<string, string>>): Settings =>
  new Map(
    Object.entries(values).map(([name, text]) => [
      name,
      { name, text, number: Number(text), source: 'default', needsRestart: false },
    ]),
  );

/** As far as a check looks at them. */
const factsOf = (facts: object): DoctorFacts => facts as DoctorFacts;

it('a server that allows pgoutput is fine, however it is written', () => {
  for (const allowed of ['pgoutput, test_decoding', '"pgoutput"', '$libdir/pgoutput', '*']) {
    const facts = factsOf({ settings: settings({ output_plugin_libraries: allowed }) });
    expect(outputPluginCheck(facts)?.findings).toEqual([]);
  }
  expect(outputPluginCheck(factsOf({ settings: settings({}) }))).toBeUndefined();
});

it('a server that does not allow pgoutput is told to', () => {
  const facts = factsOf({ settings: settings({ output_plugin_libraries: 'wal2json' }) });
  expect(outputPluginCheck(facts)?.findings).toEqual([
    {
      id: 'output-plugin-not-allowed',
      severity: 'error',
      subject: { kind: 'server' },
      fact: 'output_plugin_libraries (wal2json) leaves out pgoutput',
      consequence: 'the server loads no pgoutput: its slots can be neither made nor read',
      fix: [
        `ALTER SYSTEM SET output_plugin_libraries = 'wal2json', 'pgoutput';`,
        'SELECT pg_reload_conf();',
      ],
    },
  ]);
});

it('a slot that was just made has decoded nothing, and its age is one transaction', () => {
  const counters = { spillBytes: 0, streamBytes: 0, totalBytes: 0 };
  const facts = factsOf({
    request: { slot: 'audit' },
    server: { major: 16, database: 'shop' },
    settings: settings({}),
    slotSettings: slotSettings(),
    slots: [],
    slot: slot({ catalogXminAge: 1, counters: counters as Slot['counters'] }), // all that is looked at
  });
  const told = slotChecks(facts, LIMITS).map(({ fact }) => fact);
  expect(told).toContain('slot "audit" has decoded nothing yet');
  expect(told.join()).toContain('catalog_xmin is 1 transaction old');
});

it('from 19 on wal_level=replica is enough, and the effective level is shown', () => {
  const level = { wal_level: 'replica', effective_wal_level: 'replica' };
  const facts = factsOf({ server: { major: 19 }, settings: settings(level) });
  const found = walLevelCheck(facts);
  expect([found.fact, resultOf(found)]).toEqual([
    'wal_level is replica (effective: replica)',
    'ok',
  ]);
});

it('a major is told to be at its end from its last day on, and is no reason to fail', () => {
  const at = (day: string, major: number) =>
    versionCheck(
      factsOf({
        server: { major, version: `${major}.1` },
        state: { now: Date.parse(day) / 1000 },
      }),
    );
  expect(resultOf(at('2027-11-10', 15))).toBe('ok');
  const ended = at('2027-11-11', 15);
  expect([resultOf(ended), ended.findings[0]?.fact]).toEqual([
    'info',
    'PostgreSQL 15 is no longer maintained, since 2027-11-11',
  ]);
  expect(resultOf(at('2099-01-01', 25))).toBe('ok');
});

const full = {
  settings: settings({
    max_connections: '100',
    superuser_reserved_connections: '3',
    reserved_connections: '5',
  }),
};

it('a server with room for one session only is nearly full, but not for superusers', () => {
  const at = (sessions: number, isSuperuser = false) =>
    connectionsCheck(factsOf({ ...full, state: { sessions }, role: { isSuperuser } }), LIMITS);
  expect(at(91).findings).toEqual([]);
  expect(at(92).findings).toMatchObject([
    {
      id: 'few-free-connections',
      severity: 'warning',
      fact: 'about 92 of max_connections (100, of which 8 are reserved) are used',
    },
  ]);
  expect(at(92, true).findings).toEqual([]);
});

it('a role that its provider lets replicate is fine without the attribute', () => {
  const role = { loginRole: 'cdc', isSuperuser: false, mayReplicate: false };
  const found = replicationRoleCheck(
    factsOf({ role, access: { replication: { kind: 'admitted' } } }),
  );
  expect([resultOf(found), found.fact]).toEqual([
    'ok',
    'role "cdc" may replicate, although it does not have REPLICATION itself',
  ]);
});
