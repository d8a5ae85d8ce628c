// The text of replication commands and of the queries pgtail runs; pure.
// https://www.postgresql.org/docs/current/protocol-replication.html

import type { Lsn } from '../lsn.ts';
import { formatLsn } from '../lsn.ts';
import { quoteIdentifier } from '../pgoutput/quote-identifier.ts';

/** An SQL string constant that means the same whatever standard_conforming_strings says. */
export function quoteLiteral(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return text.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}

/** A string in a replication command: only quotes are doubled, a backslash is a backslash. */
function quoteOptionValue(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** `proto_version '4', publication_names '"shop"'` and so on, in the order given. */
export type PluginOptions = Readonly<Record<string, string>>;

export interface StartReplication {
  readonly slot: string;
  /** 0/0 starts at the slot's own position. */
  readonly from: Lsn;
  readonly options: PluginOptions;
}

export function startReplication({ slot, from, options }: StartReplication): string {
  const list = Object.entries(options).map(([name, value]) => `${name} ${quoteOptionValue(value)}`);
  const where = `${quoteIdentifier(slot)} LOGICAL ${formatLsn(from)}`;
  return `START_REPLICATION SLOT ${where} (${list.join(', ')})`;
}

export interface NewSlot {
  readonly name: string;
  readonly temporary: boolean;
  /** Default: pgoutput. */
  readonly plugin?: string;
  readonly twoPhase?: boolean;
  /** Kept by standbys too (17+). */
  readonly failover?: boolean;
}

/** No snapshot is exported: nobody reads the tables at the slot's starting point. */
export function createReplicationSlot(slot: NewSlot): string {
  const { name, temporary, plugin = 'pgoutput', twoPhase = false, failover = false } = slot;
  const kind = temporary ? 'TEMPORARY LOGICAL' : 'LOGICAL';
  const command = `CREATE_REPLICATION_SLOT ${quoteIdentifier(name)} ${kind} ${pluginName(plugin)}`;
  // 10 to 14 know only the words, and only a list in parentheses knows FAILOVER
  if (!failover) return `${command} NOEXPORT_SNAPSHOT${twoPhase ? ' TWO_PHASE' : ''}`;
  return `${command} (SNAPSHOT 'nothing'${twoPhase ? ', TWO_PHASE' : ''}, FAILOVER)`;
}

const pluginName = (plugin: string): string =>
  plugin === 'pgoutput' ? plugin : quoteIdentifier(plugin);
