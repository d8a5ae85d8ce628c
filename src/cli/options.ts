// From what was typed to what it means: checks every value and freezes the result; acts on nothing.

import * as z from 'zod/mini';
import { LINE_OPS, Selection } from '../changes/selection.ts';
import { connectionSettings, type Machine } from '../connection/settings.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { STREAMING_MODES } from '../pgoutput/plugin-options.ts';
import type { TailOptions } from '../tail/environment.ts';
import type { ColorFlag } from '../terminal/color.ts';
import {
  anyText,
  checkedValues,
  flag,
  listOf,
  lsn,
  matching,
  named,
  oneOf,
  publicationNames,
  seconds,
  slotName,
  tablePattern,
  textEncoding,
} from './option-values.ts';
import type { RawOptions } from './raw-options.ts';

export type FormatName = 'pretty' | 'ndjson';

export interface CommandOptions extends TailOptions {
  readonly format: FormatName;
  readonly color: ColorFlag;
  /** The file to write; undefined: standard output. */
  readonly path: string | undefined;
  /** Values are the server's text, whatever their type. */
  readonly rawValues: boolean;
  /** It was asked for, without a slot that outlives its connection. */
  readonly leavesOffBuffer: boolean;
  readonly verbosity: 'quiet' | 'normal' | 'verbose';
}

const opList = z.pipe(
  z.pipe(
    z.string(),
    z.transform((list: string) => list.split(',').map((op) => op.trim())),
  ),
  z.array(oneOf(...LINE_OPS)),
);

/** The server decides which there are; no zone has a name with other characters. */
const timeZone = matching(
  /^[ -~]+$/,
  'a time zone is a name such as Europe/Berlin or UTC, in ASCII',
);

const UNITS: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** In bytes. */
const size = z.pipe(
  matching(/^\d{1,12}\s*([kmg]i?)?b?$/i, 'must be a size such as 500k, 100M or 2G'),
  z.transform(
    (given: string) =>
      Number.parseInt(given, 10) * (UNITS[/[kmg]/i.exec(given)?.[0].toLowerCase() ?? ''] ?? 1),
  ),
);

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** In ms. */
const duration = z.pipe(
  matching(/^\d{1,9}(\.\d+)?(ms|s|m|h)$/, 'must be a duration such as 500ms, 10s, 5m or 1h'),
  z.transform(
    (given: string) => Number.parseFloat(given) * MILLISECONDS[/[a-z]+$/.exec(given)![0]]!,
  ),
);

const wholeNumber = z.pipe(
  matching(/^0*[1-9]\d{0,14}$/, 'must be a whole number from 1'),
  z.transform(Number),
);

const rawOptions = z.object({
  conninfo: anyText,
  dbname: anyText,
  host: anyText,
  port: anyText,
  username: anyText,
  slot: z.optional(slotName),
  createSlot: flag,
  publication: publicationNames,
  messages: z._default(z.boolean(), true),
  streaming: z._default(oneOf(...STREAMING_MODES), 'off'),
  twoPhase: flag,
  binary: flag,
  timezone: z.optional(timeZone),
  encoding: z.optional(textEncoding),
  origin: z._default(oneOf('any', 'none'), 'any'),
  yes: flag,
  peek: flag,
  startLsn: z.optional(lsn),
  endLsn: z.optional(lsn),
  idleTimeout: z.optional(duration),
  explainAfter: z._default(duration, 10_000),
  follow: z._default(z.boolean(), true),
  reconnect: z._default(z.boolean(), true),
  limit: z.optional(wholeNumber),
  table: listOf(tablePattern),
  op: z.optional(opList),
  // json is what the inspection commands have, and is the nearest that there is
  format: z.pipe(
    z.transform((format: unknown) => (format === 'json' ? 'ndjson' : format)),
    z._default(oneOf('auto', 'pretty', 'ndjson'), 'auto'),
  ),
  color: z._default(oneOf('auto', 'always', 'never'), 'auto'),
  file: z.optional(named('file')),
  fsyncInterval: z._default(seconds, 1000),
  rotateSize: z._default(size, 0),
  numbers: z._default(oneOf('json', 'string'), 'json'),
  rawValues: flag,
  statusInterval: z._default(seconds, 10_000),
  quiet: flag,
  verbose: flag,
});

