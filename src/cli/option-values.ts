// The values that several commands take, each with the words that say what it may be.

import * as z from 'zod/mini';
import { parseTablePattern, type TablePattern } from '../changes/table-pattern.ts';
import { EXIT, PgtailError } from '../errors.ts';
import { type Lsn, parseLsn } from '../lsn.ts';
import { SERVER_ENCODINGS, serverEncoding } from '../pgtypes/encoding/server-encodings.ts';
import type { TextEncoding } from '../pgtypes/encoding/text-encoding.ts';
import type { RawOptions } from './raw-options.ts';

/** Absent, it is off. */
export const flag = z._default(z.boolean(), false);
export const anyText = z.optional(z.string());

export const oneOf = <T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`);

export const matching = (pattern: RegExp, problem: string) =>
  z.string().check(z.regex(pattern, problem));

/** What `read` makes of the text; undefined is the problem. */
export const readBy = <T>(read: (text: string) => T | undefined, problem: string) =>
  z.pipe(
    z.string(),
    z.transform((text: string, { issues }): T => {
      const value = read(text);
      if (value !== undefined) return value;
      issues.push({ code: 'custom', message: problem, input: text });
      return z.NEVER;
    }),
  );

/** PostgreSQL takes no other names: https://www.postgresql.org/docs/current/warm-standby.html */
export const slotName = matching(
  /^[a-z0-9_]{1,63}$/,
  'a slot name has 1 to 63 of the characters a-z, 0-9 and _',
);

/** In ms; `least` is in seconds. */
export const secondsFrom = (least: number) =>
  readBy((text) => {
    const isNumber = /^\d{1,6}(\.\d+)?$/.test(text);
    return isNumber && Number(text) >= least ? Number(text) * 1000 : undefined;
  }, `must be a number of seconds, ${least} to 999999`);

export const seconds = secondsFrom(0);

export const lsn = readBy<Lsn>(parseLsn, 'a position is written as in 16/B374D848');

export const tablePattern = readBy<TablePattern>(
  parseTablePattern,
  'a pattern is table or schema.table, with * and ?, parts quoted as in SQL',
);

export const listOf = <T extends z.ZodMiniType>(item: T) => z._default(z.array(item), []);
export const named = (what: string) => z.string().check(z.minLength(1, `a ${what} has a name`));

/** Each once. */
export const publicationNames = z.pipe(
  listOf(named('publication')),
  z.transform((names: string[]): readonly string[] => [...new Set(names)]),
);

export const textEncoding = readBy<TextEncoding>(
  serverEncoding,
  `must be one of ${SERVER_ENCODINGS.join(', ')}`,
);

/**
 * `operands` are the names of what stands on the command line without an option's name.
 * @throws PgtailError (usage) that names the first option that is wrong
 */
export function checkedValues<T extends z.ZodMiniType>(
  schema: T,
  raw: RawOptions,
  operands: readonly string[] = [],
): z.output<T> {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const name = String(issue.path[0]);
  const where = operands.includes(name) ? name.toUpperCase() : optionName(name);
  throw new PgtailError(EXIT.usage, `invalid value for ${where}`, { hint: issue.message });
}

function optionName(name: string): string {
  const option = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const variable = `PGTAIL_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
  return process.env[variable] === undefined ? option : `${option} (or ${variable})`;
}
