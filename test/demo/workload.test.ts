// The shop's events as text.

import { expect, it } from 'vitest';
import { eventText, SHOP_SCRIPT, shopLife } from '../../src/demo/workload.ts';

it('puts the statements of an event into one transaction block', () => {
  const text = eventText({ name: 'a sale', ends: 'commit', statements: ['SELECT 1', 'SELECT 2'] });
  expect(text).toBe('BEGIN;\nSELECT 1;\nSELECT 2;\nCOMMIT;');
});

it('undoes what a rolled back event did, and opens no block where none is wanted', () => {
  const statements = ['SELECT 1'];
  expect(eventText({ name: 'a try', ends: 'rollback', statements })).toMatch(/ROLLBACK;$/);
  expect(eventText({ name: 'a note', ends: 'none', statements })).toBe('SELECT 1;');
});

it('has a script of changes that reads no clock', () => {
  expect(SHOP_SCRIPT.map(eventText).join('\n')).not.toMatch(/now\(\)|random\(\)|current_/i);
});

it('makes the same shop life of the same random numbers, with every habit in it', () => {
  const first = names(400);
  expect(names(400)).toEqual(first);
  expect(new Set(first).size).toBe(14);
});

function names(count: number): readonly string[] {
  const life = shopLife(fixedRandom());
  return Array.from({ length: count }, () => life.next().value.name);
}

/** A small linear congruential generator: the same numbers each time. */
function fixedRandom(): () => number {
  let state = 20_260_302;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
