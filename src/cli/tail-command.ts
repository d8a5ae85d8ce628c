// The default command: wires the tail to this process's output, clock and signals.

import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { type Machine, serverAddress } from '../connection/settings.ts';
import type { Formatter, FormatterContext } from '../format/formatter.ts';
import { NdjsonFormatter } from '../format/ndjson/formatter.ts';
import { formatSize } from '../format/quantities.ts';
import { formatLsn, type Lsn } from '../lsn.ts';
import { openAppendedFile } from '../output/appended-file.ts';
import { openStandardOutput, standardOutputKind } from '../output/standard-output.ts';
import { protocolVersion } from '../pgoutput/plugin-options.ts';
import type { TailEnvironment } from '../tail/environment.ts';
import type { Source } from '../tail/prepare.ts';
import type { DroppedOption } from '../tail/stream-run.ts';
import { tail } from '../tail/tail.ts';
import { LONGEST_PAGE_HEADER } from '../walsender/preflight.ts';
import { thisMachine } from './machine.ts';
import { type CommandOptions, commandOptions } from './options.ts';
import { outputColumns, outputTheme } from './output-theme.ts';
import type { RawOptions } from './raw-options.ts';
import { silenceLines } from './silence-text.ts';
import { tellSlotWaits } from './slot-waits.ts';
import { printNotice, printServerNotice } from './standard-error.ts';

export async function runTailCommand(
  raw: RawOptions,
  signal: AbortSignal,
  env: Machine['env'] = process.env,
): Promise<void> {
  keepYoungGenerationSmall();
  const options = commandOptions(raw, thisMachine(env), isTerminal());
  await tail(options, await environmentOf(options, signal));
}

/**
 * Of a stream's objects hardly any outlives a row, and V8 takes up to 48 MB before it looks: with the
 * 3 MB it begins with, 500,000 rows take 66 MB of memory in the place of 104, and no more time. The
 * size itself is set for good when Node starts.
 */
function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

const isTerminal = (): boolean => standardOutputKind() === 'terminal';

export async function environmentOf(
  options: CommandOptions,
  signal: AbortSignal,
): Promise<TailEnvironment> {
  const { verbosity } = options;
  const tell = (text: string): void => {
    if (verbosity !== 'quiet') printNotice(text);
  };
  return {
    signal,
    now: Date.now,
    uptime: () => performance.now(),
    spoolDirectory: tmpdir(),
    random: Math.random,
    temporarySlotName: () => `pgtail_${process.pid}_${randomBytes(4).toString('hex')}`,
    openOutput: async (listener) =>
      options.path === undefined
        ? await openStandardOutput(listener)
        : openAppendedFile(options.path, listener, onHangup),
    onHangup,
    newFormatter: await formatterFactory(options),
    onSlotWaits: tellSlotWaits(verbosity),
    onStart: (source) => {
      if (verbosity === 'quiet') return;
      printNotice(startLine(options, source));
      if (verbosity === 'verbose') printNotice(detailLine(options, source));
      const why = whyText(source);
      if (why !== undefined) printNotice(`--binary is left off: ${why}`);
      const mismatch = encodingText(options, source);
      if (mismatch !== undefined) printNotice(mismatch);
      for (const warning of serverWarnings(source)) printNotice(warning);
      if (source.money.kind === 'overridden') printNotice(moneyText(source.money.name));
    },
    onAgain: (without) => tell(AGAIN_WITHOUT[without]),
    onSilence: (silence, { publications }) => {
      for (const line of silenceLines(silence, publications)) tell(line);
    },
    onCommitsWait: () => tell(`${COMMITS_WAIT}: synchronous_standby_names was changed`),
    onPromoted: () => tell('the standby was promoted: going on with it'),
    onLost: (error, attempt) => {
      // told when it happens, and then only to those who want to know more
      if (verbosity === 'verbose' || (verbosity === 'normal' && attempt === 1)) {
        printNotice(`${error.message}: trying to connect again`);
      }
    },
    onReconnected: (from) => tell(reconnectedText(from)),
    onSlotKept: (slot, retained) => tell(slotKeptText(slot, retained)),
    onServerCast: (type) => tell(serverCastText(type)),
    onTypeNotFound: (type) => tell(typeNotFoundText(type)),
    onTypesUnknown: (error) => tell(typesUnknownText(error)),
    onServerNotice: (notice) => {
      if (verbosity !== 'quiet') printServerNotice(notice);
    },
  };
}

