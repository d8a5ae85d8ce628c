// What must hold before a stream can start, read in one round trip on the replication connection
// itself and checked one thing at a time, each with its own fix.
// https://www.postgresql.org/docs/current/logical-replication-config.html

import * as z from 'zod/mini';
import { EXIT, PgtailError } from '../errors.ts';
import { formatLsn, type Lsn, parseLsn } from '../lsn.ts';
import { quoteIdentifier } from '../pgoutput/quote-identifier.ts';
import { quoteLiteral } from './commands.ts';
import { type MoneyLocale, readMoneyLocale } from './money-locale.ts';
import { NO_SESSION_TIMEOUTS } from './pinned-settings.ts';
import { queryFailure } from './server-error.ts';
import type { ReplicationSession } from './session.ts';
import { hasName, parseStandbyNames, takesAny } from './standby-names.ts';
import type { QueryRows } from './text-query.ts';

export interface ServerFacts {
  readonly major: number;
  readonly walLevel: string;
  readonly database: string;
  /** The database's. */
  readonly encoding: string;
  /** Whose acknowledgement a COMMIT waits for; may be empty. */
  readonly synchronousStandbyNames: string;
  /** In ms; 0: the server waits for ever. */
  readonly walSenderTimeout: number;
  /** Everything committed before the question was asked stands before this position. */
  readonly walEnd: Lsn;
  /** It is a standby, and replays what another server writes. */
  readonly inRecovery: boolean;
  /** When its postmaster started, as the server writes it: a promotion does not change it. */
  readonly startedAt: string;
}

/** A row of pg_replication_slots: what every major has, and what newer ones add. */
export interface SlotFacts {
  readonly plugin: string | null;
  readonly slotType: string;
  readonly database: string | null;
  readonly confirmedFlushLsn: Lsn | undefined;
  /** `lost` if WAL that the slot needs is gone (13+). */
  readonly walStatus: string | null;
  /** Sends prepared transactions as such (14+). */
  readonly twoPhase: boolean;
  /** 17+ */
  readonly invalidationReason: string | null;
  /** Kept by a standby as a copy of its primary's (17+); stays so after a promotion. */
  readonly synced: boolean;
}

export interface Preflight {
  readonly server: ServerFacts;
  /** By name: those asked for, if all of them exist; else all of the database, as far as readable. */
  readonly publications: readonly string[];
  /** Undefined: no such slot, or none was asked about. */
  readonly slot: SlotFacts | undefined;
  readonly money: MoneyLocale;
}

const lsnText = z.pipe(
  z.string(),
  z.transform((text: string, { issues }) => {
    const lsn = parseLsn(text);
    if (lsn === undefined) {
      issues.push({ code: 'custom', message: 'not a log sequence number', input: text });
    }
    return lsn ?? 0n;
  }),
);

const serverRow = z.object({
  server_version_num: z.coerce.number(),
  wal_level: z.string(),
  database: z.string(),
  encoding: z.string(),
  synchronous_standby_names: z.string(),
  wal_sender_timeout: z.coerce.number(),
  wal_end: lsnText,
  in_recovery: z.enum(['t', 'f']),
  started_at: z.string(),
});

const publicationRow = z.object({ pubname: z.string() });

const slotJson = z.object({
  plugin: z.nullable(z.string()),
  slot_type: z.string(),
  database: z.nullable(z.string()),
  confirmed_flush_lsn: z.nullable(lsnText),
  wal_status: z._default(z.nullable(z.string()), null),
  two_phase: z._default(z.nullable(z.boolean()), false),
  invalidation_reason: z._default(z.nullable(z.string()), null),
  synced: z._default(z.boolean(), false),
});

const publicationSql = (condition = 'true'): string =>
  `SELECT pubname FROM pg_publication WHERE ${condition} ORDER BY pubname;`;

/** A name that nobody asked for may not be UTF-8, and fail the query. */
const isOneOf = (names: readonly string[]): string =>
  names.length === 0 ? 'true' : `pubname::text IN (${names.map(quoteLiteral).join(', ')})`;

const IS_PRINTABLE_ASCII = "pubname::text ~ '^[ -~]*$'";

