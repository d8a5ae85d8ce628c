// Types as the catalog describes them: their names, what they are made of, their casts to json.
// https://www.postgresql.org/docs/current/catalog-pg-type.html

import { z } from 'zod';
import { isBuiltinType } from '../pgtypes/builtin-types.ts';
import type {
  CatalogTypes,
  ColumnType,
  FormattedType,
  TypeFacts,
  TypeShape,
} from '../pgtypes/type-facts.ts';
import type { RunQuery } from './catalog-connection.ts';

const oid = z.coerce.number();

const attributesJson = z.array(z.object({ name: z.string(), type: oid }));

const factsRow = z.object({
  type_id: oid,
  schema: z.string(),
  type_name: z.string(),
  kind: z.string(),
  element: oid,
  delimiter: z.string(),
  base: oid,
  subtype: oid.nullable(),
  range: oid.nullable(),
  attributes: z.string().nullable(),
  json_cast: z.enum(['none', 'hstore', 'server']),
});

type FactsRow = z.output<typeof factsRow>;

const nameRow = z.object({ type_id: oid, typmod: z.coerce.number(), name: z.string() });

const FIRST_WITH_MULTIRANGES = 14;

/**
 * The types asked for and all that they are made of. A base type that `array_out` prints is an
 * array, whatever else it says of itself. As row_to_json does, a cast counts only from a type that is not
 * built in, and only if a function makes it.
 */
const factsSql = (typeIds: readonly number[], serverMajor: number): string => {
  const multirange = serverMajor >= FIRST_WITH_MULTIRANGES;
  const multirangeJoin = multirange ? 'LEFT JOIN pg_range AS m ON m.rngmultitypid = t.oid' : '';
  const rangeOf = multirange ? 'm.rngtypid' : 'NULL::oid';
  return `
WITH RECURSIVE used (id) AS (
  SELECT unnest('{${typeIds.join(',')}}'::oid[])
  UNION
  SELECT part.id FROM used
  JOIN pg_type AS t ON t.oid = used.id
  LEFT JOIN pg_range AS r ON r.rngtypid = t.oid
  ${multirangeJoin}
  CROSS JOIN LATERAL (
    VALUES (t.typelem), (t.typbasetype), (r.rngsubtype), (${rangeOf})
    UNION ALL
    SELECT atttypid FROM pg_attribute
    WHERE attrelid = t.typrelid AND t.typrelid <> 0 AND attnum > 0 AND NOT attisdropped
  ) AS part (id)
  WHERE part.id <> 0)
SELECT t.oid AS type_id, n.nspname AS schema, t.typname AS type_name,
       CASE WHEN t.typtype = 'b' AND t.typoutput = 'array_out'::regproc THEN 'a'
            ELSE t.typtype::text END AS kind,
       t.typelem AS element, t.typdelim::text AS delimiter, t.typbasetype AS base,
       r.rngsubtype AS subtype, ${rangeOf} AS range,
       (SELECT json_agg(json_build_object('name', attname, 'type', atttypid::text) ORDER BY attnum)
        FROM pg_attribute
        WHERE attrelid = t.typrelid AND t.typrelid <> 0 AND attnum > 0 AND NOT attisdropped
       )::text AS attributes,
       CASE WHEN p.oid IS NULL THEN 'none'
            WHEN p.prosrc = 'hstore_to_json' AND l.lanname = 'c' THEN 'hstore'
            ELSE 'server' END AS json_cast
FROM used
JOIN pg_type AS t ON t.oid = used.id
JOIN pg_namespace AS n ON n.oid = t.typnamespace
LEFT JOIN pg_range AS r ON r.rngtypid = t.oid
${multirangeJoin}
LEFT JOIN pg_cast AS c ON c.castsource = t.oid AND c.casttarget = 'json'::regtype
     AND c.castmethod = 'f' AND t.oid >= 16384
LEFT JOIN pg_proc AS p ON p.oid = c.castfunc
LEFT JOIN pg_language AS l ON l.oid = p.prolang;`;
};

/** Under the search_path of the stream: names without schema where that finds them. */
const namesSql = (types: readonly ColumnType[]): string => {
  const values = types.map(({ typeId, typmod }) => `('${typeId}'::pg_catalog.oid, ${typmod})`);
  return `SET search_path = public;
SELECT v.id AS type_id, v.typmod, pg_catalog.format_type(v.id, v.typmod) AS name
FROM (VALUES ${values.join(', ')}) AS v (id, typmod);
SET search_path = pg_catalog;`;
};

/** What format_type() prints for an OID that no type has. */
const NO_TYPE = '???';

/** One round trip for what they are made of, one for their names. */
export async function readTypes(
  query: RunQuery,
  types: readonly ColumnType[],
  serverMajor: number,
): Promise<CatalogTypes> {
  if (types.length === 0) return { facts: [], names: [] };
  const typeIds = [...new Set(types.map(({ typeId }) => typeId))];
  const [factsRows = []] = await query(factsSql(typeIds, serverMajor));
  const facts = factsRows.map((row) => factsOf(factsRow.parse(row)));
  const own = facts.filter(({ typeId }) => !isBuiltinType(typeId));
  const modified = types.filter(({ typmod }) => typmod !== -1);
  const bare = own.map(({ typeId }) => ({ typeId, typmod: -1 }));
  return { facts: own, names: await readNames(query, [...bare, ...modified]) };
}

async function readNames(
  query: RunQuery,
  types: readonly ColumnType[],
): Promise<readonly FormattedType[]> {
  if (types.length === 0) return [];
  const [, rows = []] = await query(namesSql(types));
  const names = rows.map((row) => nameRow.parse(row)).filter(({ name }) => name !== NO_TYPE);
  return names.map(({ type_id, typmod, name }) => ({ typeId: type_id, typmod, name }));
}

function factsOf(row: FactsRow): TypeFacts {
  return {
    typeId: row.type_id,
    schema: row.schema,
    typeName: row.type_name,
    shape: shapeOf(row),
    jsonCast: row.json_cast,
  };
}

function shapeOf(row: FactsRow): TypeShape | undefined {
  switch (row.kind) {
    case 'a':
      return { kind: 'array', element: row.element, delimiter: row.delimiter };
    case 'e':
      return { kind: 'enum' };
    case 'd':
      return { kind: 'domain', base: row.base };
    case 'c':
      return { kind: 'composite', attributes: attributesOf(row) };
    case 'r':
      return row.subtype === null ? undefined : { kind: 'range', subtype: row.subtype };
    case 'm':
      return row.range === null ? undefined : { kind: 'multirange', range: row.range };
    default:
      return undefined;
  }
}

function attributesOf({ attributes }: FactsRow) {
  if (attributes === null) return [];
  const parsed = attributesJson.parse(JSON.parse(attributes));
  return parsed.map(({ name, type }) => ({ name, typeId: type }));
}