/** @throws PgtailError (usage) that names the option. */
export function commandOptions(
  raw: RawOptions,
  machine: Machine,
  outputIsTerminal: boolean,
): CommandOptions {
  const given = checkedOptions(raw);
  if (given.createSlot && given.slot === undefined) {
    throw new PgtailError(EXIT.usage, '--create-slot needs a name', {
      hint: 'give --slot, or leave both out for a temporary slot',
    });
  }
  if (given.peek || given.startLsn !== undefined) checkPositionOptions(given);
  const path = given.file === '-' ? undefined : given.file;
  if (path !== undefined) checkFileOptions(given);
  const automatic = outputIsTerminal && path === undefined ? 'pretty' : 'ndjson';
  const format = given.format === 'auto' ? automatic : given.format;
  // what was kept may have to be read again, and a temporary slot is gone with its connection
  const leavesOffBuffer = given.streaming === 'buffer' && given.slot === undefined;
  return Object.freeze({
    connection: connectionSettings(given, machine),
    slot: given.slot,
    createSlot: given.createSlot,
    publications: given.publication,
    selection: new Selection({
      tables: given.table,
      ops: given.op,
      keepsFrame: format === 'pretty',
      keepsUnitEnds: path !== undefined,
    }),
    path,
    file:
      path === undefined || format !== 'ndjson'
        ? undefined
        : { path, fsyncInterval: given.fsyncInterval, rotateSize: given.rotateSize },
    rawValues: given.rawValues,
    rows: {
      // pretty shows every value as the server wrote it
      values: format === 'ndjson' && !given.rawValues ? ('json' as const) : ('text' as const),
      numbers: given.numbers,
    },
    limit: given.limit,
    follow: given.follow,
    peek: given.peek,
    startLsn: given.startLsn,
    endLsn: given.endLsn,
    idleTimeout: given.idleTimeout,
    explainAfter: given.quiet ? 0 : given.explainAfter,
    reconnect: given.reconnect,
    messages: given.messages,
    streaming: leavesOffBuffer ? 'off' : given.streaming,
    leavesOffBuffer,
    twoPhase: given.twoPhase,
    binary: given.binary,
    encoding: given.encoding,
    origin: given.origin,
    yes: given.yes,
    statusInterval: given.statusInterval,
    format,
    color: given.color,
    verbosity: given.quiet ? 'quiet' : given.verbose ? 'verbose' : 'normal',
  });
}

/** What only makes sense with a slot that is there. */
function checkPositionOptions(given: z.output<typeof rawOptions>): void {
  const option = given.peek ? '--peek' : '--start-lsn';
  const problem = (text: string, hint: string): PgtailError =>
    new PgtailError(EXIT.usage, `${option} ${text}`, { hint });
  if (given.slot === undefined) {
    throw problem('needs a slot', 'give --slot; without one, changes are shown from now on');
  }
  if (given.createSlot) {
    throw problem('needs a slot that is there already', 'leave out --create-slot');
  }
  if (given.file !== undefined && given.file !== '-') {
    throw problem('cannot be used with --file', 'a file goes on where it ends: use > FILE instead');
  }
}

/** What would make a file hold something twice, or not for good. */
function checkFileOptions({ slot, streaming }: z.output<typeof rawOptions>): void {
  if (slot === undefined) {
    throw new PgtailError(EXIT.usage, '--file needs a slot, from which it can go on', {
      hint: 'give --slot, and --create-slot if it does not exist yet',
    });
  }
  if (streaming === 'on' || streaming === 'parallel') {
    throw new PgtailError(EXIT.usage, `--file cannot be used with --streaming ${streaming}`, {
      hint: 'a transaction in progress may still be rolled back: use --streaming buffer or off',
    });
  }
}

/** Every value alone. @throws PgtailError (usage) */
export function checkedOptions(raw: RawOptions): z.output<typeof rawOptions> {
  return checkedValues(rawOptions, raw);
}