// Only system catalogs, never a user's table: that would put its present shape into the caches of
// this backend, where decoding then finds it instead of the one it had when the WAL was written.
const serverSql = (publications: readonly string[]): string => `
${NO_SESSION_TIMEOUTS}
SELECT current_setting('server_version_num') AS server_version_num,
       current_setting('wal_level') AS wal_level,
       current_database() AS database,
       current_setting('synchronous_standby_names') AS synchronous_standby_names,
       current_setting('server_encoding') AS encoding,
       (SELECT setting FROM pg_settings WHERE name = 'wal_sender_timeout') AS wal_sender_timeout,
       CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
            ELSE pg_current_wal_insert_lsn() END AS wal_end,
       pg_is_in_recovery() AS in_recovery,
       extract(epoch FROM pg_postmaster_start_time()) AS started_at;
${publicationSql(isOneOf(publications))}`;

/** row_to_json gives the columns that this server's version has, whichever they are. */
const slotSql = (slot: string): string => `
SELECT row_to_json(s) AS slot FROM pg_replication_slots s
WHERE slot_name::text = ${quoteLiteral(slot)};`;

export async function readPreflight(
  session: ReplicationSession,
  slot: string | undefined,
  asked: readonly string[],
): Promise<Preflight> {
  const sql = serverSql(asked) + (slot === undefined ? '' : slotSql(slot));
  const failed = (error: unknown): never => {
    throw queryFailure(error);
  };
  const results = await session.query(sql).catch(failed);
  const [, server = [], found = [], slots = []] = results;
  const publications = publicationNames(found);
  const allFound = asked.every((name) => publications.includes(name));
  return {
    server: serverFacts(server),
    publications: allFound ? publications : await readablePublications(session),
    slot: slotFacts(slots),
    money: await readMoneyLocale(session).catch(failed),
  };
}

const publicationNames = (rows: QueryRows): string[] =>
  rows.map((row) => publicationRow.parse(row).pubname);

/** For a hint only: if not all names can be read, those in ASCII will do. */
async function readablePublications(session: ReplicationSession): Promise<readonly string[]> {
  const [rows = []] = await session
    .query(publicationSql())
    .catch(() => session.query(publicationSql(IS_PRINTABLE_ASCII)))
    .catch((error: unknown) => {
      throw queryFailure(error);
    });
  return publicationNames(rows);
}

function serverFacts(rows: QueryRows): ServerFacts {
  const row = serverRow.parse(rows[0]);
  return {
    major: Math.floor(row.server_version_num / 10_000),
    walLevel: row.wal_level,
    database: row.database,
    encoding: row.encoding,
    synchronousStandbyNames: row.synchronous_standby_names,
    walSenderTimeout: row.wal_sender_timeout,
    walEnd: beforePageHeader(row.wal_end),
    inRecovery: row.in_recovery === 't',
    startedAt: row.started_at,
  };
}

const WAL_PAGE = 8192n;
/** A page begins with a header of 24 bytes, a segment's first page with one of 40. */
const PAGE_HEADERS: readonly bigint[] = [24n, 40n];

/** An insert position right behind a page header is a position that nothing sent may ever reach. */
function beforePageHeader(lsn: Lsn): Lsn {
  const inPage = lsn % WAL_PAGE;
  return PAGE_HEADERS.includes(inPage) ? lsn - inPage : lsn;
}

function slotFacts(rows: QueryRows): SlotFacts | undefined {
  const text = rows[0]?.slot;
  if (typeof text !== 'string') return undefined;
  const row = slotJson.parse(JSON.parse(text));
  return {
    plugin: row.plugin,
    slotType: row.slot_type,
    database: row.database,
    confirmedFlushLsn: row.confirmed_flush_lsn ?? undefined,
    walStatus: row.wal_status,
    twoPhase: row.two_phase ?? false,
    invalidationReason: row.invalidation_reason,
    synced: row.synced,
  };
}

/**
 * Whether the server takes a client of this name for a synchronous standby: it compares names
 * without regard to case, and `*` is all of them.
 */
