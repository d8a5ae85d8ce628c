// Every check, in the order in which what is equally bad is told.

import type { Check } from '../check.ts';
import type { DoctorFacts } from '../facts.ts';
import type { Limits } from '../limits.ts';
import { hbaCheck, poolerCheck, replicationConnectionCheck } from './access.ts';
import { connectionsCheck, sessionLimitsCheck, slotsCheck, walsendersCheck } from './capacity.ts';
import { encodingCheck } from './encoding.ts';
import { identityCheck } from './identity.ts';
import { publicationChecks } from './publications.ts';
import { replicationRoleCheck, roleSettingsCheck } from './role.ts';
import { outputPluginCheck, versionCheck, walLevelCheck, walSenderTimeoutCheck } from './server.ts';
import { slotChecks } from './slot.ts';
import { standbyCheck, synchronousStandbyCheck } from './standby.ts';
import { preparedTransactionsCheck, sessionTransactionsCheck } from './transactions.ts';

export function allChecks(facts: DoctorFacts, limits: Limits): readonly Check[] {
  const walsenders = walsendersCheck(facts);
  const connections = connectionsCheck(facts, limits);
  const sessionLimits = sessionLimitsCheck(facts, limits);
  const isFull = [walsenders, connections, sessionLimits].some((each) => each.findings.length > 0);
  const checks: readonly (Check | undefined)[] = [
    versionCheck(facts),
    standbyCheck(facts),
    walLevelCheck(facts),
    outputPluginCheck(facts),
    replicationConnectionCheck(facts, isFull),
    replicationRoleCheck(facts),
    walsenders,
    slotsCheck(facts),
    ...slotChecks(facts, limits),
    ...publicationChecks(facts),
    identityCheck(facts),
    poolerCheck(facts),
    hbaCheck(facts),
    connections,
    sessionLimits,
    roleSettingsCheck(facts),
    walSenderTimeoutCheck(facts, limits),
    synchronousStandbyCheck(facts),
    sessionTransactionsCheck(facts, limits),
    preparedTransactionsCheck(facts, limits),
    encodingCheck(facts),
  ];
  return checks.filter((each) => each !== undefined);
}
