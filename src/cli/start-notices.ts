// What is said when the stream starts: what is read, what was decided that nobody asked for, and what
// others, or the user, will wonder about.

import { serverAddress } from '../connection/settings.ts';
import { formatLsn, type Lsn, laterLsn } from '../lsn.ts';
import { protocolVersion } from '../pgoutput/plugin-options.ts';
import type { Source } from '../tail/prepare.ts';
import { LONGEST_PAGE_HEADER } from '../walsender/preflight.ts';
import type { CommandOptions } from './options.ts';

/** One line each. */
export function startNotices(options: CommandOptions, source: Source): string[] {
  const { verbosity, binary, leavesOffBuffer } = options;
  return [
    startLine(options, source),
    verbosity === 'verbose' ? detailLine(options, source) : undefined,
    binary ? binaryText(source) : undefined,
    leavesOffBuffer ? `--streaming buffer is left off: ${NEEDS_LASTING_SLOT}` : undefined,
    encodingText(options, source),
    commitsWaitText(source),
    slotAheadText(source),
    endLsnText(options, source),
    moneyText(source),
  ].filter((line) => line !== undefined);
}

/** What is being read, and what was decided that nobody asked for. */
function startLine(options: CommandOptions, { server, slot, publications }: Source): string {
  const names = publications.map((name) => JSON.stringify(name)).join(', ');
  const only = options.publications.length === 0 ? ' (the only one)' : '';
  const publication = `${publications.length === 1 ? 'publication' : 'publications'} ${names}${only}`;
  const from = `database ${JSON.stringify(server.database)}, PostgreSQL ${server.major}`;
  if (slot.copyOf !== undefined) {
    return `${publication}, a copy of slot ${JSON.stringify(slot.copyOf)}, which does not move: ${from}`;
  }
  if (slot.temporary) return `${publication}, from now on (temporary slot): ${from}`;
  const created = slot.created ? ', just created' : '';
  return `${publication}, slot ${JSON.stringify(slot.name)}${created}: ${from}`;
}

/** What is good to know when something looks odd. */
function detailLine({ connection }: CommandOptions, source: Source): string {
  const { server, slot } = source;
  const from = slot.position === undefined ? 'its own position' : formatLsn(slot.position);
  const version = `protocol version ${protocolVersion(server.major)}`;
  return `from ${from}, the server's WAL ends at ${formatLsn(knownWalEnd(source))}; ${serverAddress(connection)}, ${version}`;
}

/** Its end was read before a slot was made, which itself writes WAL. */
function knownWalEnd({ server, slot }: Source): Lsn {
  if (!slot.created || slot.position === undefined) return server.walEnd;
  return laterLsn(server.walEnd, slot.position);
}

const NEEDS_LASTING_SLOT = 'it needs a slot that outlives its connection';

/** Why values come as text although binary ones were asked for. */
function binaryText({ values }: Source): string | undefined {
  if (values.kind === 'binary' || values.because === undefined) return undefined;
  return `--binary is left off: ${becauseText(values.because)}`;
}

type Because = NonNullable<Extract<Source['values'], { kind: 'text' }>['because']>;

function becauseText(because: Because): string {
  if (because === 'temporary slot') return NEEDS_LASTING_SLOT;
  if (because === 'no connection') return 'the types could not be looked up';
  if (because === 'encoding') return 'with --encoding values come as text';
  if (because === 'time zone') return 'with a --timezone other than UTC values come as text';
  const { table, column, type } = because;
  return `only the server can turn ${type} into text (column ${column} of ${table})`;
}

/** Not wrong for sure: a database in LATIN1 takes any bytes, those of WIN1252 too. */
function encodingText({ encoding }: CommandOptions, { server }: Source): string | undefined {
  if (encoding === undefined || server.encoding === 'SQL_ASCII') return undefined;
  if (encoding.name === server.encoding) return undefined;
  return `the database is in ${server.encoding}, its text is read as ${encoding.name}`;
}

export const COMMITS_WAIT = 'COMMITs on this server wait for this tail';

function commitsWaitText({ server, commitsWait }: Source): string | undefined {
  if (!commitsWait) return undefined;
  const names = JSON.stringify(server.synchronousStandbyNames);
  return `${COMMITS_WAIT}: synchronous_standby_names is ${names}`;
}

/** Only a slot that was there before can be. */
function slotAheadText({ server: { walEnd }, slot }: Source): string | undefined {
  const { created, position } = slot;
  if (created || position === undefined || position <= walEnd + LONGEST_PAGE_HEADER) {
    return undefined;
  }
  return `the slot stands at ${formatLsn(position)}, ahead of the server's WAL, which ends at ${formatLsn(walEnd)}: nothing arrives before it has grown so far`;
}

/** What comes was committed at or behind the position where the stream starts. */
function endLsnText({ endLsn, startLsn }: CommandOptions, { slot }: Source): string | undefined {
  const start = startLsn ?? slot.position;
  if (endLsn === undefined || start === undefined || endLsn >= start) return undefined;
  return `nothing can come: --end-lsn ${formatLsn(endLsn)} lies before ${formatLsn(start)}, where the stream starts`;
}

function moneyText({ money }: Source): string | undefined {
  if (money.kind !== 'overridden') return undefined;
  return `amounts of money are printed in lc_monetary ${JSON.stringify(money.name)}, which the role or PGOPTIONS set: that of the server cannot be read (pg_file_settings)`;
}
