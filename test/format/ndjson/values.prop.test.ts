// Any value of any type: the line stays valid, gives the value back, and no room is ever too small.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../src/byte-writer.ts';
import { ChangeStream } from '../../../src/changes/change-stream.ts';
import { PartitionRoots } from '../../../src/changes/partition-roots.ts';
import { Selection } from '../../../src/changes/selection.ts';
import { NdjsonFormatter } from '../../../src/format/ndjson/formatter.ts';
import { PgoutputDecoder } from '../../../src/pgoutput/decoder.ts';
import { TypeRegistry } from '../../../src/pgtypes/type-registry.ts';
import { anyText } from '../../support/arbitraries.ts';
import {
  UNCHANGED,
  type WireRelation,
  type WireValue,
  writeInsert,
  writeRelation,
  writeUpdate,
} from '../../support/pgoutput-writer.ts';
import { BEGIN, COMMIT, changes, part, table } from './printed.ts';

const TEXT = 25;
const notes = table('notes', 'full', { before: TEXT, note: TEXT, after: TEXT });
const hostileText = fc.oneof(
  anyText,
  fc.string({ unit: fc.constantFrom('\x01', '\x1f', '"', '\\', '\n', 'é', '\u2028', '\u{1F375}') }),
);
/** What PostgreSQL can hold. */
const serverText = hostileText.map((text) => text.replaceAll('\0', ''));

/** escape_json, written down once more, the slow way. */
const escaped = (text: string): string =>
  `"${[...text]
    .map((char) => {
      const short = { '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t' }[char];
      if (short !== undefined) return short;
      if (char === '"' || char === '\\') return `\\${char}`;
      return char < ' ' ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char;
    })
    .join('')}"`;

describe('a text value', () => {
  it('gives valid JSON that gives it back, escaped as the server does', () => {
    fc.assert(
      fc.property(serverText, (note) => {
        const [line] = changes(notes, writeInsert(16_392, ['x', note, 'y']));
        expect(part(line, 'new')).toEqual({ before: 'x', note, after: 'y' });
        expect(line).toContain(`"note":${escaped(note)},"after"`);
      }),
    );
  });

  it('never spoils what stands behind it, even if it is not UTF-8', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const message = writeInsert(16_392, ['x', bytes, 'y']);
        // the writer sends bytes as binary format: here they are text
        message[message.indexOf('b'.charCodeAt(0), 1)] = 't'.charCodeAt(0);
        const [line] = changes(notes, message);
        const read = JSON.parse(line!) as { new: Record<string, string> };
        expect(read.new).toMatchObject({ before: 'x', after: 'y' });
        expect(read.new.note).toBe(Buffer.from(bytes).toString('utf8'));
      }),
    );
  });
});

/** Types of every kind of encoder, and an array of each. */
const TYPE_IDS = [16, 20, 22, 25, 30, 114, 603, 700, 1114, 1184, 1700, 3802, 1000, 1006, 1009];
const ARRAY_IDS = [1013, 1016, 199, 1020, 1021, 1115, 1185, 1231, 3807];
/** Whatever the server could never send for the type too: it must only stay within its room. */
const anyBytesAsText = fc.oneof(
  serverText,
  fc.string({
    unit: fc.constantFrom('{', '}', ',', ';', '"', '\\', '\x01', 'N', ' ', '+', '=', '['),
  }),
  fc.string({ unit: fc.constantFrom('t', ',', ' ', '+', '0'), maxLength: 12 }),
  fc.array(fc.constantFrom('\x01', 'a', '', 'NULL'), { maxLength: 30 }).map((e) => `{${e}}`),
);
const aValue: fc.Arbitrary<WireValue> = fc.oneof(
  { weight: 5, arbitrary: anyBytesAsText },
  { weight: 1, arbitrary: fc.constantFrom(null, UNCHANGED) },
);

const aRow = fc
  .array(
    fc.record({
      typeId: fc.constantFrom(...TYPE_IDS, ...ARRAY_IDS),
      name: fc.oneof(fc.constantFrom('', '\x01\x02'), serverText),
      newValue: aValue,
      oldValue: anyBytesAsText,
    }),
    { maxLength: 12 },
  )
  .map((columns) => {
    const relation: WireRelation = {
      ...notes,
      columns: columns.map(({ name, typeId }) => ({ name, typeId, typmod: -1, key: true })),
    };
    const values = columns.map(({ oldValue }) => oldValue);
    return {
      relation,
      messages: [
        writeInsert(
          16_392,
          columns.map(({ newValue }) => newValue),
        ),
        writeUpdate(
          16_392,
          columns.map(({ newValue }) => newValue),
          { part: 'O', values },
        ),
        writeUpdate(
          16_392,
          columns.map(({ newValue }) => newValue),
          { part: 'K', values },
        ),
      ],
    };
  });

/** A writer whose block is as small as it can be, so that any byte too few reserved is lost. */
class TightWriter extends ByteWriter {
  protected override sizeFor(needed: number): number {
    return needed;
  }
}

function outputThrough(writer: ByteWriter, relation: WireRelation, messages: readonly Buffer[]) {
  const types = new TypeRegistry();
  const roots = new PartitionRoots();
  const stream = new ChangeStream({
    formatter: new NdjsonFormatter({ writer, types, leaves: roots }),
    selection: new Selection({ tables: [], ops: undefined, keepsFrame: false }),
    types,
    roots,
    units: { unitOpened: () => {}, unitEnded: () => {}, unitSetAside: () => {} },
    limit: undefined,
    stopAt: undefined,
  });
  const decoder = new PgoutputDecoder(stream);
  for (const message of [BEGIN, writeRelation(relation), ...messages, COMMIT]) {
    decoder.decode(message, 0, message.length, { high: 0xffff_ffff, low: 0xffff_ffff });
  }
  return writer.take();
}

describe('the room reserved for a row', () => {
  it('is enough for any values of any types', () => {
    fc.assert(
      fc.property(aRow, ({ relation, messages }) => {
        const tight = outputThrough(new TightWriter(0), relation, messages);
        const roomy = outputThrough(new ByteWriter(1 << 20), relation, messages);
        expect(tight.toString('latin1')).toBe(roomy.toString('latin1'));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([...TYPE_IDS, ...ARRAY_IDS])('is enough for the worst of type %i', (typeId) => {
    const relation = { ...notes, columns: [{ ...notes.columns[0]!, typeId, name: '\x01' }] };
    const worst = ['\x01', 't', ' ', '""', 't,', '\x01,', '"\x01",', '"\\\x01",', ',', ' +1', '{}'];
    const texts = worst.flatMap((unit) =>
      ['', '{', ' '].flatMap((open) =>
        ['', '}', ' '].map((close) => `${open}${unit.repeat(400)}${close}`),
      ),
    );
    const messages = texts.map((text) => writeInsert(16_392, [text]));
    const tight = outputThrough(new TightWriter(0), relation, messages);
    const roomy = outputThrough(new ByteWriter(1 << 20), relation, messages);
    expect(tight.equals(roomy)).toBe(true);
  });
});
