// What is borrowed from the decoder and what may be kept; rows of no, many and odd columns.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PgoutputDecoder } from '../../src/pgoutput/decoder.ts';
import type { Relation } from '../../src/pgoutput/relation.ts';
import { COLUMN_NULL, COLUMN_TEXT, TupleData } from '../../src/pgoutput/tuple.ts';
import { anyText } from '../support/arbitraries.ts';
import {
  UNCHANGED,
  type WireRelation,
  type WireValue,
  writeDelete,
  writeInsert,
  writeRelation,
  writeUpdate,
} from '../support/pgoutput-writer.ts';
import { type RecordedColumn, RecordingHandler } from '../support/recording-handler.ts';

function wideTable(columnCount: number): WireRelation {
  const columns = Array.from({ length: columnCount }, (_, i) => ({
    name: `reading_${i + 1}`,
    typeId: 25,
    typmod: -1,
    key: i === 0,
  }));
  return { relationId: 16_400, schema: 'lab', name: 'readings', identity: 'd', columns };
}

function decodeAll(messages: readonly Buffer[], handler = new RecordingHandler()) {
  const decoder = new PgoutputDecoder(handler);
  for (const bytes of messages) decoder.decode(bytes, 0, bytes.length, { high: 0, low: 1 });
  return handler;
}

describe('a row', () => {
  it('may have no columns at all', () => {
    const { calls } = decodeAll([writeRelation(wideTable(0)), writeInsert(16_400, [])]);
    expect(calls).toMatchObject([
      { call: 'relation', relation: { columns: [] } },
      { call: 'insert', newRow: { columns: [] } },
    ]);
  });

  it('may have 1600 columns, the most a table can have, after a narrow one', () => {
    const values: WireValue[] = Array.from({ length: 1600 }, (_, i) => `value ${i}`);
    values[1599] = null;
    const { calls } = decodeAll([
      writeRelation(wideTable(1)),
      writeInsert(16_400, ['narrow']),
      writeRelation(wideTable(1600)),
      writeUpdate(16_400, values, { part: 'O', values: [...values].reverse() }),
      writeDelete(16_400, { part: 'K', values }),
    ]);
    const columns: RecordedColumn[] = values.map((value) =>
      value === null ? { kind: 'n' } : { kind: 't', text: String(value) },
    );
    expect(calls.at(-2)).toMatchObject({
      newRow: { columns },
      oldRow: { columns: [...columns].reverse() },
    });
    expect(calls.at(-1)).toMatchObject({ oldRow: { role: 'key', columns } });
  });

  it('holds any Unicode text, also the empty one', () => {
    const property = fc.property(fc.array(anyText, { minLength: 3, maxLength: 3 }), (texts) => {
      const { calls } = decodeAll([writeRelation(wideTable(3)), writeInsert(16_400, texts)]);
      const columns = texts.map((text) => ({ kind: 't', text }));
      expect(calls.at(-1)).toMatchObject({ newRow: { columns } });
    });
    fc.assert(property, { examples: [[['', '\ufeffbom', '👩‍👩‍👧‍👦 \u202e \u0000 \u{10ffff}']]] });
  });
});

