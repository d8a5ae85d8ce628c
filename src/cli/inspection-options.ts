// What the inspection commands share, checked and frozen: where to connect, and how to print.

import * as z from 'zod/mini';
import {
  type ConnectionSettings,
  connectionSettings,
  type Machine,
} from '../connection/settings.ts';
import type { ColorFlag } from '../terminal/color.ts';
import { anyText, checkedValues, flag, oneOf } from './option-values.ts';
import type { RawOptions } from './raw-options.ts';

export interface InspectionOptions {
  readonly connection: ConnectionSettings;
  readonly format: 'pretty' | 'json';
  readonly color: ColorFlag;
  readonly verbosity: 'quiet' | 'normal' | 'verbose';
}

const FORMATS = z._default(oneOf('auto', 'pretty', 'json'), 'auto');

const sharedOptions = z.object({
  conninfo: anyText,
  dbname: anyText,
  host: anyText,
  port: anyText,
  username: anyText,
  // ndjson is what the tail has, and is the nearest that there is
  format: z.pipe(
    z.transform((format: unknown) => (format === 'ndjson' ? 'json' : format)),
    FORMATS,
  ),
  color: z._default(oneOf('auto', 'always', 'never'), 'auto'),
  quiet: flag,
  verbose: flag,
});

/** @throws PgtailError (usage) that names the option */
export function inspectionOptions(
  raw: RawOptions,
  machine: Machine,
  outputIsTerminal: boolean,
): InspectionOptions {
  const given = checkedValues(sharedOptions, raw);
  const automatic = outputIsTerminal ? 'pretty' : 'json';
  return Object.freeze({
    connection: connectionSettings(given, machine),
    format: given.format === 'auto' ? automatic : given.format,
    color: given.color,
    verbosity: given.quiet ? 'quiet' : given.verbose ? 'verbose' : 'normal',
  });
}
