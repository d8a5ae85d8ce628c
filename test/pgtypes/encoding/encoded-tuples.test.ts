// Text in another encoding, through a decoder that has it put into UTF-8. What the messages hold is
// UTF-8 here too, but is read as something else.

import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../src/byte-writer.ts';
import { EXIT, PgtailError } from '../../../src/errors.ts';
import { PgoutputDecoder } from '../../../src/pgoutput/decoder.ts';
import { TupleData } from '../../../src/pgoutput/tuple.ts';
import { EncodedTuples } from '../../../src/pgtypes/encoding/encoded-tuples.ts';
import { serverEncoding } from '../../../src/pgtypes/encoding/server-encodings.ts';
import { nameReader } from '../../../src/pgtypes/encoding/text-encoding.ts';
import {
  UNCHANGED,
  type WireRelation,
  writeInsert,
  writeRelation,
  writeUpdate,
} from '../../support/pgoutput-writer.ts';
import { RecordingHandler } from '../../support/recording-handler.ts';

const column = (name: string, key = false) => ({ name, typeId: 25, typmod: -1, key });

const table = (name: string): WireRelation => ({
  relationId: 16_400,
  schema: 'café',
  name,
  identity: 'f',
  columns: [column('id', true), column('größe'), column('note')],
});

const AT = { high: 1, low: 0x15_70e58 };

/** What the messages are, read in this encoding. */
function decodeAs(name: string, ...messages: readonly Buffer[]): RecordingHandler {
  const encoding = serverEncoding(name)!;
  const handler = new RecordingHandler();
  const readText = nameReader(encoding, new ByteWriter());
  const decoder = new PgoutputDecoder(handler, new EncodedTuples(encoding), readText);
  for (const bytes of messages) decoder.decode(bytes, 0, bytes.length, AT);
  return handler;
}

const inLatin1 = (utf8: string): string => Buffer.from(utf8).toString('latin1');

const text = (value: string) => ({ kind: 't', text: inLatin1(value) });

describe('text in another encoding', () => {
  it('is put into UTF-8 in both rows of an update', () => {
    const { calls } = decodeAs(
      'LATIN1',
      writeRelation(table('über')),
      writeUpdate(16_400, ['1', 'größer', UNCHANGED], { part: 'O', values: ['1', 'groß', null] }),
    );
    expect(calls[0]).toMatchObject({
      relation: {
        schema: inLatin1('café'),
        name: inLatin1('über'),
        columns: [{ name: 'id' }, { name: inLatin1('größe') }, { name: 'note' }],
      },
    });
    expect(calls[1]).toMatchObject({
      newRow: { columns: [text('1'), text('größer'), { kind: 'u' }] },
      oldRow: { columns: [text('1'), text('groß'), { kind: 'n' }] },
    });
  });

  it('may be three times as long in UTF-8', () => {
    const long = 'é'.repeat(100_000);
    const { calls } = decodeAs(
      'WIN1252',
      writeRelation(table('t')),
      writeInsert(16_400, ['€', long, null]),
    );
    expect(calls[1]).toMatchObject({
      newRow: { columns: [{ kind: 't', text: 'â‚¬' }, text(long), { kind: 'n' }] },
    });
  });

  it('is left where it is if all of a row is ASCII', () => {
    const tuple = new TupleData('new');
    const bytes = Buffer.from('7paid');
    Object.assign(tuple, { bytes, columnCount: 2 });
    tuple.kinds.set([0x74, 0x74]);
    tuple.starts.set([0, 1]);
    tuple.ends.set([1, 5]);
    const relation = { ...table('t'), identity: 'full' as const };
    new EncodedTuples(serverEncoding('EUC_JP')!).toText(relation, tuple);
    expect(tuple.bytes).toBe(bytes);
    expect([tuple.text(0), tuple.text(1)]).toEqual(['7', 'paid']);
  });
});

describe('bytes that are not in the encoding', () => {
  const failureOf = (...messages: readonly Buffer[]): PgtailError => {
    try {
      decodeAs('EUC_JP', ...messages);
    } catch (error) {
      if (error instanceof PgtailError) return error;
    }
    throw new Error('expected an error');
  };

  it('in a value are exit code 1, with the column and the LSN, and without the value', () => {
    const relation = {
      ...table('orders'),
      schema: 'shop',
      columns: [column('id'), column('note')],
    };
    const failure = failureOf(
      writeRelation(relation),
      writeInsert(16_400, ['1', 'confidential \u0080']),
    );
    expect(failure.exitCode).toBe(EXIT.failure);
    expect(failure.message).toBe(
      'insert at 1/1570E58: column "note" of "shop.orders" holds bytes that are not valid in EUC_JP',
    );
    expect(failure.hint).toMatch(/--encoding .*LATIN1/);
  });

  it('in a name are exit code 1', () => {
    const failure = failureOf(writeRelation(table('\u0080')));
    expect(failure).toMatchObject({
      exitCode: EXIT.failure,
      message: expect.stringMatching(/: relation name holds bytes that are not valid in EUC_JP$/),
    });
  });
});
