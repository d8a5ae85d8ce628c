// The statements that mend an identity or a publication, as to be typed into psql.
// https://www.postgresql.org/docs/current/sql-altertable.html
// https://www.postgresql.org/docs/current/sql-alterpublication.html

import { qualifiedSqlName, sqlName } from '../pgoutput/sql-name.ts';
import type { EffectiveIdentity } from './effective-identity.ts';
import { columnNames, type Published } from './publication.ts';
import type { Table, TableOutline } from './table.ts';

/** The identity as ALTER TABLE names it. */
export function identityClause(identity: EffectiveIdentity): string {
  switch (identity.kind) {
    case 'full':
      return 'FULL';
    case 'none':
      return 'NOTHING';
    case 'key':
      return identity.index.primary ? 'DEFAULT' : `USING INDEX ${sqlName(identity.index.name)}`;
  }
}

export function setIdentity(table: Table, identity: EffectiveIdentity): string {
  return `ALTER TABLE ${qualifiedSqlName(table)} REPLICA IDENTITY ${identityClause(identity)};`;
}

export function publishGenerated({ publication }: Published): string {
  return `ALTER PUBLICATION ${sqlName(publication.name)} SET (publish_generated_columns = stored);`;
}

/** As a member of a publication: that alone, not the tables that inherit from it. */
export const memberName = (table: TableOutline): string =>
  `${table.hasHeirs ? 'ONLY ' : ''}${qualifiedSqlName(table)}`;

/** A table's column list is changed by adding it anew, with the filter that it had. */
export function extendColumnList(
  published: Published,
  missing: readonly string[],
): readonly string[] {
  const { publication, as, member } = published;
  const list = [...columnNames(published, member?.columns ?? []), ...missing].map(sqlName);
  const filter = member?.filter === undefined ? '' : ` WHERE (${member.filter})`;
  const alter = `ALTER PUBLICATION ${sqlName(publication.name)}`;
  return [
    `${alter} DROP TABLE ${memberName(as)};`,
    `${alter} ADD TABLE ${memberName(as)} (${list.join(', ')})${filter};`,
  ];
}

/** What nobody can run, as a comment: so that all of a fix may be piped into psql. */
export const sentence = (text: string): string => `-- ${text}`;
