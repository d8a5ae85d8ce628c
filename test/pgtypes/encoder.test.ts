// Values that no server of today sends, and types that only a Type message tells of.

import { describe, expect, it } from 'vitest';
import { OID } from '../../src/pgtypes/builtin-types.ts';
import { TypeRegistry } from '../../src/pgtypes/type-registry.ts';
import { encoded } from './encoded.ts';

describe('json', () => {
  it('is embedded as it is, but on one line', () => {
    expect(encoded(OID.json, '{\r\n  "size":\n"L" }')).toBe('{    "size": "L" }');
  });
});

describe('a number', () => {
  it('keeps every digit', () => {
    expect(encoded(OID.numeric, '12.50')).toBe('12.50');
    expect(encoded(OID.int8, '-9007199254740993')).toBe('-9007199254740993');
  });

  it('is a string where JSON has no number for it', () => {
    expect(encoded(OID.float8, 'NaN')).toBe('"NaN"');
    expect(encoded(OID.float8, '-Infinity')).toBe('"-Infinity"');
  });
});

describe('timestamptz', () => {
  it('gets the minutes of its zone, and reads nothing behind its end', () => {
    expect(encoded(OID.timestamptz, '2026-11-29 20:36:50+00')).toBe('"2026-11-29T20:36:50+00:00"');
    expect(encoded(OID.timestamptz, '2026-11-29 20:36:50+5')).toBe('"2026-11-29T20:36:50+5"');
    expect(encoded(OID.timestamptz, '2026-11-29 20:36:50+05:30')).toBe(
      '"2026-11-29T20:36:50+05:30"',
    );
  });
});

describe('text that is no array', () => {
  it.each(['', '{', '{a', '{a,', '{a}b', '{"a}', '{"a\\', '[0:1]', '{,}', '{a;b', 'a', '{}{'])(
    '%j stays the text, as a string',
    (text) => {
      expect(encoded(1009, text)).toBe(JSON.stringify(text));
    },
  );
});

describe('an array', () => {
  it('may have six dimensions, and nothing deeper is one', () => {
    expect(encoded(1007, '{{{{{{1}}}}}}')).toBe('[[[[[[1]]]]]]');
    expect(encoded(1007, '{{{{{{{1}}}}}}}')).toBe('"{{{{{{{1}}}}}}}"');
    const deep = '{'.repeat(200_000);
    expect(encoded(1007, deep)).toBe(`"${deep}"`);
  });
});

describe('an announced type', () => {
  const types = new TypeRegistry();
  types.announce({ typeId: 16_804, schema: 'pg_catalog', name: 'int4' });
  types.announce({ typeId: 16_809, schema: 'pg_catalog', name: '_int4' });
  types.announce({ typeId: 16_814, schema: 'shop', name: 'int4' });
  types.announce({ typeId: 16_820, schema: 'pg_catalog', name: 'unheard_of' });

  it('is a domain, if its name is that of a built-in type', () => {
    expect(encoded(16_804, '7', types)).toBe('7');
    expect(types.name(16_804, -1)).toBe('integer');
  });

  it('may be a domain over an array', () => {
    expect(encoded(16_809, '{1,2}', types)).toBe('[1,2]');
  });

  it('is not mistaken for the built-in type of the same name', () => {
    expect(encoded(16_814, '7', types)).toBe('"7"');
    expect(types.name(16_814, -1)).toBe('shop.int4');
  });

  it('stays text if nothing is known of it', () => {
    expect(encoded(16_820, '{1}', types)).toBe('"{1}"');
    expect(encoded(16_999, '(1,2)', types)).toBe('"(1,2)"');
    expect(types.name(16_999, -1)).toBe('type 16999');
  });
});
