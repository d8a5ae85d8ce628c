// Bytes written by hand and the text that is theirs, and which types have a converter.

import { describe, expect, it } from 'vitest';
import { binaryToText, hasBinaryDecoder } from '../../../src/pgtypes/binary/binary-to-text.ts';
import { NoBinaryDecoder } from '../../../src/pgtypes/binary/conversion.ts';
import type { BinaryTypeLookup } from '../../../src/pgtypes/binary/type-lookup.ts';
import type { TypeShape } from '../../../src/pgtypes/type-facts.ts';
import { TypeRegistry } from '../../../src/pgtypes/type-registry.ts';
import { encoded } from '../encoded.ts';
import {
  attributesOf,
  bytesOf,
  converterOf,
  decoded,
  directJson,
  textBytes,
  typeIdOf,
} from './decoded.ts';
import { SAMPLES } from './samples.ts';

const MONEY = 790;
const REGCLASS = 2205;
const MOOD = 16_400;
const PLACE = 16_402;
const PLACES = 16_401;

function lookup(shapes: Readonly<Record<number, TypeShape>>, serverMajor = 18): BinaryTypeLookup {
  return { serverMajor, shapeOf: (typeId) => shapes[typeId] };
}

const hasDirectJson = (type: string): boolean =>
  new TypeRegistry().binaryEncoder(typeIdOf(type)) !== undefined;

function decodedBy(types: BinaryTypeLookup, typeId: number, hex: string): string {
  return textBytes(converterOf(typeId, types), bytesOf(hex)).toString('utf8');
}

describe('a binary value', () => {
  it.each(SAMPLES)('of type $type is $text', ({ type, hex, text }) => {
    expect(decoded(type, hex)).toBe(text);
  });

  it.each(SAMPLES)('of type $type is the same JSON straight and by way of $text', (sample) => {
    const typeId = typeIdOf(sample.type);
    const straight = directJson(typeId, bytesOf(sample.hex));
    expect(straight ?? encoded(typeId, sample.text)).toBe(encoded(typeId, sample.text));
  });

  it('becomes JSON straight from its bytes where that is common', () => {
    const types = ['bool', 'int8', 'numeric', 'float8', 'text', 'jsonb', 'uuid', 'timestamptz'];
    for (const type of types) expect(hasDirectJson(type)).toBe(true);
    for (const type of ['bytea', 'money', 'char', 'int4[]'])
      expect(hasDirectJson(type)).toBe(false);
  });

  it('becomes JSON by way of its text where numbers or all values are to be strings', () => {
    const asStrings = new TypeRegistry({ numbers: 'string' });
    expect(asStrings.binaryEncoder(typeIdOf('int8'))).toBeUndefined();
    expect(asStrings.binaryEncoder(typeIdOf('numeric'))).toBeUndefined();
    expect(asStrings.binaryEncoder(typeIdOf('int4'))).toBeDefined();
    expect(new TypeRegistry({ values: 'text' }).binaryEncoder(typeIdOf('int4'))).toBeUndefined();
  });

  it('of a long text or bytea needs no room in advance', () => {
    const note = 'a note '.repeat(20_000);
    expect(decoded('text', Buffer.from(note).toString('hex'))).toBe(note);
    expect(decoded('bytea', 'ab'.repeat(50_000))).toBe(`\\x${'ab'.repeat(50_000)}`);
  });
});

describe('a value that an older server prints otherwise', () => {
  it('is "char" beyond ASCII, before 15', () => {
    const converter = converterOf(typeIdOf('char'), lookup({}, 14));
    expect(textBytes(converter, Buffer.from([0xe9]))).toEqual(Buffer.from([0xe9]));
    expect(decoded('char', 'e9', lookup({}, 15))).toBe('\\351');
  });

  it('is the interval that became infinity, before 17', () => {
    const longest = '7fffffffffffffff 7fffffff 7fffffff';
    const text = '178956970 years 7 mons 2147483647 days 2562047788:00:54.775807';
    expect(decoded('interval', longest, lookup({}, 16))).toBe(text);
    expect(decoded('interval', longest, lookup({}, 17))).toBe('infinity');
    const shortest = '8000000000000000 80000000 80000000';
    const negative = '-178956970 years -8 mons -2147483648 days -2562047788:00:54.775808';
    expect(decoded('interval', shortest, lookup({}, 16))).toBe(negative);
  });
});

describe('a type without a converter', () => {
  it('has a text that its bytes do not tell, or is not known', () => {
    for (const typeId of [MONEY, REGCLASS, typeIdOf('xml'), MOOD, 0]) {
      expect(binaryToText(typeId)).toBeUndefined();
      expect(hasBinaryDecoder(typeId)).toBe(false);
    }
  });

  it('makes every type without one that is made of it', () => {
    const shapes = {
      16500: { kind: 'domain', base: MONEY },
      16501: { kind: 'array', element: 16_500, delimiter: ',' },
      16502: { kind: 'composite', attributes: attributesOf(23, 16_501) },
      16503: { kind: 'range', subtype: MONEY },
      16504: { kind: 'multirange', range: 16_503 },
    } as const;
    const types = lookup(shapes);
    for (const typeId of Object.keys(shapes)) {
      expect(hasBinaryDecoder(Number(typeId), types)).toBe(false);
    }
    expect(hasBinaryDecoder(typeIdOf('money[]'))).toBe(false);
    expect(hasBinaryDecoder(typeIdOf('regtype[]'))).toBe(false);
  });

  it('may claim to hold itself', () => {
    const types = lookup({ [PLACE]: { kind: 'composite', attributes: attributesOf(25, PLACE) } });
    expect(hasBinaryDecoder(PLACE, types)).toBe(false);
  });
});

describe('a type of the database', () => {
  const types = lookup({
    [MOOD]: { kind: 'enum' },
    [PLACES]: { kind: 'array', element: PLACE, delimiter: ',' },
    [PLACE]: { kind: 'composite', attributes: attributesOf(25, MOOD) },
  });

  it('is read by its shape', () => {
    expect(decodedBy(types, MOOD, '736164')).toBe('sad');
    const place = '00000002 00000019 00000003 61 20 62 00004010 ffffffff';
    expect(decodedBy(types, PLACE, place)).toBe('("a b",)');
    const places = `00000001 00000000 00004012 00000001 00000001 00000017 ${place}`;
    expect(decodedBy(types, PLACES, places)).toBe('{"(\\"a b\\",)"}');
  });

  it('is read by the types on the wire, since it may have been altered', () => {
    const altered = '00000001 00000017 00000004 00000007';
    expect(decodedBy(types, PLACE, altered)).toBe('(7)');
  });

  it('says so if one of them has no converter', () => {
    const altered = '00000001 00000316 00000008 0000000000000007';
    const act = () => decodedBy(types, PLACE, altered);
    expect(act).toThrow(NoBinaryDecoder);
    expect(act).toThrow('binary value: no decoder for type 790 (offset 8)');
  });

  it('keeps that error when the message is named', () => {
    const named = new NoBinaryDecoder(MONEY, 8).within('insert at 0/1A2B3C');
    expect(named).toBeInstanceOf(NoBinaryDecoder);
    expect(named.message).toBe(
      'insert at 0/1A2B3C: binary value: no decoder for type 790 (offset 8)',
    );
  });
});
