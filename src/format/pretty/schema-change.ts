// Says in words how a table differs from what was last announced under its id.

import type { Relation, RelationColumn } from '../../pgoutput/relation.ts';
import type { TypeRegistry } from '../../pgtypes/type-registry.ts';
import { identifier, qualifiedName } from './identifier.ts';

/** One phrase a difference, not yet safe to print; none if all that is shown stayed as it was. */
export function schemaChanges(previous: Relation, next: Relation, types: TypeRegistry): string[] {
  const changes = columnChanges(previous.columns, next.columns, types);
  if (qualifiedName(previous) !== qualifiedName(next)) {
    changes.unshift(`renamed from ${qualifiedName(previous)}`);
  }
  if (previous.identity !== next.identity) {
    const [from, to] = [previous.identity, next.identity].map((name) => name.toUpperCase());
    changes.push(`REPLICA IDENTITY ${from} → ${to}`);
  } else if (next.identity !== 'full' && keyNames(previous) !== keyNames(next)) {
    changes.push(`key ${keyNames(previous) || 'none'} → ${keyNames(next) || 'none'}`);
  }
  return changes;
}

function columnChanges(
  previous: readonly RelationColumn[],
  next: readonly RelationColumn[],
  types: TypeRegistry,
): string[] {
  const before = new Map(previous.map((column) => [column.name, column]));
  const after = new Map(next.map((column) => [column.name, column]));
  const gone = previous.filter((column) => !after.has(column.name));
  const changes: string[] = [];
  for (const [position, column] of next.entries()) {
    const same = before.get(column.name);
    const renamed = same ?? takeRenamed(gone, previous[position], column);
    if (renamed === undefined)
      changes.push(`+ ${identifier(column.name)} ${typeName(column, types)}`);
    else changes.push(...columnChange(renamed, column, types));
  }
  return [...changes, ...gone.map((column) => `- ${identifier(column.name)}`)];
}

/** A column that went where another of its type came was renamed: the server does not say so. */
function takeRenamed(
  gone: RelationColumn[],
  sameplace: RelationColumn | undefined,
  column: RelationColumn,
): RelationColumn | undefined {
  const at = sameplace === undefined ? -1 : gone.indexOf(sameplace);
  if (at === -1 || sameplace?.typeId !== column.typeId) return undefined;
  gone.splice(at, 1);
  return sameplace;
}

function columnChange(
  previous: RelationColumn,
  next: RelationColumn,
  types: TypeRegistry,
): string[] {
  const changes: string[] = [];
  if (previous.name !== next.name) {
    changes.push(`${identifier(previous.name)} renamed → ${identifier(next.name)}`);
  }
  if (previous.typeId !== next.typeId || previous.typmod !== next.typmod) {
    changes.push(
      `${identifier(next.name)} ${typeName(previous, types)} → ${typeName(next, types)}`,
    );
  }
  return changes;
}

const typeName = (column: RelationColumn, types: TypeRegistry): string =>
  types.name(column.typeId, column.typmod);

function keyNames(relation: Relation): string {
  const keys = relation.columns.filter((column) => column.key);
  return keys.map((column) => identifier(column.name)).join(', ');
}
