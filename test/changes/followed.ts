// A change stream fed with messages as a server writes them, until it is finished.

import { ByteWriter } from '../../src/byte-writer.ts';
import { ChangeStream } from '../../src/changes/change-stream.ts';
import { PartitionRoots } from '../../src/changes/partition-roots.ts';
import { type LineOp, Selection } from '../../src/changes/selection.ts';
import { parseTablePattern } from '../../src/changes/table-pattern.ts';
import { NdjsonFormatter } from '../../src/format/ndjson/formatter.ts';
import type { NdjsonLine } from '../../src/format/ndjson/schema.ts';
import type { Lsn } from '../../src/lsn.ts';
import { PgoutputDecoder } from '../../src/pgoutput/decoder.ts';
import { TypeRegistry } from '../../src/pgtypes/type-registry.ts';
import { asking } from '../fixtures/replay.ts';

export interface FollowOptions {
  /** Table patterns. */
  readonly tables?: readonly string[];
  readonly ops?: readonly LineOp[];
  readonly keepsFrame?: boolean;
  readonly limit?: number;
  readonly stopAt?: Lsn;
}

export interface Followed {
  readonly lines: readonly NdjsonLine[];
  /** The kinds of the lines. */
  readonly ops: readonly string[];
  /** `open`, `aside`, or the position a unit ended at, in order. */
  readonly units: readonly ('open' | 'aside' | Lsn)[];
  /** The positions at which units ended. */
  readonly ends: readonly Lsn[];
  readonly finished: boolean;
  /** How many messages were taken before it was finished. */
  readonly taken: number;
}

export function selectionOf({ tables = [], ops, keepsFrame = false }: FollowOptions): Selection {
  const patterns = tables.map((text) => {
    const pattern = parseTablePattern(text);
    if (pattern === undefined) throw new Error(`no pattern: ${text}`);
    return pattern;
  });
  return new Selection({ tables: patterns, ops, keepsFrame });
}

export function follow(messages: readonly Buffer[], options: FollowOptions = {}): Followed {
  const writer = new ByteWriter();
  const types = new TypeRegistry();
  const roots = new PartitionRoots();
  const units: ('open' | 'aside' | Lsn)[] = [];
  const stream = new ChangeStream({
    formatter: new NdjsonFormatter({ writer, types, leaves: roots }),
    selection: selectionOf(options),
    types,
    roots,
    units: {
      unitOpened: () => units.push('open'),
      unitSetAside: () => units.push('aside'),
      unitEnded: (endLsn) => units.push(endLsn),
    },
    limit: options.limit,
    stopAt: options.stopAt,
  });
  const decoder = new PgoutputDecoder(stream);
  let taken = 0;
  for (const message of messages) {
    if (stream.finished) break;
    const place = { high: 0, low: taken++ };
    asking(types, { facts: [], names: [] }, () =>
      decoder.decode(message, 0, message.length, place),
    );
  }
  const text = writer.take().toString('utf8').split('\n').slice(0, -1);
  const lines = text.map((line) => JSON.parse(line) as NdjsonLine);
  const ends = units.filter((unit) => typeof unit === 'bigint');
  const ops = lines.map(({ op }) => op);
  return { lines, ops, units, ends, finished: stream.finished, taken };
}
