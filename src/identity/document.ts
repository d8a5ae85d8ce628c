// `pgtail identity --format json`: see schema.ts for its keys.

import { conclusion, inspectionDocument, serverDocument } from '../findings/document.ts';
import { namedIndex } from './effective-identity.ts';
import type { FullPrice } from './full-price.ts';
import { columnNames, type Published } from './publication.ts';
import type { IdentityReport } from './report.ts';
import type { Column } from './table.ts';
import type { TableIdentity } from './table-identity.ts';
import { unsentColumns, unsentGenerated } from './visible-row.ts';

export function identityDocument(report: IdentityReport) {
  const { server, tables, findings, unreadable } = report;
  return inspectionDocument('identity', serverDocument(server), {
    tables: tables.map(tableDocument),
    ...conclusion(findings, unreadable),
  });
}

const namesOf = (columns: readonly Column[]): readonly string[] => columns.map(({ name }) => name);

function tableDocument(found: TableIdentity) {
  const { table, root, effective, publishedBy, visible } = found;
  const index = namedIndex(table);
  return {
    schema: table.schema,
    table: table.name,
    partitioned: table.partitioned,
    ...(root !== undefined && { root: { schema: root.schema, table: root.name } }),
    ...(table.unlogged && { unlogged: true }),
    identity: table.identity,
    ...(index !== undefined && { index: index.name }),
    usable: effective.kind !== 'none',
    ...(effective.kind === 'key' && { key: namesOf(effective.columns) }),
    update_shows: visible.update,
    delete_shows: visible.delete,
    toasted: namesOf(unsentColumns(table, effective, publishedBy)),
    fails: failingOperations(found),
    published: publishedBy.map((published) => publishedDocument(found, published)),
    ...(!table.partitioned && { full_price: priceDocument(found.price) }),
    ...(found.price.notMeasured !== undefined && { not_measured: found.price.notMeasured }),
  };
}

const failingOperations = ({ failures }: TableIdentity): readonly string[] => [
  ...new Set(failures.flatMap(({ operations }) => operations)),
];

function publishedDocument({ table }: TableIdentity, published: Published) {
  const { publication, as, member } = published;
  const generated = namesOf(unsentGenerated(table, published));
  return {
    publication: publication.name,
    operations: publication.operations,
    ...(as.id !== table.id && { as: { schema: as.schema, table: as.name } }),
    ...(member?.columns !== undefined && { columns: columnNames(published, member.columns) }),
    ...(member?.filter !== undefined && { filter: member.filter }),
    ...(generated.length > 0 && { generated_not_sent: generated }),
  };
}

function priceDocument({ bytes, changes, changesPerDay, measured }: FullPrice) {
  return {
    ...(bytes !== undefined && { bytes }),
    ...(measured !== undefined && {
      measured: {
        rows: measured.rows,
        update_bytes: measured.update,
        delete_bytes: measured.delete,
      },
    }),
    ...(changes !== undefined && { changes }),
    ...(changesPerDay !== undefined && { changes_per_day: changesPerDay }),
  };
}
