// PgoutputPlugin of pg-logical-replication reads protocol 1 on its own: both must see the same.
//
// It loses some of what is sent, so that is compared as far as it goes: OIDs and xids come signed,
// times unsigned, 0/0 as null, an empty namespace stays empty, a byte order mark that begins a text
// is dropped, and rows are objects in which "unchanged" is undefined (or the old value under FULL).

import fc from 'fast-check';
import pkg from 'pg-logical-replication';
import { describe, expect, it } from 'vitest';
import { PgoutputDecoder } from '../../src/pgoutput/decoder.ts';
import type { Relation } from '../../src/pgoutput/relation.ts';
import { messageScript } from '../support/arbitraries.ts';
import {
  type RecordedCall,
  type RecordedColumn,
  type RecordedTuple,
  RecordingHandler,
} from '../support/recording-handler.ts';

type PluginMessage = ReturnType<InstanceType<typeof pkg.PgoutputPlugin>['parse']>;
type PluginRelation = Extract<PluginMessage, { tag: 'relation' }>;
/** By column name. No object: a column may be called toString or __proto__. */
type Row = ReadonlyMap<string, unknown>;

const UNIX_EPOCH_DISTANCE_US = 946_684_800_000_000n;

const withoutMark = (text: string): string => text.replace(/^\ufeff/, '');
const namespace = (schema: string): string => (schema === '' ? 'pg_catalog' : schema);

function lsn(text: string | null): bigint {
  if (text === null) return 0n;
  const [high, low] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** Its Unix microseconds, which it read as an unsigned number. The type says BigInt, the object. */
function time(micros: unknown): bigint {
  return BigInt.asIntN(64, (micros as bigint) - UNIX_EPOCH_DISTANCE_US);
}

/** Both sides as the same plain data: what the plugin says of a message … */
function pluginView(message: PluginMessage): unknown {
  switch (message.tag) {
    case 'begin':
      return ['begin', lsn(message.commitLsn), time(message.commitTime), message.xid >>> 0];
    case 'commit':
      return [
        'commit',
        lsn(message.commitLsn),
        lsn(message.commitEndLsn),
        time(message.commitTime),
      ];
    case 'origin':
      return ['origin', lsn(message.originLsn), message.originName];
    case 'type':
      return ['type', message.typeOid >>> 0, namespace(message.typeSchema), message.typeName];
    case 'relation':
      return ['relation', pluginRelation(message)];
    case 'insert':
      return ['insert', pluginRelation(message.relation), pluginRow(message.new)];
    case 'update':
      return ['update', ...pluginOldRow(message), pluginRow(message.new)];
    case 'delete':
      return ['delete', ...pluginOldRow(message)];
    case 'truncate':
      return [
        'truncate',
        message.relations.map(pluginRelation),
        message.cascade,
        message.restartIdentity,
      ];
    case 'message':
      return [
        'message',
        message.transactional,
        lsn(message.messageLsn),
        message.prefix,
        Buffer.from(message.content),
      ];
    default:
      throw message satisfies never;
  }
}

function pluginRelation(relation: PluginRelation): unknown {
  return {
    relationId: relation.relationOid >>> 0,
    schema: namespace(relation.schema),
    name: relation.name,
    identity: relation.replicaIdentity,
    columns: relation.columns.map((column) => ({
      name: column.name,
      typeId: column.typeOid >>> 0,
      typmod: column.typeMod,
      key: (column.flags & 1) !== 0,
    })),
  };
}

function pluginOldRow(message: {
  readonly relation: PluginRelation;
  readonly key: Record<string, unknown> | null;
  readonly old: Record<string, unknown> | null;
}): unknown[] {
  return [pluginRelation(message.relation), pluginRow(message.key), pluginRow(message.old)];
}

function pluginRow(row: Record<string, unknown> | null): Row | null {
  return row === null ? null : new Map(Object.entries(row));
}

/** … and what we say of it, with what the plugin loses taken away. */
function ourView(call: RecordedCall): unknown {
  switch (call.call) {
    case 'begin':
      return ['begin', call.begin.commitLsn, call.begin.commitTime, call.begin.xid];
    case 'commit':
      return ['commit', call.commit.commitLsn, call.commit.endLsn, call.commit.commitTime];
    case 'origin':
      return ['origin', call.origin.originLsn, withoutMark(call.origin.name)];
    case 'type':
      return [
        'type',
        call.type.typeId,
        namespace(withoutMark(call.type.schema)),
        withoutMark(call.type.name),
      ];
    case 'relation':
      return ['relation', ourRelation(call.relation)];
    case 'insert':
      return ['insert', ourRelation(call.relation), row(call.relation, call.newRow)];
    case 'update': {
      const old = call.oldRow?.role === 'old' ? row(call.relation, call.oldRow) : undefined;
      return ['update', ...ourOldRow(call), row(call.relation, call.newRow, old)];
    }
    case 'delete':
      return ['delete', ...ourOldRow(call)];
    case 'truncate': {
      const { cascade, restartIdentity } = call.options;
      return ['truncate', call.relations.map(ourRelation), cascade, restartIdentity];
    }
    case 'message': {
      const { transactional, lsn, prefix, content } = call.message;
      return ['message', transactional, lsn, withoutMark(prefix), content];
    }
    default:
      throw new Error(`${call.call} is no message of protocol 1`);
  }
}

function ourRelation(relation: Relation): unknown {
  return {
    ...relation,
    schema: namespace(withoutMark(relation.schema)),
    name: withoutMark(relation.name),
    columns: relation.columns.map((column) => ({ ...column, name: withoutMark(column.name) })),
  };
}

function ourOldRow(call: {
  readonly relation: Relation;
  readonly oldRow: RecordedTuple | null;
}): unknown[] {
  const { relation, oldRow } = call;
  const key = oldRow?.role === 'key' ? keyRow(relation, oldRow) : null;
  const old = oldRow?.role === 'old' ? row(relation, oldRow) : null;
  return [ourRelation(relation), key, old];
}

function row(relation: Relation, tuple: RecordedTuple, whole?: Row): Row {
  const names = relation.columns.map(({ name }) => withoutMark(name));
  return new Map(names.map((name, i) => [name, pluginValue(tuple.columns[i]!, whole?.get(name))]));
}

/** Only the key columns; null there means "not sent". */
function keyRow(relation: Relation, tuple: RecordedTuple): Row {
  const whole = row(relation, tuple);
  const keys = relation.columns.filter(({ key }) => key).map(({ name }) => withoutMark(name));
  return new Map(keys.map((name) => [name, whole.get(name) ?? undefined]));
}

function pluginValue(column: RecordedColumn, unchanged: unknown): unknown {
  switch (column.kind) {
    case 'n':
      return null;
    case 'u':
      return unchanged;
    case 't':
      return withoutMark(column.text);
    case 'b':
      return column.bytes;
    default:
      throw column satisfies never;
  }
}

describe('the decoder and PgoutputPlugin', () => {
  it('read the same from any messages of protocol 1 in text format', () => {
    fc.assert(
      fc.property(messageScript({ protocol: 1 }), (script) => {
        const handler = new RecordingHandler();
        const decoder = new PgoutputDecoder(handler);
        const plugin = new pkg.PgoutputPlugin({ protoVersion: 1, publicationNames: ['shop'] });
        for (const { bytes } of script) {
          decoder.decode(bytes, 0, bytes.length, { high: 0, low: 0 });
          expect(ourView(handler.calls.at(-1)!)).toEqual(pluginView(plugin.parse(bytes)));
        }
      }),
      { numRuns: 300 },
    );
  });
});
