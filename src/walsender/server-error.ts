// Errors of the server and of the way to it, turned into pgtail's own: what failed, which exit
// code, what to do.
// https://www.postgresql.org/docs/current/errcodes-appendix.html

import { EXIT, type ExitCode, PgtailError, ProtocolViolation } from '../errors.ts';
import { quoteIdentifier } from '../pgoutput/quote-identifier.ts';
import { SERVER_ENCODINGS } from '../pgtypes/encoding/server-encodings.ts';
import type { ReadySlot } from './slot.ts';

/** The fields of an ErrorResponse that psql would show, as pg hands them over. */
interface ServerReport {
  readonly code: string;
  readonly message: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  /** The CONTEXT: while decoding, the position that is being decoded. */
  readonly where?: string | undefined;
  /** The C function that refused: unlike the message it is in no language. */
  readonly routine?: string | undefined;
}

export function isServerReport(error: unknown): error is ServerReport {
  return (
    error instanceof Error &&
    'severity' in error &&
    'code' in error &&
    typeof error.code === 'string' &&
    /^[0-9A-Z]{5}$/.test(error.code)
  );
}

export const hasSqlState = (error: unknown, code: string): boolean =>
  isServerReport(error) && error.code === code;

const SQLSTATE = {
  insufficientPrivilege: '42501',
  invalidAuthorization: '28000',
  invalidPassword: '28P01',
  undefinedDatabase: '3D000',
  tooManyConnections: '53300',
  configurationLimit: '53400',
  undefinedObject: '42704',
  notInPrerequisiteState: '55000',
  objectInUse: '55006',
  featureNotSupported: '0A000',
  internalError: 'XX000',
  invalidParameterValue: '22023',
  notInEncoding: '22021',
  untranslatableCharacter: '22P05',
} as const;

/** A server's report with its own words, an exit code, and our hint where it has none. */
function reported(
  error: ServerReport,
  exitCode: ExitCode,
  before: string,
  hint?: string,
): PgtailError {
  return new PgtailError(exitCode, `${before}: ${error.message}`, {
    detail: error.detail,
    hint: hint ?? error.hint,
    cause: error,
    transient: isTransient(error),
  });
}

/**
 * Connections that break, a server short of something, a server or an administrator that ends
 * sessions, and on a standby a conflict with what it replays. Everything else would come again.
 */
const TRANSIENT_CLASSES = ['08', '53', '57'];
const RECOVERY_CONFLICT = '40001';

const isTransient = ({ code }: ServerReport): boolean =>
  TRANSIENT_CLASSES.includes(code.slice(0, 2)) || code === RECOVERY_CONFLICT;

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOENT: 'no such socket',
  EACCES: 'permission denied',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name could not be looked up',
  ETIMEDOUT: 'timed out',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network unreachable',
};

/** Who connects where, and what is asked of the session. */
export interface ConnectAttempt {
  readonly address: string;
  readonly user: string;
  readonly database: string;
  readonly timeZone: string;
}

/** Whatever goes wrong before the connection is ready. */
export function connectFailure(error: unknown, attempt: ConnectAttempt): PgtailError {
  const { address } = attempt;
  if (error instanceof PgtailError) return error;
  if (isServerReport(error)) return refused(error, attempt);
  if (error instanceof Error && /does not support SSL/.test(error.message)) return noTls(address);
  const code = errorCode(error);
  const reason = (code && REASONS[code]) ?? (error instanceof Error ? error.message : 'unknown');
  return new PgtailError(EXIT.connection, `cannot connect to ${address}: ${reason}`, {
    hint: 'is the server running there? -h and -p, a URI or PGHOST and PGPORT say where it is',
    cause: error,
    // what has no code is a socket that closed or was not answered in time; other codes are of TLS
    transient: code === undefined || code in REASONS,
  });
}

function noTls(address: string): PgtailError {
  return new PgtailError(EXIT.connection, `cannot connect to ${address}: it offers no TLS`, {
    hint: 'sslmode asks for it: use prefer or disable, or switch ssl on in the server',
  });
}

