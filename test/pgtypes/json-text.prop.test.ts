// JSON strings are escaped in two ways, from bytes and from strings: they must be the same.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteWriter } from '../../src/byte-writer.ts';
import { jsonString, writeJsonString } from '../../src/pgtypes/json-text.ts';

function fromBytes(text: string): string {
  const source = Buffer.from(text);
  const out = new ByteWriter();
  out.reserve(2 + 6 * source.length);
  writeJsonString(out, source, 0, source.length);
  return out.take().toString();
}

it('a string is the same JSON from its bytes and as it is', () => {
  const unit = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('"', '\\', '\u0000', '\n', '\u001f', '\u007f') },
    { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom('\u2028', '\ufeff', '\ufffd', 'é', '🎈') },
  );
  const text = fc.array(unit, { maxLength: 20 }).map((units) => units.join(''));
  fc.assert(fc.property(text, (each) => jsonString(each) === fromBytes(each)));
});

it('every character up to U+00FF is', () => {
  const all = String.fromCharCode(...Array(256).keys());
  expect(jsonString(all)).toBe(fromBytes(all));
});
