// The reference that anybody writes in an hour: PgoutputPlugin's objects and JSON.stringify. The
// lines have the keys of pgtail's, as far as the plugin knows them; its values are another matter.

import type { PgoutputPlugin } from 'pg-logical-replication';

export type PluginMessage = ReturnType<PgoutputPlugin['parse']>;
type Begin = Extract<PluginMessage, { tag: 'begin' }>;
type Row = Extract<PluginMessage, { tag: 'insert' | 'update' | 'delete' }>;
type Relation = Row['relation'];
type Values = Readonly<Record<string, unknown>>;

interface Rows {
  readonly key?: Values;
  readonly old?: Values;
  readonly new?: Values;
}

export class PluginLines {
  #xid = 0;
  #seq = 0;
  #commitLsn: string | null = null;
  #commitTime = '';

  /** Without its line feed; undefined for a message that is no row. */
  line(lsn: string, message: PluginMessage): string | undefined {
    switch (message.tag) {
      case 'begin':
        this.#begin(message);
        return undefined;
      case 'insert':
        return this.#text(lsn, message, { new: message.new });
      case 'update': {
        const { relation, old, new: row } = message;
        if (old !== null) return this.#text(lsn, message, { old, new: row });
        return this.#text(lsn, message, { key: message.key ?? keyOf(relation, row), new: row });
      }
      case 'delete':
        if (message.old !== null) return this.#text(lsn, message, { old: message.old });
        return this.#text(lsn, message, { key: message.key ?? {} });
      default:
        return undefined;
    }
  }

  #begin({ xid, commitLsn, commitTime }: Begin): void {
    this.#xid = xid;
    this.#seq = 0;
    this.#commitLsn = commitLsn;
    // microseconds, of which a Date holds the thousands
    this.#commitTime = new Date(Number(commitTime) / 1000).toISOString();
  }

  /** JSON.stringify leaves out what is undefined: faster than an object without it, by a spread. */
  #text(lsn: string, { tag: op, relation }: Row, { key, old, new: row }: Rows): string {
    return JSON.stringify({
      op,
      schema: relation.schema,
      table: relation.name,
      xid: this.#xid,
      seq: ++this.#seq,
      lsn,
      commit_lsn: this.#commitLsn,
      commit_time: this.#commitTime,
      identity: op === 'insert' ? undefined : relation.replicaIdentity,
      key,
      old,
      new: row,
    });
  }
}

function keyOf({ keyColumns }: Relation, row: Values): Values {
  const key: Record<string, unknown> = {};
  for (const name of keyColumns) key[name] = row[name];
  return key;
}
