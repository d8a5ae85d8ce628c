// What of a row is known and shown: unchanged TOAST values, keys, odd names, many columns.

import { describe, expect, it } from 'vitest';
import type { ReplicaIdentity } from '../../../src/pgoutput/relation.ts';
import {
  UNCHANGED,
  type WireOldRow,
  type WireValue,
  writeDelete,
  writeInsert,
  writeUpdate,
} from '../../support/pgoutput-writer.ts';
import { violationOf } from '../../support/violation.ts';
import { changes, part, table } from './printed.ts';

const articles = (identity: ReplicaIdentity) =>
  table('articles', identity, { 'id*': 20, title: 25, body: 25 });

const update = (
  identity: ReplicaIdentity,
  newRow: readonly WireValue[],
  oldRow: WireOldRow | null = null,
): Record<string, unknown> => {
  const [line] = changes(articles(identity), writeUpdate(16_392, newRow, oldRow));
  return JSON.parse(line!) as Record<string, unknown>;
};

describe('an unchanged TOAST value', () => {
  it('is named in unchanged and absent from new', () => {
    expect(update('default', ['1', 'Tea', UNCHANGED])).toMatchObject({
      key: { id: 1 },
      new: { id: 1, title: 'Tea' },
      unchanged: ['body'],
    });
  });

  it('is filled in from the old row under full, and has not changed', () => {
    const line = update('full', ['1', 'Green tea', UNCHANGED], {
      part: 'O',
      values: ['1', 'Tea', 'A long text'],
    });
    expect(line.new).toEqual({ id: 1, title: 'Green tea', body: 'A long text' });
    expect(line).not.toHaveProperty('unchanged');
    expect(line.changed).toEqual(['title']);
  });

  it('stays unknown if the old row has no value for it: null is never claimed', () => {
    const line = update('full', ['1', 'Tea', UNCHANGED], {
      part: 'O',
      values: ['1', 'Tea', null],
    });
    expect(line.new).toEqual({ id: 1, title: 'Tea' });
    expect(line.unchanged).toEqual(['body']);
    expect(line.changed).toEqual([]);
  });

  it('is filled in from the key tuple if it is part of the key', () => {
    const line = update('default', [UNCHANGED, 'Tea', null], {
      part: 'K',
      values: ['7', null, null],
    });
    expect(line).toMatchObject({ key: { id: 7 }, new: { id: 7, title: 'Tea', body: null } });
    expect(line).not.toHaveProperty('unchanged');
  });

  it('leaves the key out if nothing is known of it', () => {
    const line = update('default', [UNCHANGED, 'Tea', null]);
    expect(line).not.toHaveProperty('key');
    expect(line.unchanged).toEqual(['id']);
  });

  it('may be all there is', () => {
    const line = update('nothing', [UNCHANGED, UNCHANGED, UNCHANGED]);
    expect(line.new).toEqual({});
    expect(line.unchanged).toEqual(['id', 'title', 'body']);
  });
});

describe('the key of a row', () => {
  const key = { part: 'K', values: ['1', null, null] } as const;

  it.each(['default', 'index'] as const)(
    'is the old one where it changed, under %s',
    (identity) => {
      const line = update(identity, ['2', 'Tea', 'x'], key);
      expect(line).toMatchObject({ identity, key: { id: 1 }, new: { id: 2 } });
      expect(line).not.toHaveProperty('old');
      expect(line).not.toHaveProperty('changed');
    },
  );

  it('never shows the columns of a key tuple that are not sent', () => {
    const [line] = changes(articles('default'), writeDelete(16_392, key));
    expect(part(line, 'key')).toEqual({ id: 1 });
  });

  it('does not exist under nothing', () => {
    expect(update('nothing', ['1', 'Tea', 'x'])).not.toHaveProperty('key');
  });

  it('does not exist under default without a primary key', () => {
    const relation = table('clicks', 'default', { page: 25 });
    const [line] = changes(relation, writeUpdate(16_392, ['/tea']));
    expect(JSON.parse(line!)).not.toHaveProperty('key');
  });

  it('does not exist under full, where the old row says more', () => {
    const values = ['1', null, 'x'];
    const [line] = changes(articles('full'), writeDelete(16_392, { part: 'O', values }));
    expect(part(line, 'old')).toEqual({ id: 1, title: null, body: 'x' });
    expect(JSON.parse(line!)).not.toHaveProperty('key');
  });
});

