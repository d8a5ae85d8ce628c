// Values as a server holds them: the text of their output function and the bytes of their send
// function, and what its catalogs tell of its own types.

import type { BinaryTypeLookup, BinaryTypeShape } from '../../../src/pgtypes/binary/type-lookup.ts';
import type { TestDatabase } from '../../support/server.ts';
import { converterOf, textBytes } from './decoded.ts';

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
  const differences = values
    .map(({ text, bytes }) => ({ text, bytes, ours: textBytes(converter, bytes) }))
    .filter(({ text, ours }) => !ours.equals(text))
    .map(({ text, bytes, ours }) => `${bytes.toString('hex')}: ${text}, but ours is ${ours}`);
  return { compared: values.length, differences: differences.slice(0, 5) };
}

interface ShapeRow extends Record<string, unknown> {
  readonly type_id: number;
  readonly kind: string;
  readonly element: number;
  readonly delimiter: string;
  readonly base: number;
  readonly subtype: number | null;
  readonly range: number | null;
  readonly attributes: readonly number[];
}

/** Of all types of the database that a user made. */
export async function serverTypes(database: TestDatabase): Promise<BinaryTypeLookup> {
  const rows = await database.query<ShapeRow>(`
    SELECT t.oid AS type_id,
           CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'a' ELSE t.typtype END AS kind,
           t.typelem AS element, t.typdelim AS delimiter, t.typbasetype AS base,
           r.rngsubtype AS subtype, m.rngtypid AS range,
           ARRAY(SELECT atttypid FROM pg_attribute
                  WHERE attrelid = t.typrelid AND attnum > 0 AND NOT attisdropped
                  ORDER BY attnum) AS attributes
      FROM pg_type t
      LEFT JOIN pg_range r ON r.rngtypid = t.oid
      LEFT JOIN pg_range m ON m.rngmultitypid = t.oid
     WHERE t.oid >= 16384`);
  const shapes = new Map(rows.map((row) => [row.type_id, shapeOf(row)]));
  return { serverMajor: database.major, shapeOf: (typeId) => shapes.get(typeId) };
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
      return { kind: 'composite', attributes: row.attributes };
    case 'r':
      return { kind: 'range', subtype: row.subtype! };
    case 'm':
      return { kind: 'multirange', range: row.range! };
    default:
      return undefined;
  }
}
