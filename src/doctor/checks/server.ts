// The server itself: its version, what it writes to its WAL, how it treats its replication clients.
// https://www.postgresql.org/docs/current/logical-replication-config.html

import { type Finding, RELOAD } from '../../findings/finding.ts';
import { formatDuration } from '../../format/quantities.ts';
import { type Check, check, listed, quoted, SERVER } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';
import type { Limits } from '../limits.ts';
import { numberOf, RESTART, settingFix, settingOrigin, textOf } from '../settings.ts';

/** Last day of each major: https://www.postgresql.org/support/versioning/ */
const LAST_DAYS: Readonly<Record<number, string>> = {
  10: '2022-11-10',
  11: '2023-11-09',
  12: '2024-11-21',
  13: '2025-11-13',
  14: '2026-11-12',
  15: '2027-11-11',
  16: '2028-11-09',
  17: '2029-11-08',
  18: '2030-11-14',
};

export function versionCheck(facts: Pick<DoctorFacts, 'server' | 'state'>): Check {
  return check('version', SERVER, `PostgreSQL ${facts.server.version}`, endOfLife(facts));
}

function endOfLife({ server, state }: Pick<DoctorFacts, 'server' | 'state'>): Finding | undefined {
  const lastDay = LAST_DAYS[server.major];
  if (lastDay === undefined || state.now * 1000 < Date.parse(lastDay)) return undefined;
  return {
    id: 'server-end-of-life',
    severity: 'info',
    subject: SERVER,
    fact: `PostgreSQL ${server.major} is no longer maintained, since ${lastDay}`,
    consequence: 'errors in it, also in logical decoding, stay as they are',
    fix: [
      'upgrade the server to a maintained major: https://www.postgresql.org/support/versioning/',
    ],
  };
}

const FIRST_WITH_LOGICAL_ON_DEMAND = 19;

export function walLevelCheck(facts: Pick<DoctorFacts, 'server' | 'settings'>): Check {
  const effective = textOf(facts.settings, 'effective_wal_level');
  const suffix = effective === '' ? '' : ` (effective: ${effective})`;
  const fact = `wal_level is ${textOf(facts.settings, 'wal_level')}${suffix}`;
  return check('wal-level', SERVER, fact, walLevelTooLow(facts));
}

function walLevelTooLow({
  server,
  settings,
}: Pick<DoctorFacts, 'server' | 'settings'>): Finding | undefined {
  const level = textOf(settings, 'wal_level');
  const onDemand = server.major >= FIRST_WITH_LOGICAL_ON_DEMAND && level === 'replica';
  if (level === 'logical' || onDemand) return undefined;
  return {
    id: 'wal-level-too-low',
    severity: 'error',
    subject: SERVER,
    fact: `wal_level is ${level}, not logical`,
    consequence:
      'no logical slot can be made or read, and what is written meanwhile cannot be read later either',
    fix: ['ALTER SYSTEM SET wal_level = logical;', RESTART],
  };
}

export function walSenderTimeoutCheck(
  facts: Pick<DoctorFacts, 'server' | 'settings'>,
  limits: Limits,
): Check {
  const timeout = numberOf(facts.settings, 'wal_sender_timeout');
  return check(
    'wal-sender-timeout',
    SERVER,
    `wal_sender_timeout is ${timeout === 0 ? 'off' : formatDuration(timeout)}`,
    walSenderTimeoutOff(facts),
    walSenderTimeoutShort(facts, limits),
  );
}

function walSenderTimeoutOff({
  server,
  settings,
}: Pick<DoctorFacts, 'server' | 'settings'>): Finding | undefined {
  const setting = settings.get('wal_sender_timeout');
  if (setting?.number !== 0) return undefined;
  return {
    id: 'wal-sender-timeout-off',
    severity: 'warning',
    subject: SERVER,
    fact: `wal_sender_timeout is 0${settingOrigin(setting)}: the server waits for replication clients for ever`,
    consequence:
      'a client whose machine or network is gone holds its slot, and nobody else can read it',
    fix: settingFix(setting, "'1min'", server),
  };
}

function walSenderTimeoutShort(
  { server, settings }: Pick<DoctorFacts, 'server' | 'settings'>,
  { shortWalSenderTimeout }: Limits,
): Finding | undefined {
  const setting = settings.get('wal_sender_timeout');
  if (setting === undefined) return undefined;
  if (setting.number === 0 || setting.number >= shortWalSenderTimeout) return undefined;
  return {
    id: 'wal-sender-timeout-short',
    severity: 'warning',
    subject: SERVER,
    fact: `wal_sender_timeout is ${formatDuration(setting.number)}${settingOrigin(setting)}`,
    consequence: 'a pause of the client or its network that is as long ends the connection',
    fix: settingFix(setting, "'1min'", server),
  };
}

const PGOUTPUT = 'pgoutput';

/** Undefined: this server does not have the setting. */
export function outputPluginCheck({ settings }: Pick<DoctorFacts, 'settings'>): Check | undefined {
  const setting = settings.get('output_plugin_libraries');
  if (setting === undefined) return undefined;
  const fact = `output_plugin_libraries is ${quoted(setting.text)}`;
  return check('output-plugins', SERVER, fact, pgoutputForbidden(setting.text));
}

function pgoutputForbidden(text: string): Finding | undefined {
  const libraries = text
    .split(',')
    .map((each) => each.trim().replaceAll('"', ''))
    .filter((each) => each !== '');
  const isAllowed = libraries.some(
    (library) => library === '*' || library.replace(/^\$libdir\//, '') === PGOUTPUT,
  );
  if (isAllowed) return undefined;
  return {
    id: 'output-plugin-not-allowed',
    severity: 'error',
    subject: SERVER,
    fact: `output_plugin_libraries (${listed(libraries)}) leaves out pgoutput`,
    consequence: 'the server loads no pgoutput: its slots can be neither made nor read',
    fix: [
      `ALTER SYSTEM SET output_plugin_libraries = ${[...libraries, PGOUTPUT].map((each) => `'${each}'`).join(', ')};`,
      RELOAD,
    ],
  };
}