describe('what changed', () => {
  const full = (before: readonly WireValue[], after: readonly WireValue[]): unknown =>
    update('full', after, { part: 'O', values: before }).changed;

  it('is an empty list if nothing did', () => {
    expect(full(['1', null, 'x'], ['1', null, 'x'])).toEqual([]);
  });

  it('holds values that became NULL or were, and those of the same length', () => {
    expect(full(['1', null, 'tea'], ['2', 'x', 'pea'])).toEqual(['id', 'title', 'body']);
    expect(full(['1', 'x', ''], ['1', null, null])).toEqual(['title', 'body']);
  });
});

describe('column names', () => {
  const NAMES = [
    '__proto__',
    'constructor',
    '1',
    'a "quoted" one',
    'line\nbreak',
    'back\\slash',
    '∅',
  ];
  const odd = table('odd', 'full', Object.fromEntries(NAMES.map((name) => [name, 25])));
  // an object literal drops __proto__ and sorts numbers
  const relation = { ...odd, columns: NAMES.map((name) => ({ ...odd.columns[0]!, name })) };

  it('may be anything, in the order of the table', () => {
    const [line] = changes(relation, writeInsert(16_392, NAMES));
    const members = NAMES.map((name) => `${JSON.stringify(name)}:${JSON.stringify(name)}`);
    expect(line).toContain(`"new":{${members.join(',')}}`);
  });

  it('may be anything in lists too', () => {
    const values = NAMES.map(() => 'before');
    const [line] = changes(relation, writeUpdate(16_392, NAMES, { part: 'O', values }));
    expect(part(line, 'changed')).toEqual(NAMES);
  });

  it('are escaped as the server escapes them', () => {
    const tab = { ...odd, columns: [{ ...odd.columns[0]!, name: '\t\b\f\r\x01\x7f\u2028' }] };
    const [line] = changes(tab, writeInsert(16_392, ['x']));
    expect(line).toContain('"new":{"\\t\\b\\f\\r\\u0001\x7f\u2028":"x"}');
  });
});

describe('the number of columns', () => {
  it('may be none', () => {
    const [line] = changes(table('nothing', 'default', {}), writeInsert(16_392, []));
    expect(line).toMatch(/"new":\{\}\}$/);
  });

  it('may be 1600, every value as long in JSON as it can be', () => {
    const names = Array.from({ length: 1600 }, (_, i) => `c${i}`);
    const wide = table('wide', 'full', Object.fromEntries(names.map((name) => [name, 25])));
    const values = names.map((_, i) => '\x01'.repeat(i % 5));
    const old = { part: 'O', values: names.map(() => '\x1f') } as const;
    const [line] = changes(wide, writeUpdate(16_392, values, old));
    expect(Object.values(part(line, 'new') as object)).toEqual(values);
    expect(Object.values(part(line, 'old') as object)).toEqual(old.values);
    expect(part(line, 'changed')).toEqual(names);
  });

  it('may be 1600 that are all unchanged', () => {
    const names = Array.from({ length: 1600 }, (_, i) => `a_rather_long_column_name_${i}`);
    const wide = table('wide', 'nothing', Object.fromEntries(names.map((name) => [name, 25])));
    const [line] = changes(
      wide,
      writeUpdate(
        16_392,
        names.map(() => UNCHANGED),
      ),
    );
    expect(part(line, 'unchanged')).toEqual(names);
  });
});

describe('a binary value', () => {
  it('is refused, since text was asked for', () => {
    const relation = table('photos', 'default', { photo: 17 });
    const insert = writeInsert(16_392, [Uint8Array.of(0, 255)]);
    expect(violationOf(() => changes(relation, insert)).problem).toMatch(/binary/);
  });
});
