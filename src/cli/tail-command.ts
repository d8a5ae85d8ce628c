// The default command: wires the tail to this process's output, clock and signals.

import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Machine } from '../connection/settings.ts';
import type { Formatter, FormatterContext } from '../format/formatter.ts';
import { NdjsonFormatter } from '../format/ndjson/formatter.ts';
import { formatSize } from '../format/quantities.ts';
import { formatLsn, type Lsn } from '../lsn.ts';
import { openAppendedFile } from '../output/appended-file.ts';
import { openStandardOutput, standardOutputKind } from '../output/standard-output.ts';
import type { TailEnvironment } from '../tail/environment.ts';
import type { DroppedOption } from '../tail/stream-run.ts';
import { tail } from '../tail/tail.ts';
import { thisMachine } from './machine.ts';
import { type CommandOptions, commandOptions } from './options.ts';
import { outputColumns, outputTheme } from './output-theme.ts';
import type { RawOptions } from './raw-options.ts';
import { silenceLines } from './silence-text.ts';
import { tellSlotWaits } from './slot-waits.ts';
import { printNotice, printServerNotice } from './standard-error.ts';
import { COMMITS_WAIT, startNotices } from './start-notices.ts';

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
      for (const line of startNotices(options, source)) tell(line);
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