function refused(error: ServerReport, attempt: ConnectAttempt): PgtailError {
  const { address, timeZone } = attempt;
  const before = `cannot connect to ${address}`;
  switch (error.code) {
    case SQLSTATE.invalidParameterValue:
      // the user's own PGOPTIONS may hold an invalid value too
      if (!isAboutTimeZone(error, timeZone)) return reported(error, EXIT.connection, before);
      return reported(
        error,
        EXIT.usage,
        'invalid value for --timezone',
        'a time zone is a name such as Europe/Berlin or UTC: SELECT name FROM pg_timezone_names',
      );
    case SQLSTATE.featureNotSupported:
      if (!error.message.includes('UTF8')) return reported(error, EXIT.connection, before);
      return reported(
        error,
        EXIT.notReady,
        before,
        'a database whose encoding cannot be converted to UTF8 cannot be read',
      );
    case SQLSTATE.insufficientPrivilege:
      return denied(error, attempt);
    case SQLSTATE.tooManyConnections:
    case SQLSTATE.configurationLimit:
      return reported(
        error,
        EXIT.notReady,
        `no free connection at ${address}`,
        /max_wal_senders/.test(error.message)
          ? 'raise max_wal_senders, or end a replication client: SELECT * FROM pg_stat_replication;'
          : 'end a session, or raise the limit of the server, the role or the database',
      );
    case SQLSTATE.invalidAuthorization:
      return reported(error, EXIT.connection, before, isAboutRole(error) ? ROLE_HINT : HBA_HINT);
    case SQLSTATE.invalidPassword:
      return reported(
        error,
        EXIT.connection,
        before,
        'the password of the URI, PGPASSWORD or ~/.pgpass, the first of these that is set, was refused',
      );
    case SQLSTATE.undefinedDatabase:
      return reported(
        error,
        EXIT.connection,
        before,
        'name the database: -d, --dbname or PGDATABASE',
      );
    default:
      return reported(error, EXIT.connection, before);
  }
}

const HBA_HINT =
  'pg_hba.conf needs a line for this user, database and address: for logical replication the database line counts';
const ROLE_HINT =
  'name a role that exists and may log in: -U, --username or PGUSER; without one it is the name of the system user';

/** pg_hba.conf let it in, and then there was no such role, or one with NOLOGIN. */
const isAboutRole = ({ routine }: ServerReport): boolean => routine === 'InitializeSessionUserId';

/** One SQLSTATE for a missing CONNECT, a missing REPLICATION, and settings that need more. */
function denied(error: ServerReport, { address, user, database }: ConnectAttempt): PgtailError {
  const role = `role ${JSON.stringify(user)}`;
  switch (error.routine ?? likelyRoutine(error, database)) {
    case 'CheckMyDatabase':
      return reported(
        error,
        EXIT.notReady,
        `${role} may not connect to database ${JSON.stringify(database)}`,
        `as its owner or a superuser: GRANT CONNECT ON DATABASE ${quoteIdentifier(database)} TO ${quoteIdentifier(user)};`,
      );
    case 'InitPostgres':
      return reported(
        error,
        EXIT.notReady,
        `${role} may not replicate`,
        `as a superuser: ALTER ROLE ${quoteIdentifier(user)} REPLICATION;`,
      );
    default:
      return reported(
        error,
        EXIT.notReady,
        `cannot connect to ${address}`,
        'PGOPTIONS, or options= of the connection string, sets what this role may not set',
      );
  }
}

/** What stands in between may leave it out. */
const likelyRoutine = ({ message }: ServerReport, database: string): string =>
  message.includes(`"${database}"`) ? 'CheckMyDatabase' : 'InitPostgres';

/** The message may be translated, but not these. */
const isAboutTimeZone = ({ message }: ServerReport, timeZone: string): boolean =>
  /time ?zone/i.test(message) && message.includes(`"${timeZone}"`);