describe('what the decoder lends', () => {
  it('tells at least how many bytes its values have together, anew for every row', () => {
    const lengths: number[] = [];
    const handler = new RecordingHandler();
    handler.insert = (_at, _relation, newRow) => lengths.push(newRow.textLength);
    decodeAll(
      [
        writeRelation(wideTable(2)),
        writeInsert(16_400, ['x'.repeat(100), 'y'.repeat(50)]),
        writeInsert(16_400, [null, UNCHANGED]),
      ],
      handler,
    );
    // each column has up to 5 bytes besides its value: kind and length
    expect(lengths[0]).toBeGreaterThanOrEqual(150);
    expect(lengths[0]).toBeLessThanOrEqual(160);
    expect(lengths[1]).toBeLessThanOrEqual(2);
  });

  it('is one tuple of each role, filled again for every row', () => {
    const seen: TupleData[] = [];
    const handler = new RecordingHandler();
    handler.insert = (_at, _relation, newRow) => seen.push(newRow);
    decodeAll(
      [writeRelation(wideTable(1)), writeInsert(16_400, ['a']), writeInsert(16_400, ['b'])],
      handler,
    );
    expect(seen[0]).toBe(seen[1]);
    expect(seen[0]?.text(0)).toBe('b');
  });

  it('never lends the same tuple for the old and the new row of an update', () => {
    const handler = decodeAll([
      writeRelation(wideTable(2)),
      writeUpdate(16_400, ['5', UNCHANGED], { part: 'K', values: ['4', null] }),
    ]);
    expect(handler.calls.at(-1)).toMatchObject({
      newRow: { role: 'new', columns: [{ kind: 't', text: '5' }, { kind: 'u' }] },
      oldRow: { role: 'key', columns: [{ kind: 't', text: '4' }, { kind: 'n' }] },
    });
  });

  it('copies no value: the tuple shows the bytes of the message', () => {
    const bytes = writeInsert(16_400, ['paid']);
    const handler = new RecordingHandler();
    handler.insert = (_at, _relation, newRow) => {
      expect(newRow.bytes.buffer).toBe(bytes.buffer);
      expect(newRow.starts[0]).toBe(bytes.byteOffset + bytes.indexOf('paid'));
      expect(newRow.ends[0]).toBe(bytes.byteOffset + bytes.length);
    };
    decodeAll([writeRelation(wideTable(1)), bytes], handler);
    expect.assertions(3);
  });
});

describe('a relation', () => {
  it('stays as it was announced while later messages come, also a newer one of its id', () => {
    const kept: Relation[] = [];
    const handler = new RecordingHandler();
    handler.relation = (relation) => kept.push(relation);
    const chunk = writeRelation(wideTable(2));
    const decoder = new PgoutputDecoder(handler);
    decoder.decode(chunk, 0, chunk.length, { high: 0, low: 0 });
    const before = structuredClone(kept[0]);

    chunk.fill(0xca); // the socket's buffer is overwritten by what comes next
    for (const next of [
      writeRelation({ ...wideTable(3), name: 'renamed', identity: 'f' }),
      writeInsert(16_400, ['x', 'y', 'z']),
    ]) {
      decoder.decode(next, 0, next.length, { high: 0, low: 0 });
    }
    expect(kept[0]).toEqual(before);
    expect(kept[1]).toMatchObject({ name: 'renamed', identity: 'full' });
  });

  it('is the same object for all its rows, and frozen in all its parts', () => {
    const { calls } = decodeAll([
      writeRelation(wideTable(2)),
      writeInsert(16_400, ['a', 'b']),
      writeDelete(16_400, { part: 'K', values: ['a', null] }),
    ]);
    const relations = calls.map((call) => ('relation' in call ? call.relation : undefined));
    expect(relations[1]).toBe(relations[0]);
    expect(relations[2]).toBe(relations[0]);
    expect(Object.isFrozen(relations[0])).toBe(true);
    expect(Object.isFrozen(relations[0]?.columns)).toBe(true);
    expect(relations[0]?.columns.every(Object.isFrozen)).toBe(true);
  });
});

describe('TupleData', () => {
  it('has a value where text or bytes were sent, the empty ones too', () => {
    const tuple = new TupleData('new');
    tuple.kinds.set([COLUMN_NULL, 0x75, COLUMN_TEXT, 0x62]);
    expect([0, 1, 2, 3].map((column) => tuple.hasValue(column))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('makes room for more columns and never shrinks', () => {
    const tuple = new TupleData('old');
    tuple.reserve(1600);
    const { kinds } = tuple;
    tuple.reserve(3);
    expect(tuple.kinds).toBe(kinds);
    expect([tuple.kinds.length, tuple.starts.length, tuple.ends.length]).toEqual([
      1600, 1600, 1600,
    ]);
  });
});
