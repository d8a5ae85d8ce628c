// From what was typed to what it means: checks every value and freezes the result; acts on nothing.

import { z } from 'zod';
import { LINE_OPS, Selection } from '../changes/selection.ts';
import { parseTablePattern, type TablePattern } from '../changes/table-pattern.ts';
import { connectionSettings, type Machine } from '../connection/settings.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { STREAMING_MODES } from '../pgoutput/plugin-options.ts';
import { SERVER_ENCODINGS, serverEncoding } from '../pgtypes/encoding/server-encodings.ts';
import type { TextEncoding } from '../pgtypes/encoding/text-encoding.ts';
import type { TailOptions } from '../tail/tail.ts';
import type { ColorFlag } from '../terminal/color.ts';
import type { RawOptions } from './raw-options.ts';

export type FormatName = 'pretty' | 'ndjson';

export interface CommandOptions extends TailOptions {
  readonly format: FormatName;
  readonly color: ColorFlag;
  /** Values are the server's text, whatever their type. */
  readonly rawValues: boolean;
  readonly verbosity: 'quiet' | 'normal' | 'verbose';
}

const oneOf = <T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

/** PostgreSQL takes no other names: https://www.postgresql.org/docs/current/warm-standby.html */
const slotName = z
  .string()
  .regex(/^[a-z0-9_]{1,63}$/, 'a slot name has 1 to 63 of the characters a-z, 0-9 and _');

const tablePattern = z.string().transform((text, context): TablePattern => {
  const pattern = parseTablePattern(text);
  if (pattern !== undefined) return pattern;
  context.addIssue('a pattern is table or schema.table, with * and ?, parts quoted as in SQL');
  return z.NEVER;
});

const opList = z
  .string()
  .transform((text) => text.split(',').map((op) => op.trim()))
  .pipe(z.array(oneOf(...LINE_OPS)));

/** The server decides which there are; no zone has a name with other characters. */
const timeZone = z
  .string()
  .regex(/^[ -~]+$/, 'a time zone is a name such as Europe/Berlin or UTC, in ASCII');

const textEncoding = z.string().transform((name, context): TextEncoding => {
  const encoding = serverEncoding(name);
  if (encoding !== undefined) return encoding;
  context.addIssue(`must be one of ${SERVER_ENCODINGS.join(', ')}`);
  return z.NEVER;
});

const rawOptions = z.object({
  conninfo: z.string().optional(),
  dbname: z.string().optional(),
  host: z.string().optional(),
  port: z.string().optional(),
  username: z.string().optional(),
  slot: slotName.optional(),
  createSlot: z.boolean().default(false),
  publication: z.array(z.string().min(1, 'a publication has a name')).default([]),
  messages: z.boolean().default(true),
  streaming: oneOf(...STREAMING_MODES).default('off'),
  twoPhase: z.boolean().default(false),
  binary: z.boolean().default(false),
  timezone: timeZone.optional(),
  encoding: textEncoding.optional(),
  origin: oneOf('any', 'none').default('any'),
  yes: z.boolean().default(false),
  follow: z.boolean().default(true),
  limit: z
    .string()
    .regex(/^0*[1-9]\d{0,14}$/, 'must be a whole number from 1')
    .transform(Number)
    .optional(),
  table: z.array(tablePattern).default([]),
  op: opList.optional(),
  format: oneOf('auto', 'pretty', 'ndjson').default('auto'),
  color: oneOf('auto', 'always', 'never').default('auto'),
  numbers: oneOf('json', 'string').default('json'),
  rawValues: z.boolean().default(false),
  statusInterval: z
    .string()
    .regex(/^\d{1,6}(\.\d+)?$/, 'must be a number of seconds, 0 or more')
    .transform((seconds) => Number(seconds) * 1000)
    .default(10_000),
  quiet: z.boolean().default(false),
  verbose: z.boolean().default(false),
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
  const automatic = outputIsTerminal ? 'pretty' : 'ndjson';
  const format = given.format === 'auto' ? automatic : given.format;
  return Object.freeze({
    connection: connectionSettings(given, machine),
    slot: given.slot,
    createSlot: given.createSlot,
    publications: [...new Set(given.publication)],
    selection: new Selection({
      tables: given.table,
      ops: given.op,
      keepsFrame: format === 'pretty',
    }),
    rawValues: given.rawValues,
    rows: {
      // pretty shows every value as the server wrote it
      values: format === 'ndjson' && !given.rawValues ? ('json' as const) : ('text' as const),
      numbers: given.numbers,
    },
    limit: given.limit,
    follow: given.follow,
    messages: given.messages,
    // what was kept may have to be read again, and a temporary slot is gone with its connection
    streaming: given.slot === undefined && given.streaming === 'buffer' ? 'off' : given.streaming,
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

/** Every value alone. @throws PgtailError (usage) */
export function checkedOptions(raw: RawOptions): z.output<typeof rawOptions> {
  const result = rawOptions.safeParse(raw);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const name = String(issue.path[0]);
  const option = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const variable = `PGTAIL_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
  const from = process.env[variable] === undefined ? '' : ` (or ${variable})`;
  throw new PgtailError(EXIT.usage, `invalid value for ${option}${from}`, { hint: issue.message });
}
