// The server's settings as a session of this role in this database sees them, where each comes from,
// and so what changes it.
// https://www.postgresql.org/docs/current/view-pg-settings.html

import * as z from 'zod/mini';
import type { RunQuery } from '../catalog/catalog-connection.ts';
import { RELOAD } from '../findings/finding.ts';
import { quoteIdentifier } from '../pgoutput/quote-identifier.ts';
import { jsonRows } from './json-rows.ts';

export interface Setting {
  readonly name: string;
  readonly text: string;
  /** In bytes or ms where it has a unit; NaN if it is no number. */
  readonly number: number;
  /** `default`, `configuration file`, `global`, `database`, `user`, `database user`, `client` … */
  readonly source: string;
  /** A change needs a restart, not only a reload. */
  readonly needsRestart: boolean;
}

/** Only those that this server has. */
export type Settings = ReadonlyMap<string, Setting>;

const NAMES: readonly string[] = [
  'client_min_messages',
  'effective_wal_level',
  'hot_standby_feedback',
  'lock_timeout',
  'logical_decoding_work_mem',
  'max_connections',
  'max_replication_slots',
  'max_wal_senders',
  'output_plugin_libraries',
  'primary_slot_name',
  'reserved_connections',
  'superuser_reserved_connections',
  'synchronous_standby_names',
  'wal_level',
  'wal_sender_timeout',
];

const settingRow = z.object({
  name: z.string(),
  setting: z.string(),
  unit: z.nullable(z.string()),
  source: z.string(),
  context: z.string(),
});

/** To bytes and ms. */
const UNITS: Readonly<Record<string, number>> = {
  kB: 1024,
  MB: 1024 ** 2,
  ms: 1,
  s: 1000,
  min: 60_000,
};

export async function readSettings(query: RunQuery): Promise<Settings> {
  const names = NAMES.map((name) => `'${name}'`).join(', ');
  const rows = await jsonRows(
    query,
    `SELECT name, setting, unit, source, context FROM pg_settings WHERE name IN (${names})`,
    settingRow,
  );
  return new Map(
    rows.map(({ name, setting, unit, source, context }) => [
      name,
      {
        name,
        text: setting,
        number: Number(setting) * (UNITS[unit ?? ''] ?? 1),
        source,
        needsRestart: context === 'postmaster',
      },
    ]),
  );
}

/** NaN if this server has no such setting, or if it is no number. */
export const numberOf = (settings: Settings, name: string): number =>
  settings.get(name)?.number ?? Number.NaN;

/** Empty if this server has no such setting. */
export const textOf = (settings: Settings, name: string): string => settings.get(name)?.text ?? '';

export const RESTART = 'restart the server';

/** Who connects to what: ALTER ROLE and ALTER DATABASE name them. */
export interface Session {
  readonly role: string;
  readonly database: string;
}

/** How it gets that value, which is SQL, where it is set at present. */
export function settingFix(setting: Setting, value: string, session: Session): readonly string[] {
  const { name, needsRestart } = setting;
  const reset = resetFix(setting, session);
  if (reset !== undefined) return [reset];
  return [`ALTER SYSTEM SET ${name} = ${value};`, needsRestart ? RESTART : RELOAD];
}

/** For a setting of the role, the database or the client alone; undefined: it is the server's. */
export function resetFix(
  { name, source }: Pick<Setting, 'name' | 'source'>,
  session: Session,
): string | undefined {
  const role = quoteIdentifier(session.role);
  const database = quoteIdentifier(session.database);
  switch (source) {
    case 'user':
      return `ALTER ROLE ${role} RESET ${name};`;
    case 'database':
      return `ALTER DATABASE ${database} RESET ${name};`;
    case 'database user':
      return `ALTER ROLE ${role} IN DATABASE ${database} RESET ${name};`;
    case 'global':
      return `ALTER ROLE ALL RESET ${name};`;
    case 'client':
      return `leave ${name} out of PGOPTIONS`;
    case 'command line':
      return `change ${name} on the command line of the server, and restart it`;
    default:
      return undefined;
  }
}

/** For a fact; empty for what is the server’s. */
export function settingOrigin({ source }: Pick<Setting, 'source'>): string {
  switch (source) {
    case 'user':
    case 'database user':
    case 'global':
      return ' (ALTER ROLE … SET)';
    case 'database':
      return ' (ALTER DATABASE … SET)';
    case 'client':
      return ' (PGOPTIONS)';
    default:
      return '';
  }
}
