// What the catalog of a test's database says of the types made there.

import type { ClientConfig } from 'pg';
import { withCatalog } from '../../src/catalog/catalog-connection.ts';
import { catalogNames } from '../../src/catalog/catalog-names.ts';
import { readTypes } from '../../src/catalog/type-catalog.ts';
import type { CatalogTypes } from '../../src/pgtypes/type-facts.ts';

/** Types and array types that a user made. */
const OWN_TYPES = 'SELECT oid FROM pg_type WHERE oid >= 16384 ORDER BY oid';

/** Of these types and what they are made of; by default of all that were made there. */
export function catalogTypes(
  connection: ClientConfig,
  serverMajor: number,
  typeIds?: readonly number[],
): Promise<CatalogTypes> {
  return withCatalog({ ...connection, options: '-c search_path=pg_catalog' }, async (query) => {
    const [rows = []] = typeIds === undefined ? await query(OWN_TYPES) : [];
    const asked = typeIds ?? rows.map((row) => Number(row.oid));
    const types = asked.map((typeId) => ({ typeId, typmod: -1 }));
    return await readTypes(query, types, { major: serverMajor, names: catalogNames('UTF8') });
  });
}
