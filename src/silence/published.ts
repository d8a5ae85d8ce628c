// Which of our publications have a table, by itself, with its schema or through its root, and what of
// it they send.
// https://www.postgresql.org/docs/current/view-pg-publication-tables.html

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { Catalog } from '../catalog/catalog-names.ts';
import { quoteLiteral } from '../walsender/commands.ts';

export interface PublishedTable {
  readonly publication: string;
  /** The table that its rows are sent as: itself, or its root. */
  readonly sentAs: { readonly schema: string; readonly name: string };
  readonly insert: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  /** 11+ */
  readonly truncate: boolean;
  /** The row filter as the server prints it (15+). */
  readonly rowFilter: string | undefined;
}

const publishedRow = z.object({
  id: z.coerce.number(),
  publication_hex: z.string(),
  schema_hex: z.string(),
  name_hex: z.string(),
  ins: z.enum(['t', 'f']),
  upd: z.enum(['t', 'f']),
  del: z.enum(['t', 'f']),
  trunc: z.nullable(z.enum(['true', 'false'])),
  filter_hex: z.nullable(z.string()),
});

/** `row_to_json` gives the columns that this server's version has. */
const publishedSql = (
  tables: readonly number[],
  publications: readonly string[],
  { names }: Catalog,
): string => `
WITH RECURSIVE above (id, ancestor) AS (
  SELECT c.oid, c.oid FROM pg_class AS c WHERE c.oid IN (${tables.join(', ')})
  UNION ALL
  SELECT above.id, i.inhparent FROM above
  JOIN pg_class AS c ON c.oid = above.ancestor AND c.relispartition
  JOIN pg_inherits AS i ON i.inhrelid = above.ancestor)
SELECT above.id, ${names.hexOf('p.pubname')} AS publication_hex,
       ${names.hexOf('n.nspname')} AS schema_hex, ${names.hexOf('c.relname')} AS name_hex,
       p.pubinsert AS ins, p.pubupdate AS upd, p.pubdelete AS del,
       row_to_json(p) ->> 'pubtruncate' AS trunc,
       ${names.hexOf("row_to_json(t) ->> 'rowfilter'")} AS filter_hex
FROM above
JOIN pg_class AS c ON c.oid = above.ancestor
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_publication_tables AS t ON t.schemaname = n.nspname AND t.tablename = c.relname
JOIN pg_publication AS p ON p.pubname = t.pubname
WHERE p.pubname::text IN (${publications.map(quoteLiteral).join(', ')});`;

/** By the tables' OIDs; a table that none publishes is not in it. */
export async function readPublished(
  query: RunQuery,
  tables: readonly number[],
  publications: readonly string[],
  catalog: Catalog,
): Promise<ReadonlyMap<number, readonly PublishedTable[]>> {
  const published = new Map<number, PublishedTable[]>();
  if (tables.length === 0) return published;
  const { names } = catalog;
  const [rows = []] = await query(publishedSql(tables, publications, catalog));
  for (const row of rows) {
    const { id, publication_hex, schema_hex, name_hex, ins, upd, del, trunc, filter_hex } =
      publishedRow.parse(row);
    const list = published.get(id) ?? [];
    published.set(id, list);
    list.push({
      publication: names.show(publication_hex),
      sentAs: { schema: names.show(schema_hex), name: names.show(name_hex) },
      insert: ins === 't',
      update: upd === 't',
      delete: del === 't',
      truncate: trunc === 'true',
      rowFilter: filter_hex === null ? undefined : names.show(filter_hex),
    });
  }
  return published;
}