export function isSynchronousStandby(applicationName: string, standbyNames: string): boolean {
  const names = parseStandbyNames(standbyNames);
  return takesAny(names) || hasName(names, applicationName);
}

/** @throws PgtailError (exit code 4) if WAL is not written for logical decoding. */
export function checkWalLevel({ walLevel, major }: ServerFacts): void {
  // 19 writes logical WAL as soon as a logical slot exists, from wal_level=replica on
  const enough = walLevel === 'logical' || (major >= 19 && walLevel === 'replica');
  if (enough) return;
  throw new PgtailError(EXIT.notReady, `wal_level is ${walLevel}, it must be logical`, {
    hint: 'ALTER SYSTEM SET wal_level = logical; and restart the server',
  });
}

const FIRST_WITH_STANDBY_DECODING = 16;

/** @throws PgtailError (exit code 4) on a standby that decodes nothing, or not yet. */
export function checkRecovery(
  { inRecovery, major }: ServerFacts,
  name: string | undefined,
  slot: SlotFacts | undefined,
): void {
  if (!inRecovery) return;
  if (major < FIRST_WITH_STANDBY_DECODING) {
    const since = `changes can be read on one from PostgreSQL ${FIRST_WITH_STANDBY_DECODING} on`;
    throw notPromoted(`the server is a standby, and ${since}: this is ${major}`);
  }
  if (!slot?.synced) return;
  throw notPromoted(
    `slot ${JSON.stringify(name)} is the copy that this standby keeps of its primary's: it can be read after a promotion`,
  );
}

/** Where a standby is about to take over, somebody may come too early. */
const notPromoted = (message: string): PgtailError =>
  new PgtailError(EXIT.notReady, message, {
    hint: 'connect to the primary, or promote this server: SELECT pg_promote();',
    transient: true,
  });

/**
 * The publications to read: those asked for, or the only one there is.
 * @throws PgtailError (exit code 4) that names the existing ones.
 */
export function choosePublications(asked: readonly string[], found: Preflight): readonly string[] {
  const { publications, server } = found;
  const database = JSON.stringify(server.database);
  const missing = asked.filter((name) => !publications.includes(name));
  if (missing.length > 0) {
    const names = missing.map((name) => JSON.stringify(name)).join(', ');
    const exist = missing.length === 1 ? 'does' : 'do';
    const what = missing.length === 1 ? 'publication' : 'publications';
    throw new PgtailError(
      EXIT.notReady,
      `${what} ${names} ${exist} not exist in database ${database}`,
      { hint: `is it the right database? ${existing(publications, missing[0]!)}` },
    );
  }
  if (asked.length > 0) return asked;
  if (publications.length === 1) return publications;
  const problem = publications.length === 0 ? 'has no publication' : 'has several publications';
  throw new PgtailError(EXIT.notReady, `database ${database} ${problem}`, {
    hint: existing(publications, 'pgtail'),
  });
}

/** In these what a client in UTF8 sends is taken as it is, and again as what a name is looked up by. */
const TAKEN_AS_SENT: readonly string[] = ['UTF8', 'SQL_ASCII'];

/**
 * @throws PgtailError (exit code 4) for a publication whose name the server would not know again when
 * it converts nothing.
 */
export function checkUnconvertedNames(
  publications: readonly string[],
  { encoding }: ServerFacts,
): void {
  if (TAKEN_AS_SENT.includes(encoding)) return;
  const name = publications.find((publication) => !/^[\x01-\x7f]*$/.test(publication));
  if (name === undefined) return;
  throw new PgtailError(
    EXIT.notReady,
    `--encoding cannot read publication ${JSON.stringify(name)}: its name is not ASCII`,
    { hint: 'ALTER PUBLICATION … RENAME TO … gives it another name' },
  );
}

const LISTED_NAMES = 20;

