// Measures what REPLICA IDENTITY FULL would write to the WAL, on a copy of some rows in a transaction
// that is rolled back: the table itself is only read, its triggers and other sessions notice nothing,
// and logical decoding never sends what was rolled back.
// https://www.postgresql.org/docs/current/sql-explain.html (WAL)

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import type { ServerSummary } from '../catalog/server-summary.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { qualifiedSqlName, sqlName } from '../pgoutput/sql-name.ts';
import { hasSqlState } from '../walsender/server-error.ts';
import { flag } from './catalog-rows.ts';
import { effectiveIdentity } from './effective-identity.ts';
import type { MeasuredPrice, Measurement } from './full-price.ts';

import { type Column, columnsOf, type Table } from './table.ts';

/** A hundred wide rows are a few megabytes, which soon are gone. */
const SAMPLE_ROWS = 100;

/** The first round pays for pages that are new; what else disturbs only ever adds. */
const ROUNDS = 3;

/** Waiting for a lock would make those wait who come later. In ms. */
const LOCK_TIMEOUT = 1000;
/** In ms. */
const STATEMENT_TIMEOUT = 10_000;

/** lock_not_available, the SQLSTATE of a lock timeout */
const LOCK_NOT_AVAILABLE = '55P03';

const FIRST_WITH_WAL_IN_EXPLAIN = 13;

/**
 * By the id of the table: its price, or why there is none.
 * @param copyName a name that no table has
 * @throws PgtailError (notReady) if this server or role cannot do it
 */
export async function measureFullPrices(
  query: RunQuery,
  server: ServerSummary,
  tables: readonly Table[],
  copyName: string,
): Promise<ReadonlyMap<number, Measurement>> {
  await checkServer(query, server);
  const measurements = new Map<number, Measurement>();
  for (const table of tables) {
    measurements.set(table.id, await measurement(query, server, table, copyName));
  }
  return measurements;
}

async function measurement(
  query: RunQuery,
  server: ServerSummary,
  table: Table,
  copyName: string,
): Promise<Measurement> {
  if (table.partitioned) return 'partitioned';
  if (table.unlogged) return 'unlogged';
  if (table.columns.length === 0) return 'without columns';
  await checkMayMeasure(query, server, table);
  try {
    return await measured(query, server, table, copyName);
  } catch (error) {
    throw hasSqlState(error, LOCK_NOT_AVAILABLE) ? lockTimeout(table, error) : error;
  }
}

const lockTimeout = (table: Table, cause: unknown): PgtailError =>
  new PgtailError(
    EXIT.failure,
    `--what-if got no lock on ${qualifiedSqlName(table)} within ${LOCK_TIMEOUT / 1000} s (lock timeout)`,
    {
      hint: 'try again when nobody changes its definition (pg_blocking_pids tells who holds it), or leave out --what-if for an estimate',
      cause,
    },
  );

async function checkServer(query: RunQuery, { inRecovery }: ServerSummary): Promise<void> {
  if (inRecovery) {
    throw new PgtailError(EXIT.notReady, '--what-if cannot measure on a standby', {
      hint: 'ask the primary, or leave out --what-if for an estimate',
    });
  }
  const [[row] = []] = await query(`SELECT current_setting('wal_level') AS wal_level;`);
  if (row?.wal_level === 'logical') return;
  throw new PgtailError(
    EXIT.notReady,
    `--what-if needs wal_level = logical: with ${row?.wal_level} no old row is written at all`,
    { hint: 'leave out --what-if for an estimate' },
  );
}

const rightsRow = z.object({ may_read: flag, may_create: flag });

async function checkMayMeasure(
  query: RunQuery,
  { role }: ServerSummary,
  table: Table,
): Promise<void> {
  const [[row] = []] = await query(`
SELECT has_table_privilege(${table.id}::oid, 'SELECT') AS may_read,
       has_schema_privilege(${table.schemaId}::oid, 'CREATE') AS may_create;`);
  const rights = rightsRow.parse(row);
  const grants = [
    ...(rights.may_read ? [] : [`GRANT SELECT ON ${qualifiedSqlName(table)} TO ${sqlName(role)};`]),
    ...(rights.may_create
      ? []
      : [`GRANT CREATE ON SCHEMA ${sqlName(table.schema)} TO ${sqlName(role)};`]),
  ];
  if (grants.length === 0) return;
  throw new PgtailError(
    EXIT.notReady,
    `--what-if reads rows of ${qualifiedSqlName(table)} and makes a copy of them in its schema, which this role may not`,
    { hint: `leave out --what-if for an estimate, or as the owner: ${grants.join(' ')}` },
  );
}

