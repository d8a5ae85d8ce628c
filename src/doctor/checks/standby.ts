// A server that is a standby, and one that would take us for one.
// https://www.postgresql.org/docs/current/logicaldecoding-explanation.html#LOGICALDECODING-REPLICATION-SLOTS
// https://www.postgresql.org/docs/current/runtime-config-replication.html#GUC-SYNCHRONOUS-STANDBY-NAMES

import { type Finding, RELOAD } from '../../findings/finding.ts';
import { quoteLiteral } from '../../walsender/commands.ts';
import { isSynchronousStandby } from '../../walsender/preflight.ts';
import {
  hasName,
  parseStandbyNames,
  printStandbyNames,
  type StandbyNames,
  takesAny,
  withoutAny,
} from '../../walsender/standby-names.ts';
import { type Check, check, quoted, SERVER } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';
import { textOf } from '../settings.ts';

type StandbyFacts = Pick<DoctorFacts, 'request' | 'server' | 'settings' | 'state'>;

const FIRST_WITH_STANDBY_DECODING = 16;

/** Undefined: it is no standby. */
export function standbyCheck(facts: StandbyFacts): Check | undefined {
  if (!facts.server.inRecovery) return undefined;
  const fact = 'the server is a standby';
  if (facts.server.major < FIRST_WITH_STANDBY_DECODING) {
    return check('standby', SERVER, fact, standbyTooOld(facts));
  }
  return check('standby', SERVER, fact, feedbackOff(facts), noPrimarySlot(facts));
}

function standbyTooOld({ server }: StandbyFacts): Finding {
  return {
    id: 'standby-too-old',
    severity: 'error',
    subject: SERVER,
    fact: `the server is a standby of PostgreSQL ${server.major}`,
    consequence: `logical decoding on a standby needs PostgreSQL ${FIRST_WITH_STANDBY_DECODING}: here nothing can be read`,
    fix: ['connect to its primary (-h, -p), or promote this server if the primary is gone'],
  };
}

function feedbackOff({ settings }: StandbyFacts): Finding | undefined {
  if (textOf(settings, 'hot_standby_feedback') === 'on') return undefined;
  return {
    id: 'standby-feedback-off',
    severity: 'warning',
    subject: SERVER,
    fact: 'the server is a standby with hot_standby_feedback off',
    consequence:
      'VACUUM on the primary removes catalog rows that a slot here still needs, and the slot is invalidated',
    fix: ['ALTER SYSTEM SET hot_standby_feedback = on;', RELOAD],
  };
}

function noPrimarySlot({ settings }: StandbyFacts): Finding | undefined {
  if (textOf(settings, 'primary_slot_name') !== '') return undefined;
  return {
    id: 'standby-without-slot',
    severity: 'info',
    subject: SERVER,
    fact: 'the standby follows its primary without a physical slot (primary_slot_name is empty)',
    consequence:
      'while it is not connected, the primary forgets its feedback, and slots here may be invalidated',
    fix: [
      `SELECT pg_create_physical_replication_slot('pgtail_standby'); -- on the primary`,
      `ALTER SYSTEM SET primary_slot_name = 'pgtail_standby';`,
      RELOAD,
    ],
  };
}

/** Undefined: on a standby nothing commits. */
export function synchronousStandbyCheck(facts: StandbyFacts): Check | undefined {
  if (facts.server.inRecovery) return undefined;
  const names = textOf(facts.settings, 'synchronous_standby_names');
  const fact =
    names === ''
      ? 'no COMMIT waits for a standby'
      : `synchronous_standby_names is ${quoted(names)}`;
  return check('synchronous-standby', SERVER, fact, wouldBeSynchronous(facts, names));
}

function wouldBeSynchronous(facts: StandbyFacts, names: string): Finding | undefined {
  const { applicationName } = facts.request.connection;
  if (!isSynchronousStandby(applicationName, names)) return undefined;
  return {
    id: 'synchronous-standby',
    severity: 'warning',
    subject: SERVER,
    fact: `synchronous_standby_names (${names}) takes a client called ${quoted(applicationName)} for a synchronous standby`,
    consequence: 'while it reads, every COMMIT on the server may wait for what it acknowledges',
    fix: instead(facts, parseStandbyNames(names)),
  };
}

/** It may be in the list by its own name, by `*`, or by both. */
function instead(facts: StandbyFacts, names: StandbyNames): readonly string[] {
  const isNamed = hasName(names, facts.request.connection.applicationName);
  return [
    ...(takesAny(names) ? nameStandbys(facts, names) : []),
    ...(isNamed ? [`export PGAPPNAME=${freeName(names)}`] : []),
  ];
}

/** One that the list does not have: nearly always the first. */
function freeName(names: StandbyNames): string {
  const isFree = (name: string): boolean => !hasName(names, name);
  const found = ['pgtail', 'cdc_tail'].find(isFree);
  if (found !== undefined) return found;
  let number = 2;
  while (!isFree(`cdc_tail_${number}`)) number++;
  return `cdc_tail_${number}`;
}

/** Those that follow now, which are meant most likely: a COMMIT waits for as many as before. */
function nameStandbys({ state, request }: StandbyFacts, names: StandbyNames): readonly string[] {
  const { applicationName } = request.connection;
  const following = state.standbys.filter(
    (name) => name.toLowerCase() !== applicationName.toLowerCase(),
  );
  const named = withoutAny(names, [...new Set(following)]);
  const counted = following.filter((name) => hasName(named, name)).length;
  if (counted >= names.count) {
    return [
      `${setNames(named)} -- the names of those standbys that a COMMIT is to wait for`,
      RELOAD,
    ];
  }
  const example = quoteLiteral(printStandbyNames(withExamples(named, names.count - counted)));
  if (named.members.length === 0) {
    return [
      `${setNames()} -- no standby follows now: a COMMIT waits for none; or with its name in the place of *, as in ${example}`,
      RELOAD,
    ];
  }
  return [
    `in synchronous_standby_names, put the names of standbys in the place of *, as in ${example}: a COMMIT waits for ${names.count}, and ${counted} of those that are named ${counted === 1 ? 'follows' : 'follow'} now`,
  ];
}

const setNames = (names?: StandbyNames): string =>
  `ALTER SYSTEM SET synchronous_standby_names = ${quoteLiteral(names === undefined ? '' : printStandbyNames(names))};`;

const withExamples = (names: StandbyNames, missing: number): StandbyNames => ({
  ...names,
  members: [
    ...names.members,
    ...Array.from({ length: missing }, (_, index) => `standby_${index + 1}`),
  ],
});
