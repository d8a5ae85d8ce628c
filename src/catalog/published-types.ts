// The types of the published columns, and of what these are made of: what the stream cannot say.
// https://www.postgresql.org/docs/current/catalog-pg-type.html

import { z } from 'zod';
import { hasBinaryDecoder } from '../pgtypes/binary/binary-to-text.ts';
import type { BinaryTypeLookup, BinaryTypeShape } from '../pgtypes/binary/type-lookup.ts';
import { FIRST_USER_OID } from '../pgtypes/builtin-types.ts';
import { quoteLiteral } from '../walsender/commands.ts';
import type { RunQuery } from './catalog-connection.ts';

/** A published column whose values only the server can turn into text. */
export interface TextOnlyColumn {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

export interface PublishedTypes {
  readonly lookup: BinaryTypeLookup;
  readonly textOnly: readonly TextOnlyColumn[];
}

const oid = z.coerce.number();

const columnRow = z.object({
  table: z.string(),
  column: z.string(),
  type: z.string(),
  type_id: oid,
});

const shapeRow = z.object({
  type_id: oid,
  kind: z.string(),
  element: oid,
  delimiter: z.string(),
  base: oid,
  subtype: oid.nullable(),
  range: oid.nullable(),
  attributes: z.string(),
});

type ShapeRow = z.output<typeof shapeRow>;

/** A publication may have column lists from 15 on. */
const columnsSql = (publications: readonly string[], serverMajor: number): string => `
SELECT DISTINCT format('%I.%I', p.schemaname, p.tablename) AS table, a.attname AS column,
       format_type(a.atttypid, a.atttypmod) AS type, a.atttypid AS type_id
FROM pg_publication_tables AS p
JOIN pg_namespace AS n ON n.nspname = p.schemaname
JOIN pg_class AS c ON c.relname = p.tablename AND c.relnamespace = n.oid
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     ${serverMajor >= 15 ? 'AND a.attname = ANY (p.attnames)' : ''}
WHERE p.pubname IN (${publications.map(quoteLiteral).join(', ')})
ORDER BY 1, 2;`;

/** From 14 on, where binary values can be asked for; multiranges came with 14 too. */
const shapesSql = (typeIds: readonly number[]): string => `
WITH RECURSIVE used (id) AS (
  SELECT unnest('{${typeIds.join(',')}}'::oid[])
  UNION
  SELECT part.id FROM used
  JOIN pg_type AS t ON t.oid = used.id
  LEFT JOIN pg_range AS r ON r.rngtypid = t.oid
  LEFT JOIN pg_range AS m ON m.rngmultitypid = t.oid
  CROSS JOIN LATERAL (
    VALUES (t.typelem), (t.typbasetype), (r.rngsubtype), (m.rngtypid)
    UNION ALL
    SELECT atttypid FROM pg_attribute
    WHERE attrelid = t.typrelid AND t.typrelid <> 0 AND attnum > 0 AND NOT attisdropped
  ) AS part (id)
  WHERE part.id <> 0)
SELECT t.oid AS type_id,
       CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'a' ELSE t.typtype::text END AS kind,
       t.typelem AS element, t.typdelim::text AS delimiter, t.typbasetype AS base,
       r.rngsubtype AS subtype, m.rngtypid AS range,
       array_to_string(ARRAY(
         SELECT atttypid FROM pg_attribute
         WHERE attrelid = t.typrelid AND t.typrelid <> 0 AND attnum > 0 AND NOT attisdropped
         ORDER BY attnum), ',') AS attributes
FROM used
JOIN pg_type AS t ON t.oid = used.id
LEFT JOIN pg_range AS r ON r.rngtypid = t.oid
LEFT JOIN pg_range AS m ON m.rngmultitypid = t.oid
WHERE t.oid >= ${FIRST_USER_OID};`;

export async function readPublishedTypes(
  query: RunQuery,
  publications: readonly string[],
  serverMajor: number,
): Promise<PublishedTypes> {
  const [columnRows = []] = await query(columnsSql(publications, serverMajor));
  const columns = columnRows.map((row) => columnRow.parse(row));
  const typeIds = [...new Set(columns.map((column) => column.type_id))];
  const [shapeRows = []] = await query(shapesSql(typeIds));
  const shapes = new Map(
    shapeRows.map((row) => shapeRow.parse(row)).map((row) => [row.type_id, shapeOf(row)] as const),
  );
  const lookup = { serverMajor, shapeOf: (typeId: number) => shapes.get(typeId) };
  const textOnly = columns.filter((column) => !hasBinaryDecoder(column.type_id, lookup));
  return { lookup, textOnly };
}

function shapeOf(row: ShapeRow): BinaryTypeShape | undefined {
  switch (row.kind) {
    case 'a':
      return { kind: 'array', element: row.element, delimiter: row.delimiter };
    case 'e':
      return { kind: 'enum' };
    case 'd':
      return { kind: 'domain', base: row.base };
    case 'c':
      return { kind: 'composite', attributes: numbers(row.attributes) };
    case 'r':
      return row.subtype === null ? undefined : { kind: 'range', subtype: row.subtype };
    case 'm':
      return row.range === null ? undefined : { kind: 'multirange', range: row.range };
    default:
      return undefined;
  }
}

const numbers = (list: string): number[] => (list === '' ? [] : list.split(',').map(Number));
