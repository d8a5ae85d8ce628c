// Who is measured: each takes the messages of a recording and throws away what it makes of them.

import { PgoutputPlugin } from 'pg-logical-replication';
import { ByteWriter } from '../../src/byte-writer.ts';
import { ChangeStream } from '../../src/changes/change-stream.ts';
import { PartitionRoots } from '../../src/changes/partition-roots.ts';
import { Selection } from '../../src/changes/selection.ts';
import type { Formatter, FormatterContext } from '../../src/format/formatter.ts';
import { NdjsonFormatter } from '../../src/format/ndjson/formatter.ts';
import { PrettyFormatter } from '../../src/format/pretty/formatter.ts';
import { formatLsnWords } from '../../src/lsn.ts';
import { PgoutputDecoder, type TupleValues } from '../../src/pgoutput/decoder.ts';
import type { PgoutputHandler } from '../../src/pgoutput/handler.ts';
import { BinaryTuples } from '../../src/pgtypes/binary/tuple-text.ts';
import { TypeRegistry } from '../../src/pgtypes/type-registry.ts';
import { createTheme } from '../../src/terminal/theme.ts';
import { NoOutput } from '../references/no-output.ts';
import { ObjectLines } from '../references/object-lines.ts';
import { PluginLines } from '../references/plugin-lines.ts';
import type { ReadMessage } from './frames-file.ts';
import type { TupleFormat } from './recording.ts';

/** What is made of messages. */
export interface Reader {
  read(messages: readonly ReadMessage[]): void;
}

export interface Contestant {
  readonly name: string;
  readonly tuples: TupleFormat;
  /** Reads one connection's stream; lines go to `onLine` where one is given. */
  readonly newReader: () => Reader;
}

export const CONTESTANTS: readonly Contestant[] = [
  { name: 'decode', tuples: 'text', newReader: () => decodeOnly(null) },
  { name: 'ndjson', tuples: 'text', newReader: () => ndjsonReader('text', () => {}) },
  { name: 'pretty', tuples: 'text', newReader: () => prettyReader('text', () => {}) },
  {
    name: 'decode binary',
    tuples: 'binary',
    newReader: () => decodeOnly(binaryTuples(registry(), () => false)),
  },
  { name: 'ndjson binary', tuples: 'binary', newReader: () => ndjsonReader('binary', () => {}) },
  { name: 'pretty binary', tuples: 'binary', newReader: () => prettyReader('binary', () => {}) },
  { name: 'objects', tuples: 'text', newReader: () => objectsReader(() => {}) },
  { name: 'plugin', tuples: 'text', newReader: () => pluginReader(() => {}) },
  { name: 'plugin whole', tuples: 'text', newReader: () => wholeMessageReader(() => {}) },
];

/** Takes lines as they would be written: text or bytes. */
export type TakeLine = (line: string) => void;
/** Blocks are lent: valid until the call returns. */
export type TakeBlock = (block: Buffer) => void;

function decodeOnly(values: TupleValues | null): Reader {
  return decoding(new NoOutput(), values);
}

export function ndjsonReader(
  tuples: TupleFormat,
  take: TakeBlock,
  types = new TypeRegistry(),
): Reader {
  return formatting(tuples, take, types, false, (context) => new NdjsonFormatter(context));
}

/** As in a file: without colours, 80 columns wide. */
export function prettyReader(tuples: TupleFormat, take: TakeBlock): Reader {
  const types = new TypeRegistry({ values: 'text' });
  return formatting(tuples, take, types, true, (context) => {
    const theme = createTheme(0);
    const look = { theme, columns: () => 80, now: () => 0, timeZone: 'UTC' };
    return new PrettyFormatter({ ...context, ...look });
  });
}

/** pgtail's decoder, objects and JSON.stringify. */
export function objectsReader(take: TakeLine): Reader {
  return decoding(new ObjectLines(take), null);
}

/** PgoutputPlugin and JSON.stringify. */
export function pluginReader(take: TakeLine): Reader {
  const plugin = new PgoutputPlugin({ protoVersion: 1, publicationNames: ['bench'] });
  const lines = new PluginLines();
  return {
    read: (messages) => {
      for (const { bytes, walStart } of messages) {
        const message = plugin.parse(bytes);
        const line = lines.line(formatLsnWords(walStart.high, walStart.low), message);
        if (line !== undefined) take(line);
      }
    },
  };
}

/** The same without a choice of what to print: the plugin's whole object, its relation included. */
function wholeMessageReader(take: TakeLine): Reader {
  const plugin = new PgoutputPlugin({ protoVersion: 1, publicationNames: ['bench'] });
  // which JSON.stringify refuses
  const text = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
  return {
    read: (messages) => {
      for (const { bytes } of messages) {
        const message = plugin.parse(bytes);
        const isRow = message.tag !== 'begin' && message.tag !== 'commit';
        take(isRow ? JSON.stringify(message) : JSON.stringify(message, text));
      }
    },
  };
}

function formatting(
  tuples: TupleFormat,
  take: TakeBlock,
  types: TypeRegistry,
  keepsFrame: boolean,
  newFormatter: (context: FormatterContext) => Formatter,
): Reader {
  const writer = new ByteWriter();
  const roots = new PartitionRoots();
  const formatter = newFormatter({ writer, types, leaves: roots });
  const isRead = (typeId: number) => formatter.readsBinary(typeId);
  const changes = new ChangeStream({
    formatter,
    selection: new Selection({ tables: [], ops: undefined, keepsFrame }),
    types,
    roots,
    units: { unitOpened: () => {}, unitEnded: () => {}, unitSetAside: () => {} },
    limit: undefined,
    stopAt: undefined,
  });
  const decoder = decoding(changes, tuples === 'binary' ? binaryTuples(types, isRead) : null);
  return {
    read: (messages) => {
      decoder.read(messages);
      const block = writer.take(); // as after each read from the socket
      take(block);
      writer.giveBack(block); // as once it was written
    },
  };
}

function decoding(handler: PgoutputHandler, values: TupleValues | null): Reader {
  const decoder = new PgoutputDecoder(handler, values);
  return {
    read: (messages) => {
      for (const { chunk, start, end, walStart } of messages) {
        decoder.decode(chunk, start, end, walStart);
      }
    },
  };
}

const registry = (): TypeRegistry => new TypeRegistry();

/** The recordings are a PostgreSQL 18's. */
const binaryTuples = (types: TypeRegistry, isRead: (typeId: number) => boolean): TupleValues =>
  new BinaryTuples({ serverMajor: 18, shapeOf: (typeId) => types.shapeOf(typeId) }, isRead);
