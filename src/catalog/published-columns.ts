// The published columns whose types are not built in, or which only the server can print.
// https://www.postgresql.org/docs/current/view-pg-publication-tables.html

import * as z from 'zod/mini';
import { hasBinaryDecoder } from '../pgtypes/binary/binary-to-text.ts';
import { BUILTIN_TYPE_IDS } from '../pgtypes/builtin-types.ts';
import type { ColumnType } from '../pgtypes/type-facts.ts';
import { quoteLiteral } from '../walsender/commands.ts';
import type { RunQuery } from './catalog-connection.ts';
import type { Catalog } from './catalog-names.ts';

/** The names are to be shown, however they may be written. */
export interface PublishedColumn extends ColumnType {
  readonly table: string;
  readonly column: string;
  /** As format_type() prints it. */
  readonly type: string;
}

const columnRow = z.object({
  table_hex: z.string(),
  column_hex: z.string(),
  type_hex: z.string(),
  type_id: z.coerce.number(),
  typmod: z.coerce.number(),
});

const FIRST_WITH_COLUMN_LISTS = 15;

/** What the catalog need not be asked about: of thousands of tables few columns are left. */
const ordinaryTypes = (): readonly number[] =>
  BUILTIN_TYPE_IDS.filter((typeId) => hasBinaryDecoder(typeId));

const columnsSql = (publications: readonly string[], { major, names }: Catalog): string => `
SELECT DISTINCT ${names.hexOf("format('%I.%I', p.schemaname, p.tablename)")} AS table_hex,
       ${names.hexOf('a.attname')} AS column_hex,
       ${names.hexOf('format_type(a.atttypid, a.atttypmod)')} AS type_hex,
       a.atttypid AS type_id, a.atttypmod AS typmod
FROM pg_publication_tables AS p
JOIN pg_namespace AS n ON n.nspname = p.schemaname
JOIN pg_class AS c ON c.relname = p.tablename AND c.relnamespace = n.oid
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     AND a.atttypid NOT IN (${ordinaryTypes().join(', ')})
     ${major >= FIRST_WITH_COLUMN_LISTS ? 'AND a.attname = ANY (p.attnames)' : ''}
WHERE p.pubname IN (${publications.map(quoteLiteral).join(', ')})
ORDER BY 1, 2;`;

export async function readPublishedColumns(
  query: RunQuery,
  publications: readonly string[],
  catalog: Catalog,
): Promise<readonly PublishedColumn[]> {
  const { names } = catalog;
  const [rows = []] = await query(columnsSql(publications, catalog));
  return rows
    .map((row) => columnRow.parse(row))
    .map(({ table_hex, column_hex, type_hex, type_id, typmod }) => ({
      table: names.show(table_hex),
      column: names.show(column_hex),
      type: names.show(type_hex),
      typeId: type_id,
      typmod,
    }));
}
