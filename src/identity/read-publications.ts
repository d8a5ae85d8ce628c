// Reads every publication of a database: which tables it has, and what it sends of them.
// https://www.postgresql.org/docs/current/catalog-pg-publication.html

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { Catalog } from '../catalog/catalog-names.ts';
import { collected, flag, id, numbers } from './catalog-rows.ts';
import { OPERATIONS, type Publication, type PublicationMember } from './publication.ts';

const FIRST_WITH_TRUNCATE = 11;
const FIRST_WITH_VIA_ROOT = 13;
const FIRST_WITH_FILTERS = 15;
const FIRST_WITH_GENERATED = 18;

const publicationRow = z.object({
  id,
  name_hex: z.string(),
  all_tables: flag,
  insert: flag,
  update: flag,
  delete: flag,
  truncate: flag,
  via_root: flag,
  generated: z.nullable(flag),
});

const publicationsSql = ({ major, names }: Catalog): string => `
SELECT oid AS id, ${names.hexOf('pubname')} AS name_hex, puballtables AS all_tables,
       pubinsert AS insert, pubupdate AS update, pubdelete AS delete,
       ${major >= FIRST_WITH_TRUNCATE ? 'pubtruncate' : 'false'} AS truncate,
       ${major >= FIRST_WITH_VIA_ROOT ? 'pubviaroot' : 'false'} AS via_root,
       ${major >= FIRST_WITH_GENERATED ? "pubgencols = 's'" : 'NULL'} AS generated
FROM pg_publication ORDER BY pubname;`;

export async function readPublications(
  query: RunQuery,
  catalog: Catalog,
): Promise<readonly Publication[]> {
  const [rows = []] = await query(publicationsSql(catalog));
  const members = await readMembers(query, catalog);
  const schemas = await readSchemas(query, catalog);
  return rows.map((each) => {
    const row = publicationRow.parse(each);
    return {
      name: catalog.names.show(row.name_hex),
      allTables: row.all_tables,
      operations: OPERATIONS.filter((operation) => row[operation]),
      viaRoot: row.via_root,
      listsCountGenerated: catalog.major === FIRST_WITH_FILTERS,
      generated: row.generated ?? undefined,
      members: new Map(members.get(row.id)),
      schemas: new Set(schemas.get(row.id)),
    };
  });
}

const memberRow = z.object({
  publication_id: id,
  table_id: id,
  filter_hex: z.nullable(z.string()),
  filter_columns: numbers,
  columns: z.nullable(numbers),
});

/** No function tells the columns of an expression; its tree does: `{VAR :varno 1 :varattno 2 …`. */
const FILTER_COLUMNS = `
  coalesce((SELECT string_agg(found[1], ' ')
            FROM regexp_matches(prqual::text, ':varattno ([0-9]+)', 'g') AS found), '')`;

function membersSql({ major, names }: Catalog): string {
  const has = major >= FIRST_WITH_FILTERS;
  return `
SELECT prpubid AS publication_id, prrelid AS table_id,
       ${has ? names.hexOf('pg_get_expr(prqual, prrelid)') : 'NULL'} AS filter_hex,
       ${has ? FILTER_COLUMNS : "''"} AS filter_columns,
       ${has ? 'prattrs::text' : 'NULL'} AS columns
FROM pg_publication_rel;`;
}

type Members = readonly (readonly [number, PublicationMember])[];

/** By the id of the publication. */
async function readMembers(
  query: RunQuery,
  catalog: Catalog,
): Promise<ReadonlyMap<number, Members>> {
  const [rows = []] = await query(membersSql(catalog));
  return collected(
    rows.map((each) => {
      const row = memberRow.parse(each);
      const member = {
        filter: row.filter_hex === null ? undefined : catalog.names.show(row.filter_hex),
        filterColumns: row.filter_columns,
        columns: row.columns ?? undefined,
      };
      return [row.publication_id, [row.table_id, member] as const];
    }),
  );
}

const schemaRow = z.object({ publication_id: id, schema_id: id });

async function readSchemas(
  query: RunQuery,
  { major }: Catalog,
): Promise<ReadonlyMap<number, readonly number[]>> {
  if (major < FIRST_WITH_FILTERS) return new Map();
  const [rows = []] = await query(
    'SELECT pnpubid AS publication_id, pnnspid AS schema_id FROM pg_publication_namespace;',
  );
  return collected(
    rows.map((each) => {
      const row = schemaRow.parse(each);
      return [row.publication_id, row.schema_id];
    }),
  );
}
