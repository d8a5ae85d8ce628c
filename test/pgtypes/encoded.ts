// A value's text through the encoder of its type, in just the room that is promised to be enough.

import { ByteWriter } from '../../src/byte-writer.ts';
import { worstCase } from '../../src/pgtypes/encoder.ts';
import { TypeRegistry } from '../../src/pgtypes/type-registry.ts';
import type { TestDatabase } from '../support/server.ts';

export function encoded(typeId: number, text: string, types = new TypeRegistry()): string {
  const value = Buffer.from(text);
  // what stands around a value on the wire must not leak in
  const source = Buffer.concat([Buffer.from('" {'), value, Buffer.from(' }",+ BC')]);
  const out = new ByteWriter(worstCase(value.length));
  types.encoder(typeId)(out, source, 3, 3 + value.length);
  return out.take().toString('utf8');
}

/** The settings the stream is read with. */
export async function pinSession(database: TestDatabase): Promise<void> {
  await database.sql(`
    SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres';
    SET extra_float_digits = 3; SET bytea_output = 'hex'`);
}

/** What the server's row_to_json makes of each value, with its text and its type. */
export async function serverJson(
  database: TestDatabase,
  values: readonly (readonly [type: string, text: string])[],
): Promise<{ type_id: number; type: string; text: string; json: string }[]> {
  const rows = values.map(([type, text]) => {
    const value = `'${text.replaceAll("'", "''")}'::${type}`;
    return `SELECT '${type.replaceAll("'", "''")}'::regtype::oid::int8::float8 AS type_id,
      '${type.replaceAll("'", "''")}' AS type, format('%s', ${value}) AS text,
      (SELECT row_to_json(r)::text FROM (SELECT ${value} AS v) r) AS json`;
  });
  const all = await database.query<{ type_id: number; type: string; text: string; json: string }>(
    rows.join(' UNION ALL '),
  );
  return all.map((row) => ({ ...row, json: row.json.slice('{"v":'.length, -1) }));
}
