// What is said of measurements: their middle, their worst, and who takes turns.

import { describe, expect, it } from 'vitest';
import { count } from '../../bench/measure/count-option.ts';
import { median, percentile, rotated } from '../../bench/measure/statistics.ts';
import { textTable } from '../../bench/measure/text-table.ts';

describe('statistics', () => {
  it('takes the middle one, or half way between two', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  it('takes a value that was measured for a percentile', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect(percentile(hundred, 50)).toBe(50);
    expect(percentile(hundred, 99)).toBe(99);
    expect(percentile([7], 99)).toBe(7);
  });

  it('says nothing of no measurements', () => {
    expect(() => median([])).toThrow('nothing was measured');
  });

  it('lets another one begin each round', () => {
    const names = ['recvlogical', 'plugin', 'pgtail'];
    expect(rotated(names, 1)).toEqual(['plugin', 'pgtail', 'recvlogical']);
    expect(rotated(names, 3)).toEqual(names);
  });
});

describe('tables and options', () => {
  it('aligns figures to the right and leaves no blanks at the end', () => {
    const table = textTable([
      ['consumer', 'wall s', 'note'],
      ['pgtail', '1.25', ''],
    ]);
    expect(table).toBe('consumer  wall s  note\npgtail      1.25\n');
  });

  it('refuses a number of runs that is none', () => {
    expect(count('runs', '5')).toBe(5);
    for (const text of ['0', '-1', '1.5', 'many', '']) {
      expect(() => count('runs', text)).toThrow(`got "${text}"`);
    }
  });
});
