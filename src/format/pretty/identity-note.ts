// Why old values are missing, in a few words: what the table's REPLICA IDENTITY keeps from us.
// https://www.postgresql.org/docs/current/sql-altertable.html#SQL-ALTERTABLE-REPLICA-IDENTITY

import type { Relation } from '../../pgoutput/relation.ts';
import type { TupleData } from '../../pgoutput/tuple.ts';

/** What limits the view of this update or delete, or undefined if the whole old row is there. */
export function identityNote(
  operation: 'update' | 'delete',
  relation: Relation,
  oldRow: TupleData | null,
): string | undefined {
  if (oldRow?.role === 'old') return undefined;
  // a partition's own identity counts, not that of the root it is published as
  if (relation.identity === 'full') return 'old values not sent: a partition is not FULL';
  if (relation.identity === 'nothing') return 'old row not sent: REPLICA IDENTITY NOTHING';
  const limit = operation === 'delete' ? 'key only' : 'old values not sent';
  return `${limit}: REPLICA IDENTITY ${identityClause(relation)}`;
}

function identityClause(relation: Relation): string {
  if (relation.identity === 'index') return 'USING INDEX';
  const hasKey = relation.columns.some((column) => column.key);
  return hasKey ? 'DEFAULT' : 'DEFAULT, no primary key';
}