/** A failed CREATE_REPLICATION_SLOT. */
export function createSlotFailure(error: unknown, slot: string): PgtailError {
  const before = `cannot create slot ${JSON.stringify(slot)}`;
  if (!isServerReport(error)) return lost(error, before);
  switch (error.code) {
    case SQLSTATE.tooManyConnections:
    case SQLSTATE.configurationLimit:
      return reported(
        error,
        EXIT.notReady,
        before,
        'raise max_replication_slots, or drop a slot nobody reads: SELECT * FROM pg_replication_slots;',
      );
    default:
      return reported(error, EXIT.notReady, before);
  }
}

/** A failed pg_copy_logical_replication_slot: --peek. */
export function copySlotFailure(error: unknown, slot: string): PgtailError {
  const before = `cannot copy slot ${JSON.stringify(slot)}`;
  if (!isServerReport(error)) return lost(error, before);
  const { notInPrerequisiteState, undefinedObject } = SQLSTATE;
  const isGone = error.code === notInPrerequisiteState || error.code === undefinedObject;
  return reported(
    error,
    isGone ? EXIT.slot : EXIT.notReady,
    before,
    error.code === SQLSTATE.configurationLimit
      ? 'raise max_replication_slots, or drop a slot nobody reads: SELECT * FROM pg_replication_slots;'
      : undefined,
  );
}

/** A failed pg_drop_replication_slot or pg_replication_slot_advance; `role` is the present one. */
export function changeSlotFailure(
  error: unknown,
  what: 'drop' | 'advance',
  slot: string,
  role: string,
): PgtailError {
  const before = `cannot ${what} slot ${JSON.stringify(slot)}`;
  if (!isServerReport(error)) return lost(error, before);
  switch (error.code) {
    case SQLSTATE.objectInUse:
      return slotInUse(error, slot);
    case SQLSTATE.undefinedObject:
    case SQLSTATE.notInPrerequisiteState:
      return reported(error, EXIT.slot, before);
    case SQLSTATE.insufficientPrivilege:
      return reported(error, EXIT.notReady, before, slotPrivilege(error, role));
    default:
      return reported(error, isTransient(error) ? EXIT.failure : EXIT.notReady, before);
  }
}

/** That the function itself may not be run is said by the server's own words. */
const slotPrivilege = ({ routine }: ServerReport, role: string): string | undefined =>
  routine === 'aclcheck_error'
    ? undefined
    : `as a superuser: ALTER ROLE ${quoteIdentifier(role)} REPLICATION;`;

/** A failed START_REPLICATION. */
export function startFailure(error: unknown, slot: string): PgtailError {
  const before = `cannot start slot ${JSON.stringify(slot)}`;
  if (!isServerReport(error)) return lost(error, before);
  switch (error.code) {
    case SQLSTATE.objectInUse:
      return slotInUse(error, slot);
    case SQLSTATE.insufficientPrivilege:
    case SQLSTATE.featureNotSupported:
    case SQLSTATE.tooManyConnections:
    case SQLSTATE.configurationLimit:
      return reported(error, EXIT.notReady, before);
    default:
      return reported(error, EXIT.slot, before);
  }
}

/** Who holds the slot, by a failed START_REPLICATION; undefined if that was not the reason. */
export function slotHolder(error: unknown): number | undefined {
  if (!hasSqlState(error, SQLSTATE.objectInUse)) return undefined;
  const pid = /\bPID (\d+)/.exec((error as Error).message)?.[1];
  return pid === undefined ? 0 : Number(pid);
}

function slotInUse(error: ServerReport, slot: string): PgtailError {
  const pid = /\bPID (\d+)/.exec(error.message)?.[1];
  const reader = pid === undefined ? 'another consumer' : `the consumer with PID ${pid}`;
  const end = pid === undefined ? '' : `: SELECT pg_terminate_backend(${pid});`;
  return new PgtailError(
    EXIT.slotInUse,
    `slot ${JSON.stringify(slot)} is being read by ${reader}`,
    {
      hint: `a slot has one reader at a time: stop that program, or as a last resort its session${end}`,
      cause: error,
    },
  );
}