/** With a file SIGHUP stops nothing any more: whoever renamed the file asks for a new one. */
function onHangup(reopen: () => void): void {
  process.removeAllListeners('SIGHUP');
  process.on('SIGHUP', reopen);
}

async function formatterFactory(
  options: CommandOptions,
): Promise<(context: FormatterContext) => Formatter> {
  if (options.format === 'ndjson') return (context) => new NdjsonFormatter(context);
  const onTerminal = isTerminal();
  const [{ PrettyFormatter }, theme] = await Promise.all([
    import('../format/pretty/formatter.ts'),
    outputTheme(options.color, onTerminal),
  ]);
  const columns = (): number => outputColumns(onTerminal);
  const { rawValues, connection } = options;
  const { timeZone } = connection;
  return (context) =>
    new PrettyFormatter({ ...context, theme, columns, now: Date.now, timeZone, rawValues });
}

const COMMITS_WAIT = 'COMMITs on this server wait for this tail';

/** What others, or the user, will wonder about. */
function serverWarnings({ server, slot, commitsWait }: Source): string[] {
  const { synchronousStandbyNames: names, walEnd } = server;
  const warnings: string[] = [];
  if (commitsWait) {
    warnings.push(`${COMMITS_WAIT}: synchronous_standby_names is ${JSON.stringify(names)}`);
  }
  const { position } = slot;
  if (!slot.temporary && position !== undefined && position > walEnd + LONGEST_PAGE_HEADER) {
    warnings.push(
      `the slot stands at ${formatLsn(position)}, ahead of the server's WAL, which ends at ${formatLsn(walEnd)}: nothing arrives before it has grown so far`,
    );
  }
  return warnings;
}

const AGAIN_WITHOUT: Readonly<Record<DroppedOption, string>> = {
  binary: 'a value turned up that only the server can turn into text: going on without --binary',
  buffer:
    'a transaction in progress was not sent with all that it holds: going on without --streaming buffer',
};

const reconnectedText = (from: Lsn | undefined): string =>
  from === undefined ? 'connected again' : `connected again, going on behind ${formatLsn(from)}`;

function slotKeptText(slot: string, retained: number): string {
  return `slot ${JSON.stringify(slot)} stays, and keeps ${formatSize(retained)} of WAL on the server: read on, or drop it`;
}

function serverCastText(type: string): string {
  return `values of type ${type} are shown as the server's text: only the server can run their cast to json`;
}

function typeNotFoundText(type: string): string {
  return `type ${type} is not in the catalog (dropped since, or made by a transaction that is not over): its values are shown as the server's text`;
}

function typesUnknownText(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `types cannot be looked up (${reason}): values of the database's own types are shown as the server's text`;
}

/** Why values come as text although binary ones were asked for. */
function whyText({ values }: Source): string | undefined {
  if (values.kind === 'binary' || values.because === undefined) return undefined;
  if (values.because === 'temporary slot') return 'it needs a slot that outlives its connection';
  if (values.because === 'no connection') return 'the types could not be looked up';
  if (values.because === 'encoding') return 'with --encoding values come as text';
  if (values.because === 'time zone') return 'with a --timezone other than UTC values come as text';
  const { table, column, type } = values.because;
  return `only the server can turn ${type} into text (column ${column} of ${table})`;
}

/** Not wrong for sure: a database in LATIN1 takes any bytes, those of WIN1252 too. */
function encodingText({ encoding }: CommandOptions, { server }: Source): string | undefined {
  if (encoding === undefined || server.encoding === 'SQL_ASCII') return undefined;
  if (encoding.name === server.encoding) return undefined;
  return `the database is in ${server.encoding}, its text is read as ${encoding.name}`;
}

function moneyText(lcMonetary: string): string {
  return `amounts of money are printed in lc_monetary ${JSON.stringify(lcMonetary)}, which the role or PGOPTIONS set: that of the server cannot be read (pg_file_settings)`;
}

/** What is good to know when something looks odd. */
function detailLine({ connection }: CommandOptions, { server, slot }: Source): string {
  const from = slot.position === undefined ? 'its own position' : formatLsn(slot.position);
  const end = formatLsn(server.walEnd);
  const version = `protocol version ${protocolVersion(server.major)}`;
  return `from ${from}, the server's WAL ends at ${end}; ${serverAddress(connection)}, ${version}`;
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