async function measured(
  query: RunQuery,
  server: ServerSummary,
  table: Table,
  copyName: string,
): Promise<Measurement> {
  const copy = `${sqlName(table.schema)}.${sqlName(copyName)}`;
  // a role may be read-only by default
  await query('BEGIN READ WRITE;');
  try {
    await query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT};
SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT};`);
    const rows = await copySample(query, server, table, copy);
    return rows === 0 ? 'empty' : await priceOf(query, server, table, copy, rows);
  } finally {
    // a connection that is gone has rolled back already
    await query('ROLLBACK;').catch(() => {});
  }
}

/** With the columns that are stored, a key like that of the table, and room for every update. */
async function copySample(
  query: RunQuery,
  { major }: ServerSummary,
  table: Table,
  copy: string,
): Promise<number> {
  const stored = table.columns.filter(({ generated }) => generated !== 'virtual');
  const names = quotedNames(stored);
  const compression = major >= 14 ? ' INCLUDING COMPRESSION' : '';
  await query(`
CREATE TABLE ${copy} (LIKE ${qualifiedSqlName(table)} INCLUDING STORAGE${compression})
  WITH (fillfactor = 10, autovacuum_enabled = off);`);
  for (const { name, generated } of table.columns) {
    if (generated === 'virtual') await query(`ALTER TABLE ${copy} DROP COLUMN ${sqlName(name)};`);
  }
  await query(`
INSERT INTO ${copy} (${names}) SELECT ${names} FROM ONLY ${qualifiedSqlName(table)} LIMIT ${SAMPLE_ROWS};`);
  await query(`ALTER TABLE ${copy} ${keyClause(table)};`);
  const [[row] = []] = await query(`SELECT count(*) AS rows FROM ${copy};`);
  return Number(row?.rows);
}

/**
 * On what identifies rows now. Where nothing does, a number of four bytes stands in for it: without
 * a key the copy could not be updated if a publication has all tables.
 */
function keyClause(table: Table): string {
  const effective = effectiveIdentity(table);
  if (effective.kind === 'key') return `ADD PRIMARY KEY (${quotedNames(effective.columns)})`;
  const primary = table.indexes.find((index) => index.primary && index.immediate && index.valid);
  if (primary === undefined) return `ADD COLUMN ${freeName(table)} serial PRIMARY KEY`;
  return `ADD PRIMARY KEY (${quotedNames(columnsOf(table, primary.columns))})`;
}

/** A name that no column has. */
function freeName({ columns }: Table): string {
  const taken = new Set(columns.map(({ name }) => name));
  let name = 'pgtail_row_number';
  while (taken.has(name)) name += '_';
  return name;
}

const quotedNames = (columns: readonly Column[]): string =>
  columns.map(({ name }) => sqlName(name)).join(', ');

/** The differences between FULL and the key alone. */
async function priceOf(
  query: RunQuery,
  server: ServerSummary,
  table: Table,
  copy: string,
  rows: number,
): Promise<MeasuredPrice> {
  const column = sqlName(settableColumn(table));
  const statements: Statements = [
    `UPDATE ${copy} SET ${column} = ${column}`,
    `DELETE FROM ${copy}`,
  ];
  const key = await leastWal(query, server, copy, 'DEFAULT', statements);
  const full = await leastWal(query, server, copy, 'FULL', statements);
  const perRow = (i: 0 | 1): number => Math.max(Math.round((full[i] - key[i]) / rows), 0);
  return { rows, update: perRow(0), delete: perRow(1) };
}

/** One that no key holds, so that the update is an ordinary one. */
function settableColumn(table: Table): string {
  const stored = table.columns.filter(({ generated }) => generated !== 'virtual');
  const keyed = new Set(table.indexes.flatMap(({ columns }) => columns));
  return (stored.find(({ number }) => !keyed.has(number)) ?? stored[0]!).name;
}

type Statements = readonly [update: string, remove: string];

/** The least that each statement wrote in some rounds, in bytes. */
async function leastWal(
  query: RunQuery,
  server: ServerSummary,
  copy: string,
  identity: 'DEFAULT' | 'FULL',
  statements: Statements,
): Promise<[update: number, remove: number]> {
  await query(`ALTER TABLE ${copy} REPLICA IDENTITY ${identity};`);
  const least: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    for (const i of [0, 1] as const) {
      await query('SAVEPOINT before;');
      least[i] = Math.min(least[i], await walOf(query, server, statements[i]));
      await query('ROLLBACK TO SAVEPOINT before;');
    }
  }
  return least;
}

/** Bytes of WAL; before 13 others who write at the same moment are counted too. */
async function walOf(
  query: RunQuery,
  { major }: ServerSummary,
  statement: string,
): Promise<number> {
  if (major >= FIRST_WITH_WAL_IN_EXPLAIN) {
    const [[row] = []] = await query(`EXPLAIN (ANALYZE, WAL, FORMAT JSON) ${statement};`);
    const [{ Plan: plan }] = explained.parse(JSON.parse(Object.values(row ?? {})[0] ?? ''));
    return plan['WAL Bytes'];
  }
  const before = await walPosition(query);
  await query(`${statement};`);
  return (await walPosition(query)) - before;
}

const explained = z.tuple([z.object({ Plan: z.object({ 'WAL Bytes': z.number() }) })]);

async function walPosition(query: RunQuery): Promise<number> {
  const [[row] = []] = await query(`SELECT pg_current_wal_insert_lsn() - '0/0' AS position;`);
  return Number(row?.position);
}
