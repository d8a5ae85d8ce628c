// Types as the catalog describes them: their names, what they are made of, their casts to json.
// https://www.postgresql.org/docs/current/catalog-pg-type.html

import * as z from 'zod/mini';
import { isBuiltinType } from '../pgtypes/builtin-types.ts';
import type {
  CatalogTypes,
  ColumnType,
  FormattedType,
  TypeAttribute,
  TypeFacts,
  TypeShape,
} from '../pgtypes/type-facts.ts';
import type { RunQuery } from './catalog-connection.ts';
import type { Catalog, CatalogNames } from './catalog-names.ts';

const oid = z.coerce.number();

const attributesJson = z.array(z.object({ name_hex: z.string(), type: oid }));

const factsRow = z.object({
  type_id: oid,
  schema_hex: z.string(),
  name_hex: z.string(),
  kind: z.string(),
  element: oid,
  delimiter: z.string(),
  base: oid,
  subtype: z.nullable(oid),
  range: z.nullable(oid),
  attributes: z.nullable(z.string()),
  json_cast: z.enum(['none', 'hstore', 'server']),
});

type FactsRow = z.output<typeof factsRow>;

const nameRow = z.object({ type_id: oid, typmod: z.coerce.number(), name_hex: z.string() });

const FIRST_WITH_MULTIRANGES = 14;

/**
 * The types asked for and all that they are made of. A base type that `array_out` prints is an
 * array, whatever else it says of itself. As row_to_json does, a cast counts only from a type that is not
 * built in, and only if a function makes it.
 */
const factsSql = (typeIds: readonly number[], { major, names }: Catalog): string => {
  const multirange = major >= FIRST_WITH_MULTIRANGES;
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
SELECT t.oid AS type_id, ${names.hexOf('n.nspname')} AS schema_hex,
       ${names.hexOf('t.typname')} AS name_hex,
       CASE WHEN t.typtype = 'b' AND t.typoutput = 'array_out'::regproc THEN 'a'
            ELSE t.typtype::text END AS kind,
       t.typelem AS element, t.typdelim::text AS delimiter, t.typbasetype AS base,
       r.rngsubtype AS subtype, ${rangeOf} AS range,
       (SELECT json_agg(json_build_object('name_hex', ${names.hexOf('attname')},
                                          'type', atttypid::text) ORDER BY attnum)
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
const namesSql = (types: readonly ColumnType[], names: CatalogNames): string => {
  const values = types.map(({ typeId, typmod }) => `('${typeId}'::pg_catalog.oid, ${typmod})`);
  return `SET search_path = public;
SELECT v.id AS type_id, v.typmod,
       ${names.hexOf('pg_catalog.format_type(v.id, v.typmod)')} AS name_hex
FROM (VALUES ${values.join(', ')}) AS v (id, typmod);
SET search_path = pg_catalog;`;
};

/** What format_type() prints for an OID that no type has. */
const NO_TYPE = '???';

/**
 * One round trip for what they are made of, one for their names. A type with a name that is not
 * text in the encoding is left out: the server's text is all that its values can be.
 */
export async function readTypes(
  query: RunQuery,
  types: readonly ColumnType[],
  catalog: Catalog,
): Promise<CatalogTypes> {
  if (types.length === 0) return { facts: [], names: [] };
  const typeIds = [...new Set(types.map(({ typeId }) => typeId))];
  const [factsRows = []] = await query(factsSql(typeIds, catalog));
  const facts = factsRows.flatMap((row) => factsOf(factsRow.parse(row), catalog.names) ?? []);
  const own = facts.filter(({ typeId }) => !isBuiltinType(typeId));
  const modified = types.filter(({ typmod }) => typmod !== -1);
  const bare = own.map(({ typeId }) => ({ typeId, typmod: -1 }));
  return { facts: own, names: await readNames(query, [...bare, ...modified], catalog.names) };
}

async function readNames(
  query: RunQuery,
  types: readonly ColumnType[],
  names: CatalogNames,
): Promise<readonly FormattedType[]> {
  if (types.length === 0) return [];
  const [, rows = []] = await query(namesSql(types, names));
  return rows
    .map((row) => nameRow.parse(row))
    .flatMap(({ type_id, typmod, name_hex }) => {
      const name = names.read(name_hex);
      return name === undefined || name === NO_TYPE ? [] : [{ typeId: type_id, typmod, name }];
    });
}

/** Undefined if a name cannot be read. */
function factsOf(row: FactsRow, names: CatalogNames): TypeFacts | undefined {
  const schema = names.read(row.schema_hex);
  const typeName = names.read(row.name_hex);
  const attributes = attributesOf(row, names);
  if (schema === undefined || typeName === undefined || attributes === undefined) return undefined;
  const shape = shapeOf(row, attributes);
  return { typeId: row.type_id, schema, typeName, shape, jsonCast: row.json_cast };
}

function shapeOf(row: FactsRow, attributes: readonly TypeAttribute[]): TypeShape | undefined {
  switch (row.kind) {
    case 'a':
      return { kind: 'array', element: row.element, delimiter: row.delimiter };
    case 'e':
      return { kind: 'enum' };
    case 'd':
      return { kind: 'domain', base: row.base };
    case 'c':
      return { kind: 'composite', attributes };
    case 'r':
      return row.subtype === null ? undefined : { kind: 'range', subtype: row.subtype };
    case 'm':
      return row.range === null ? undefined : { kind: 'multirange', range: row.range };
    default:
      return undefined;
  }
}

/** Undefined if a name cannot be read. */
function attributesOf({ attributes }: FactsRow, names: CatalogNames): TypeAttribute[] | undefined {
  if (attributes === null) return [];
  const parsed = attributesJson.parse(JSON.parse(attributes));
  const known = parsed.flatMap(({ name_hex, type }) => {
    const name = names.read(name_hex);
    return name === undefined ? [] : [{ name, typeId: type }];
  });
  return known.length === parsed.length ? known : undefined;
}