/** The stream broke off. `encoding` is the database's. */
export function streamFailure(
  error: unknown,
  slot: Pick<ReadySlot, 'name' | 'temporary'>,
  encoding: string,
): PgtailError {
  if (error instanceof PgtailError) return error;
  if (isUnreadable(error)) return unreadable(error);
  if (!isServerReport(error)) return lost(error, 'the connection was lost');
  const before = 'the server ended the stream';
  switch (error.code) {
    case SQLSTATE.undefinedObject:
      return reported(
        error,
        EXIT.notReady,
        before,
        'a publication must have existed before the changes that are to be read through it',
      );
    case SQLSTATE.notInPrerequisiteState:
      return reported(error, EXIT.slot, `slot ${JSON.stringify(slot.name)}`);
    case SQLSTATE.notInEncoding:
    case SQLSTATE.untranslatableCharacter:
      return notConvertible(error, slot, encoding);
    case SQLSTATE.internalError:
      return reported(
        error,
        EXIT.failure,
        before,
        'if a transaction in progress is read (--streaming), it may be read after its commit: --streaming off',
      );
    default:
      return reported(error, EXIT.failure, before);
  }
}

/** The server's message shows the bytes, but they are a few, and all there is to find them by. */
function notConvertible(
  error: ServerReport,
  slot: Pick<ReadySlot, 'name' | 'temporary'>,
  encoding: string,
): PgtailError {
  const lsn = /\b[0-9A-F]+\/[0-9A-F]+\b/.exec(error.where ?? '')?.[0];
  const where = lsn === undefined ? '' : ` at ${lsn}`;
  return reported(
    error,
    EXIT.failure,
    `the server cannot send text${where} as UTF8`,
    encoding === 'SQL_ASCII'
      ? 'its database is in SQL_ASCII: say with --encoding which encoding the bytes are in, as in --encoding LATIN1'
      : withoutEquivalent(slot, encoding),
  );
}

/**
 * What the WAL holds cannot be mended any more. The position of the error is that of the change:
 * a slot that is advanced there sends its transaction again.
 */
function withoutEquivalent(
  { name, temporary }: Pick<ReadySlot, 'name' | 'temporary'>,
  encoding: string,
): string {
  const place = SERVER_ENCODINGS.includes(encoding)
    ? `--encoding ${encoding} says which table and column hold it; `
    : '';
  const anyBytes = `${place}--encoding LATIN1 takes any bytes, but shows all other text that is not ASCII wrongly`;
  if (temporary) return anyBytes;
  return `${anyBytes}\nor skip the transaction: pgtail slots advance ${name} LSN, with one behind it, loses all that lies before`;
}

/** pg met a message type that the protocol does not have. */
const isUnreadable = (error: unknown): error is Error =>
  error instanceof Error && /received invalid response/.test(error.message);

function unreadable(error: Error): PgtailError {
  return new ProtocolViolation('backend message', error.message, 0);
}

/** A catalog query of the preflight failed. */
export function queryFailure(error: unknown): PgtailError {
  if (!isServerReport(error)) return lost(error, 'the connection was lost');
  const isUnreadable =
    error.code === SQLSTATE.notInEncoding || error.code === SQLSTATE.untranslatableCharacter;
  return reported(
    error,
    // a server that is going down has let us in, and no more
    isTransient(error) ? EXIT.connection : EXIT.notReady,
    'cannot read the catalogs',
    isUnreadable
      ? 'some name there is not UTF8: name the publication with -P, then no other is read'
      : undefined,
  );
}

function lost(error: unknown, before: string): PgtailError {
  const reason = error instanceof Error ? error.message : String(error);
  return new PgtailError(EXIT.failure, `${before}: ${reason.toLowerCase()}`, {
    cause: error,
    transient: true,
  });
}

function errorCode(error: unknown): string | undefined {
  // a host name with several addresses fails with one error for each of them
  if (error instanceof AggregateError) return errorCode(error.errors[0]);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
