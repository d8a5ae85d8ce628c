// A "char" that is no character, as servers before 15 send it.

import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../src/byte-writer.ts';
import { OID } from '../../src/pgtypes/builtin-types.ts';
import { withoutRawChars } from '../../src/pgtypes/char.ts';
import type { TypeFacts } from '../../src/pgtypes/type-facts.ts';
import { TypeRegistry } from '../../src/pgtypes/type-registry.ts';

const CHAR_ARRAY = 1002;
const GRADE = 16_400;
const MARK = 16_401;

const OWN_TYPES: readonly TypeFacts[] = [
  {
    typeId: GRADE,
    schema: 'public',
    typeName: 'grade',
    shape: { kind: 'domain', base: OID.char },
    jsonCast: 'none',
  },
  {
    typeId: MARK,
    schema: 'public',
    typeName: 'mark',
    shape: {
      kind: 'composite',
      attributes: [
        { name: 'grade', typeId: GRADE },
        { name: 'note', typeId: 25 },
      ],
    },
    jsonCast: 'none',
  },
];

/** The JSON of a value whose bytes are given as in LATIN1. */
function printed(typeId: number, latin1: string, values: 'json' | 'text' = 'json'): string {
  const types = new TypeRegistry({ values });
  types.learn([], { facts: OWN_TYPES, names: [] });
  const source = Buffer.from(latin1, 'latin1');
  const out = new ByteWriter();
  out.reserve(200);
  types.encoder(typeId)(out, source, 0, source.length);
  return out.bytes.toString('utf8', 0, out.length);
}

describe('a "char" beyond ASCII', () => {
  it.each([
    ['alone', OID.char, '\xc3', String.raw`"\\303"`],
    ['the last one', OID.char, '\xff', String.raw`"\\377"`],
    ['as a newer server sends it', OID.char, '\\303', String.raw`"\\303"`],
    ['as a server in LATIN1 converts it', OID.char, '\xc3\xa9', '"é"'],
    ['in an array', CHAR_ARRAY, '{a,\xc3,NULL}', String.raw`["a","\\303",null]`],
    ['in a domain', GRADE, '\x80', String.raw`"\\200"`],
    ['in a composite', MARK, '(\xc3,"a b")', String.raw`{"grade":"\\303","note":"a b"}`],
  ])('%s is printed in octal digits', (_, typeId, text, json) => {
    expect(printed(typeId, text)).toBe(json);
  });

  it.each([
    ['alone', OID.char, '\xc3', String.raw`"\\303"`],
    ['in an array', CHAR_ARRAY, '{a,\xc3,NULL}', String.raw`"{a,\"\\\\303\",NULL}"`],
    ['in a domain', GRADE, '\x80', String.raw`"\\200"`],
    ['in a composite', MARK, '(\xc3,\xc3\xa9)', String.raw`"(\"\\\\303\",é)"`],
  ])('%s is printed in octal digits as raw text', (_, typeId, text, json) => {
    expect(printed(typeId, text, 'text')).toBe(json);
  });

  it.each(['', 'a', 'é', '{🐘,"b c"}', '\ufffd'])('leaves %j as it is', (text) => {
    expect(withoutRawChars(Buffer.from(text)).toString()).toBe(text);
  });
});