function existing(publications: readonly string[], wanted: string): string {
  if (publications.length === 0) {
    // published, a table without replica identity refuses UPDATE and DELETE
    const create = `CREATE PUBLICATION ${quoteIdentifier(wanted)} FOR ALL TABLES;`;
    return `${create} (FOR TABLE … if some have no primary key: UPDATE and DELETE on them would fail)`;
  }
  const listed = publications.slice(0, LISTED_NAMES).map((name) => JSON.stringify(name));
  const more = publications.length - listed.length;
  return `name one with -P: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** @throws PgtailError (exit code 6) that says why the slot cannot be read here. */
export function checkSlot(name: string, slot: SlotFacts, database: string): void {
  const shown = JSON.stringify(name);
  if (slot.slotType !== 'logical') {
    throw new PgtailError(
      EXIT.slot,
      `slot ${shown} is a ${slot.slotType} slot, not a logical one`,
      {
        hint: 'name another slot, or add --create-slot with a new name',
      },
    );
  }
  if (slot.plugin !== 'pgoutput') {
    const plugin = JSON.stringify(slot.plugin);
    throw new PgtailError(
      EXIT.slot,
      `slot ${shown} uses the output plugin ${plugin}, not pgoutput`,
      {
        hint: 'name another slot, or add --create-slot with a new name',
      },
    );
  }
  if (slot.database !== database) {
    const other = JSON.stringify(slot.database);
    throw new PgtailError(EXIT.slot, `slot ${shown} belongs to database ${other}`, {
      hint: `connect to it: -d ${slot.database}`,
    });
  }
  checkNotLost(shown, slot);
}

/** What the end of the WAL was rounded down by, so that something sent may reach it. */
export const LONGEST_PAGE_HEADER = 40n;

/**
 * Whether the stream can start there, and may. The server would silently forward a start behind the
 * slot's position, and wait in silence for one ahead of its WAL.
 * @throws PgtailError: exit code 6 if the position is gone, 2 if it is not there yet, or if what lies
 * before it would be lost and nobody said yes.
 */
export function checkStart(
  start: Lsn,
  { slot: name, peek, yes }: { slot: string | undefined; peek: boolean; yes: boolean },
  { slot, server }: Preflight,
): void {
  const position = slot?.confirmedFlushLsn;
  if (position === undefined) return;
  const shown = `slot ${JSON.stringify(name)} stands at ${formatLsn(position)}`;
  const text = `--start-lsn ${formatLsn(start)}`;
  if (start < position) {
    throw new PgtailError(EXIT.slot, `${text} is gone: ${shown}`, {
      hint: 'what was acknowledged cannot be read again through this slot',
    });
  }
  if (start > server.walEnd + LONGEST_PAGE_HEADER) {
    const end = formatLsn(server.walEnd);
    throw new PgtailError(EXIT.usage, `${text} is ahead of the server, whose WAL ends at ${end}`, {
      hint: 'nothing would arrive before the server has written that far',
    });
  }
  if (start === position || peek || yes) return;
  throw new PgtailError(
    EXIT.usage,
    `${text} skips for good what was committed since ${formatLsn(position)}, where the slot stands`,
    { hint: 'add --yes to do it, or --peek to look without moving the slot' },
  );
}

/** @throws PgtailError (usage) unless the slot sends prepared transactions already. */
export function checkTwoPhase(name: string, slot: SlotFacts): void {
  if (slot.twoPhase) return;
  throw new PgtailError(
    EXIT.usage,
    `--two-phase changes slot ${JSON.stringify(name)} for good: every later reader of it is sent prepared transactions too`,
    { hint: 'add --yes to do it, or try it with a new slot: --create-slot and another name' },
  );
}

function checkNotLost(shown: string, slot: SlotFacts): void {
  if (slot.walStatus !== 'lost' && slot.invalidationReason === null) return;
  const reason = slot.invalidationReason === null ? '' : ` (${slot.invalidationReason})`;
  throw new PgtailError(EXIT.slot, `slot ${shown} is lost${reason}: the server removed its WAL`, {
    hint: 'what it missed cannot be read any more: drop it and make a new one',
  });
}

/** @throws PgtailError (exit code 6) */
export function missingSlot(name: string): PgtailError {
  return new PgtailError(EXIT.slot, `slot ${JSON.stringify(name)} does not exist`, {
    hint: 'is the name right? SELECT slot_name FROM pg_replication_slots; add --create-slot to create it',
  });
}
