// Which of our publications have a table, by itself, with its schema or through its root, and what of
// it they send.
// https://www.postgresql.org/docs/current/view-pg-publication-tables.html

import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { Catalog } from '../catalog/catalog-names.ts';
import { type Operation, type Published, publishedBy } from '../identity/publication.ts';
import { readPublications } from '../identity/read-publications.ts';
import { readOutlines } from '../identity/read-tables.ts';
import type { TableOutline } from '../identity/table.ts';

export interface PublishedTable {
  readonly publication: string;
  /** The table that its rows are sent as: itself, or its root. */
  readonly sentAs: { readonly schema: string; readonly name: string };
  readonly operations: readonly Operation[];
  /** The row filter as the server prints it (15+). */
  readonly rowFilter: string | undefined;
}

/** By the tables' OIDs; a table that none publishes is not in it. */
export async function readPublished(
  query: RunQuery,
  tables: readonly number[],
  publications: readonly string[],
  catalog: Catalog,
): Promise<ReadonlyMap<number, readonly PublishedTable[]>> {
  if (tables.length === 0) return new Map();
  const all = await readPublications(query, catalog);
  const read = all.filter(({ name }) => publications.includes(name));
  const outlines = new Map((await readOutlines(query, catalog)).map((each) => [each.id, each]));
  const found = tables.map((id) => {
    const table = outlines.get(id);
    return [id, table === undefined ? [] : publishedBy(table, read, outlines)] as const;
  });
  return new Map(
    found
      .filter(([, published]) => published.length > 0)
      .map(([id, published]) => [id, published.map(publishedTable)]),
  );
}

function publishedTable(published: Published<TableOutline>): PublishedTable {
  const { publication, as } = published;
  return {
    publication: publication.name,
    sentAs: as,
    operations: publication.operations,
    rowFilter: rowFilter(published),
  };
}

/** All rows of a schema's tables are sent, whatever was said of one of them. */
const rowFilter = ({ publication, as, member }: Published<TableOutline>): string | undefined =>
  publication.schemas.has(as.schemaId) ? undefined : member?.filter;
