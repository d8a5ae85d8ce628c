// Values as a server holds them: the text of their output function and the bytes of their send
// function, and what its catalogs tell of its own types.

import type { BinaryTypeLookup } from '../../../src/pgtypes/binary/type-lookup.ts';
import { catalogTypes } from '../../support/catalog-types.ts';
import type { TestDatabase } from '../../support/server.ts';
import { encoded } from '../encoded.ts';
import { converterOf, directJson, textBytes } from './decoded.ts';

interface ServerValue extends Record<string, Buffer> {
  readonly text: Buffer;
  readonly bytes: Buffer;
}

/**
 * The values of type `type` that the query gives in its column v; NULLs are left out.
 * format() calls the output function, where a cast to text would not, and textsend keeps bytes
 * that are not UTF-8.
 */
async function serverValues(
  database: TestDatabase,
  type: string,
  query: string,
  parameters: readonly unknown[],
): Promise<{ typeId: number; values: ServerValue[] }> {
  const [described] = await database.query<{ type_id: number; send: string }>(
    `SELECT t.oid AS type_id,
            format(CASE WHEN a.typtype = 'p' OR a.oid = t.oid THEN '%s(v)' ELSE '%s(v::%s)' END,
                   t.typsend, a.oid::regtype) AS send
       FROM pg_type t JOIN pg_proc p ON p.oid = t.typsend JOIN pg_type a ON a.oid = p.proargtypes[0]
      WHERE t.oid = $1::regtype`,
    [type],
  );
  const { type_id: typeId, send } = described!;
  const values = await database.query<ServerValue>(
    `SELECT textsend(format('%s', v)) AS text, ${send} AS bytes
       FROM (${query}) AS s(v) WHERE NOT v IS NOT DISTINCT FROM NULL`,
    parameters,
  );
  return { typeId, values };
}

export interface Comparison {
  readonly compared: number;
  /** The first values that came out otherwise than the server prints them. */
  readonly differences: readonly string[];
}

export async function compareWithServer(
  database: TestDatabase,
  types: BinaryTypeLookup,
  type: string,
  query: string,
  parameters: readonly unknown[] = [],
): Promise<Comparison> {
  const { typeId, values } = await serverValues(database, type, query, parameters);
  const converter = converterOf(typeId, types);
  const inText = values
    .map(({ text, bytes }) => ({ text, bytes, ours: textBytes(converter, bytes) }))
    .filter(({ text, ours }) => !ours.equals(text))
    .map(({ text, bytes, ours }) => `${bytes.toString('hex')}: ${text}, but ours is ${ours}`);
  // what text becomes in JSON is compared with row_to_json elsewhere
  const inJson = values.flatMap(({ text, bytes }) => {
    const ours = directJson(typeId, bytes);
    const viaText = encoded(typeId, text.toString());
    return ours === undefined || ours === viaText ? [] : [`${viaText}, but straight ${ours}`];
  });
  return { compared: values.length, differences: [...inText, ...inJson].slice(0, 5) };
}

/** Of all types of the database that a user made. */
export async function serverTypes(database: TestDatabase): Promise<BinaryTypeLookup> {
  const { facts } = await catalogTypes(database.connection, database.major);
  const shapes = new Map(facts.map(({ typeId, shape }) => [typeId, shape]));
  return { serverMajor: database.major, shapeOf: (typeId) => shapes.get(typeId) };
}
