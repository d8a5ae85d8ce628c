// The role: whether it may replicate, and what ALTER ROLE and ALTER DATABASE have set for it.
// https://www.postgresql.org/docs/current/logical-replication-security.html

import type { Finding } from '../../findings/finding.ts';
import { formatDuration } from '../../format/quantities.ts';
import { quoteIdentifier } from '../../pgoutput/quote-identifier.ts';
import { type Check, check, quoted } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';
import { resetFix, settingFix, settingOrigin } from '../settings.ts';

type RoleCheckFacts = Pick<DoctorFacts, 'server' | 'settings' | 'role' | 'access'>;

const INSUFFICIENT_PRIVILEGE = '42501';

export function replicationRoleCheck(facts: RoleCheckFacts): Check {
  const { loginRole: name } = facts.role;
  const subject = { kind: 'role', name } as const;
  return check('replication-role', subject, attributes(facts), cannotReplicate(facts));
}

/** A provider may let roles replicate that have no attribute: what counts is what was admitted. */
function attributes({ role, access }: RoleCheckFacts): string {
  const name = `role ${quoted(role.loginRole)}`;
  if (role.isSuperuser) return `${name} is a superuser`;
  if (role.mayReplicate) return `${name} has REPLICATION`;
  return access.replication.kind === 'admitted'
    ? `${name} may replicate, although it does not have REPLICATION itself`
    : `${name} does not have REPLICATION`;
}

function cannotReplicate({ role, access }: RoleCheckFacts): Finding | undefined {
  const { replication } = access;
  if (replication.kind === 'admitted') return undefined;
  const wasSaid = replication.kind === 'refused' && replication.code === INSUFFICIENT_PRIVILEGE;
  if (role.mayReplicate && !wasSaid) return undefined;
  const { loginRole: name } = role;
  return {
    id: 'role-cannot-replicate',
    severity: 'error',
    subject: { kind: 'role', name },
    fact: `role ${quoted(name)} does not have REPLICATION`,
    consequence:
      'it gets no replication connection; whether a role of the provider, such as rds_replication, would let it cannot be seen from here',
    fix: [`ALTER ROLE ${quoteIdentifier(name)} REPLICATION; -- as a superuser`],
  };
}

/** Settings that the tail cannot pin, and that change what it can do. */
export function roleSettingsCheck(facts: RoleCheckFacts): Check {
  const { loginRole: name } = facts.role;
  const findings = [otherRole(facts), lockTimeout(facts), hiddenMessages(facts)];
  const isClear = findings.every((finding) => finding === undefined);
  const fact = `${isClear ? 'no' : 'a'} setting of role or database is in the way`;
  return check('role-settings', { kind: 'role', name }, fact, ...findings);
}

/** Replication commands do not look at the present role, SQL functions do (seen on 14 and 18). */
function otherRole({ server, role }: RoleCheckFacts): Finding | undefined {
  if (server.role === role.loginRole || role.mayUseSlots) return undefined;
  const setting = { name: 'role', source: role.roleSettingSource };
  const session = { ...server, role: role.loginRole };
  return {
    id: 'role-changes-role',
    severity: 'info',
    subject: { kind: 'role', name: role.loginRole },
    fact: `a session of role ${quoted(role.loginRole)} begins as role ${quoted(server.role)}${settingOrigin(setting)}, which does not have REPLICATION`,
    consequence: 'SQL functions on slots are refused: --peek, and pgtail slots drop and advance',
    fix: [resetFix(setting, session)!],
  };
}

function lockTimeout(facts: RoleCheckFacts): Finding | undefined {
  const setting = facts.settings.get('lock_timeout');
  if (setting === undefined || setting.number === 0) return undefined;
  return {
    id: 'lock-timeout',
    severity: 'warning',
    subject: { kind: 'role', name: facts.role.loginRole },
    fact: `lock_timeout is ${formatDuration(setting.number)}${settingOrigin(setting)}`,
    consequence:
      'a slot is not made if a transaction that is open then takes longer: 55P03, canceling statement',
    fix: settingFix(setting, '0', { ...facts.server, role: facts.role.loginRole }),
  };
}

const FIRST_WITH_ONLY_A_WARNING = 18;

/** From 18 on a missing publication is told in a WARNING, which is all there is. */
function hiddenMessages(facts: RoleCheckFacts): Finding | undefined {
  const setting = facts.settings.get('client_min_messages');
  if (setting === undefined || facts.server.major < FIRST_WITH_ONLY_A_WARNING) return undefined;
  if (!['error', 'fatal', 'panic'].includes(setting.text)) return undefined;
  return {
    id: 'client-min-messages',
    severity: 'warning',
    subject: { kind: 'role', name: facts.role.loginRole },
    fact: `client_min_messages is ${setting.text}${settingOrigin(setting)}`,
    consequence:
      'the server does not tell that a publication was missing at a position, and its rows are left out in silence',
    fix: settingFix(setting, 'notice', { ...facts.server, role: facts.role.loginRole }),
  };
}
