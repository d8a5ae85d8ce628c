// Table patterns, as psql reads them.

import { describe, expect, it } from 'vitest';
import { isSelected, parseTablePattern } from '../../src/changes/table-pattern.ts';

function selects(patterns: readonly string[], schema: string, name: string): boolean {
  const relation = { relationId: 1, schema, name, identity: 'default', columns: [] } as const;
  return isSelected(
    relation,
    patterns.map((text) => parseTablePattern(text)!),
  );
}

describe('a table pattern', () => {
  it.each([
    ['orders', 'shop', 'orders', true],
    ['orders', 'public', 'orders', true],
    ['orders', 'shop', 'orders_2026', false],
    ['shop.orders', 'shop', 'orders', true],
    ['shop.orders', 'public', 'orders', false],
    ['shop.*', 'shop', 'order-lines', true],
    ['*', 'any', 'thing\nwith a break', true],
    ['*.audit_*', 'shop', 'audit_log', true],
    ['order?', 'shop', 'orders', true],
    ['order?', 'shop', 'order', false],
    ['order?', 'shop', 'order\u{1F375}', true],
  ])('%s against %s.%s is %s', (pattern, schema, name, expected) => {
    expect(selects([pattern], schema, name)).toBe(expected);
  });

  it('folds letters to lower case as the server does: ASCII only', () => {
    expect(selects(['Orders'], 'shop', 'orders')).toBe(true);
    expect(selects(['Orders'], 'shop', 'Orders')).toBe(false);
    expect(selects(['Übersicht'], 'shop', 'Übersicht')).toBe(true);
  });

  it('takes a quoted part as it is written', () => {
    expect(selects(['"Orders"'], 'shop', 'Orders')).toBe(true);
    expect(selects(['"Orders"'], 'shop', 'orders')).toBe(false);
    expect(selects(['"a.b"'], 'shop', 'a.b')).toBe(true);
    expect(selects(['"a*"'], 'shop', 'a*')).toBe(true);
    expect(selects(['"a*"'], 'shop', 'ab')).toBe(false);
    expect(selects(['"say ""hi"""'], 'shop', 'say "hi"')).toBe(true);
    expect(selects(['"My Schema".or*'], 'My Schema', 'orders')).toBe(true);
    expect(selects(['Ab"Cd"*'], 'shop', 'abCdEf')).toBe(true);
  });

  it('knows no other special character', () => {
    for (const name of [
      'order-lines',
      'a/b',
      'a+b',
      '(x)',
      '[x]',
      '{2}',
      'a|b',
      '^a$',
      'back\\d',
    ]) {
      expect(selects([name], 'shop', name)).toBe(true);
      expect(selects([`"${name}"`], 'shop', name)).toBe(true);
    }
    expect(selects(['a.b'], 'shop', 'axb')).toBe(false);
    expect(selects(['a+b'], 'shop', 'aab')).toBe(false);
  });

  it.each(['', '!', '.', 'shop.', '.orders', 'a.b.c', '"open', '""', 'shop.""'])(
    '%j is none',
    (text) => {
      expect(parseTablePattern(text)).toBeUndefined();
    },
  );
});

describe('several table patterns', () => {
  it('include what any of them fits', () => {
    expect(selects(['orders', 'carts'], 'shop', 'carts')).toBe(true);
    expect(selects(['orders', 'carts'], 'shop', 'stock')).toBe(false);
  });

  it('exclude what one with "!" fits, wherever it stands', () => {
    expect(selects(['!audit_*', 'shop.*'], 'shop', 'audit_log')).toBe(false);
    expect(selects(['shop.*', '!audit_*'], 'shop', 'orders')).toBe(true);
  });

  it('include all others if they only exclude', () => {
    expect(selects(['!audit_*'], 'shop', 'orders')).toBe(true);
    expect(selects([], 'shop', 'orders')).toBe(true);
  });
});
