// What the server and the network say, as exit code, message and fix.

import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { PgtailError } from '../../src/errors.ts';
import {
  connectFailure,
  createSlotFailure,
  hasSqlState,
  isServerReport,
  queryFailure,
  startFailure,
  streamFailure,
} from '../../src/walsender/server-error.ts';

function report(code: string, message: string, more: Partial<DatabaseError> = {}): DatabaseError {
  const error = new DatabaseError(message, message.length, 'error');
  return Object.assign(error, { severity: 'ERROR', code, ...more });
}

const network = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code });

const AT = 'db.example:5432';
const ATTEMPT = { address: AT, user: 'clerk', database: 'shop', timeZone: 'Mars/Olympus' };

describe('a connection that fails', () => {
  it.each([
    ['42501', 'permission denied', 4, /role "clerk" may not replicate/, /ALTER ROLE "clerk" REPL/],
    [
      '42501',
      'permission denied for database "shop"',
      4,
      /may not connect to .*"shop"/,
      /GRANT CONN/,
    ],
    ['53300', 'exceeds max_wal_senders (currently 1)', 4, /no free connection/, /max_wal_senders/],
    ['53300', 'too many connections for role "clerk"', 4, /for role/, /limit of .* the role/],
    ['28000', 'no pg_hba.conf entry', 3, /db\.example:5432: no pg_hba/, /pg_hba\.conf needs/],
    ['28P01', 'password authentication failed', 3, /password auth/, /PGPASSWORD/],
    ['3D000', 'database "x" does not exist', 3, /database "x" does not exist/, undefined],
    ['57P03', 'the database system is starting up', 3, /starting up/, undefined],
    [
      '22023',
      'invalid value for parameter "TimeZone": "Mars/Olympus"',
      2,
      /--timezone: .*Olympus/,
      /Europe\/Berlin/,
    ],
    ['0A000', 'conversion between MULE_INTERNAL and UTF8 is not supported', 4, /MULE/, /UTF8/],
    ['0A000', 'unsupported frontend protocol', 3, /frontend/, undefined],
    ['22023', 'invalid value for parameter "TimeZone": "Mars"', 3, /"Mars"/, undefined],
    ['22023', 'invalid value for parameter "DateStyle": "Mars/Olympus"', 3, /Date/, undefined],
  ] as const)('with %s %s is exit code %i', (code, message, exitCode, told, hint) => {
    const failure = connectFailure(report(code, message), ATTEMPT);
    expect(failure).toMatchObject({ exitCode, message: expect.stringMatching(told) });
    if (hint !== undefined) expect(failure.hint).toMatch(hint);
  });

  it.each([
    ['ECONNREFUSED', 'connection refused'],
    ['ENOTFOUND', 'host name not found'],
    ['ETIMEDOUT', 'timed out'],
  ])('with %s says %s and where', (code, reason) => {
    const failure = connectFailure(network(code), ATTEMPT);
    expect(failure).toMatchObject({ exitCode: 3, message: `cannot connect to ${AT}: ${reason}` });
  });

  it('at every address of a host name is told by the first', () => {
    const all = new AggregateError([network('ECONNREFUSED'), network('ENETUNREACH')]);
    expect(connectFailure(all, ATTEMPT).message).toContain('connection refused');
  });

  it('with an error of our own keeps it', () => {
    const own = new PgtailError(3, 'the server asks for a password');
    expect(connectFailure(own, ATTEMPT)).toBe(own);
  });
});

describe('a slot', () => {
  it('in use names the reader and how to end it', () => {
    const failure = startFailure(
      report('55006', 'replication slot "audit" is active for PID 4711'),
      'audit',
    );
    expect(failure).toMatchObject({
      exitCode: 5,
      message: 'slot "audit" is being read by the consumer with PID 4711',
      hint: expect.stringContaining('SELECT pg_terminate_backend(4711);'),
    });
  });

  it('in use is told without a PID where the message has none', () => {
    const failure = startFailure(report('55006', 'Slot ist belegt'), 'audit');
    expect(failure).toMatchObject({ exitCode: 5, message: expect.stringContaining('another') });
    expect(failure.hint).not.toContain('pg_terminate_backend');
  });

  it.each([
    ['42704', 6],
    ['55000', 6],
    ['42501', 4],
    ['0A000', 4],
    ['53400', 4],
  ])('refused with %s is exit code %i', (code, exitCode) => {
    expect(startFailure(report(code, 'no'), 'audit')).toMatchObject({ exitCode });
  });

  it('that cannot be created is exit code 4, with the limit to raise', () => {
    const failure = createSlotFailure(report('53400', 'all replication slots are in use'), 'audit');
    expect(failure).toMatchObject({ exitCode: 4 });
    expect(failure.hint).toContain('max_replication_slots');
  });
});

describe('a stream that breaks off', () => {
  const audit = { name: 'audit', temporary: false };

  it.each([
    ['42704', 'publication "shop" does not exist', 4],
    ['55000', 'can no longer get changes from replication slot "audit"', 6],
    ['57P01', 'terminating connection due to administrator command', 1],
    ['22021', 'invalid byte sequence for encoding "UTF8": 0xff', 1],
    ['XX000', 'out of memory', 1],
  ])('with %s %s is exit code %i', (code, message, exitCode) => {
    const failure = streamFailure(report(code, message), audit, 'UTF8');
    expect(failure).toMatchObject({ exitCode, message: expect.stringContaining(message) });
  });

  it.each([
    ['22021', 'SQL_ASCII', 'as in --encoding LATIN1'],
    ['22P05', 'EUC_JP', '--encoding EUC_JP says which table and column'],
    ['22P05', 'EUC_TW', '--encoding LATIN1 takes any bytes, but shows all other text'],
    ['22P05', 'WIN1252', 'pgtail slots advance audit LSN, with one behind it'],
  ])('with %s in %s says where and what to do', (code, encoding, hint) => {
    const where = 'slot "audit", output plugin "pgoutput", in the change callback, associated LSN';
    const error = report(code, 'no such character', { where: `${where} 1/1570E58` });
    expect(streamFailure(error, audit, encoding)).toMatchObject({
      exitCode: 1,
      message: 'the server cannot send text at 1/1570E58 as UTF8: no such character',
      hint: expect.stringContaining(hint),
    });
  });

  it('names no encoding that pgtail cannot read, and skips nothing in a slot that is gone', () => {
    const error = report('22P05', 'no such character');
    const { hint } = streamFailure(error, { name: 'pgtail_1', temporary: true }, 'EUC_TW');
    expect(hint).not.toMatch(/EUC_TW|slots advance/);
  });

  it('without a word of the server is exit code 1', () => {
    const failure = streamFailure(new Error('Connection terminated unexpectedly'), audit, 'UTF8');
    expect(failure).toMatchObject({
      exitCode: 1,
      message: 'the connection was lost: connection terminated unexpectedly',
    });
  });
});

it('detail and hint of the server are kept, its hint only where ours is missing', () => {
  const more = { detail: 'It was removed.', hint: 'Look at the log.' };
  const failure = queryFailure(report('XX001', 'could not read block', more));
  expect(failure).toMatchObject({ exitCode: 4, detail: 'It was removed.', hint: more.hint });
});

it('a report of the server is told from other errors with a code', () => {
  expect(isServerReport(report('55006', 'busy'))).toBe(true);
  expect(isServerReport(network('EPIPE'))).toBe(false);
  expect(isServerReport('55006')).toBe(false);
  expect(hasSqlState(report('55006', 'busy'), '55006')).toBe(true);
});
