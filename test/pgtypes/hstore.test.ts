// hstore values as they are sent, and as they should never be sent.

import { describe, expect, it } from 'vitest';
import { TypeRegistry } from '../../src/pgtypes/type-registry.ts';
import { encoded } from './encoded.ts';

const HSTORE = 16_386;

function types(): TypeRegistry {
  const registry = new TypeRegistry();
  const hstore = {
    schema: 'public',
    typeName: 'hstore',
    shape: undefined,
    jsonCast: 'hstore',
  } as const;
  registry.learn([], { facts: [{ typeId: HSTORE, ...hstore }], names: [] });
  return registry;
}

describe('an hstore value', () => {
  it.each([
    ['', '{}'],
    ['"a"=>"1"', '{"a": "1"}'],
    ['"a"=>"1", "b"=>NULL', '{"a": "1", "b": null}'],
    ['"NULL"=>"NULL", ""=>""', '{"NULL": "NULL", "": ""}'],
    ['"q\\"x"=>"\\\\y", "=>"=>", "', '{"q\\"x": "\\\\y", "=>": ", "}'],
    ['"a"=>"line\nbreak"', '{"a": "line\\nbreak"}'],
  ])('%j', (text, json) => {
    expect(encoded(HSTORE, text, types())).toBe(json);
  });

  it.each(['a', '"a"', '"a"=>', '"a"=>1', '"a"=>"1",', '"a"=>"1""b"=>"2"', '"a"=>"1', '"a\\'])(
    '%j that is none stays the text, as a string',
    (text) => {
      expect(encoded(HSTORE, text, types())).toBe(JSON.stringify(text));
    },
  );
});
