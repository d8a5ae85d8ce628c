// Whatever names, values and messages hold: the terminal gets only text, colours and line breaks,
// and no line is wider than it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ColorLevel } from '../../../src/terminal/color.ts';
import { displayWidth } from '../../../src/terminal/width.ts';
import { anyText, UNSAFE_ON_A_TERMINAL } from '../../terminal/any-text.ts';
import {
  COMMIT,
  change,
  PREPARE,
  row,
  type Screen,
  STREAMED,
  screen,
  TRANSACTION,
  TYPES,
  UNCHANGED,
} from './shop.ts';

const OUR_COLOURS = /\x1b\[\d+m/g;

const value = fc.oneof(
  anyText,
  anyText.map((text) => text.repeat(40)),
  fc.constant(null),
);
const sentValue = fc.oneof(value, fc.constant(UNCHANGED), fc.constant(Buffer.from('binary')));

const aTable = fc.record({
  schema: anyText,
  name: anyText,
  identity: fc.constantFrom('default', 'index', 'full', 'nothing' as const),
  columns: fc.array(
    fc.record({
      name: anyText,
      typeId: fc.constantFrom(...Object.values(TYPES)),
      typmod: fc.constant(-1),
      key: fc.boolean(),
      newValue: sentValue,
      oldValue: value,
    }),
    { maxLength: 12 },
  ),
  keyOnly: fc.boolean(),
});

type AnyTable = typeof aTable extends fc.Arbitrary<infer T> ? T : never;

/** Everything that shows text from outside, in a block, in a stream, and alone. */
function showAll({ format }: Screen, table: AnyTable, text: string): void {
  const relation = { ...table, relationId: 16_392 };
  const newRow = row(
    'new',
    table.columns.map((column) => column.newValue),
  );
  const role = table.keyOnly ? 'key' : 'old';
  const oldRow = row(
    role,
    table.columns.map((column) => column.oldValue),
  );
  const content = Buffer.from(text);
  format.begin(TRANSACTION);
  for (const transaction of [TRANSACTION, STREAMED]) {
    const at = change(transaction, 4_294_967_295);
    format.insert(at, relation, newRow);
    format.update(at, relation, newRow, oldRow);
    format.update(at, relation, newRow, null);
    format.delete(at, relation, oldRow);
    format.truncate(at, [relation, relation], { cascade: true, restartIdentity: true });
    format.message(at, { transactional: true, lsn: 1n, prefix: text, content });
    format.relation({ ...relation, name: text, columns: [] }, relation);
    format.origin(transaction, { originLsn: 2n ** 64n - 1n, name: text });
  }
  format.message(null, { transactional: false, lsn: 1n, prefix: text, content });
  format.beginPrepare(STREAMED, { ...PREPARE, gid: text });
  format.commitPrepared({ ...COMMIT, xid: 745, gid: text });
  format.streamPrepare(STREAMED, { ...PREPARE, gid: text }, 3);
}

describe('pretty output', () => {
  it('is harmless and inside the width for any text', () => {
    fc.assert(
      fc.property(
        aTable,
        anyText,
        fc.integer({ min: 40, max: 200 }),
        fc.constantFrom<ColorLevel>(0, 1, 2, 3),
        (table, text, columns, colors) => {
          const shown = screen({ columns, colors });
          showAll(shown, table, text);
          const lines = shown.text().replace(OUR_COLOURS, '').split('\n');
          expect(lines.filter((line) => UNSAFE_ON_A_TERMINAL.test(line))).toEqual([]);
          expect(lines.filter((line) => displayWidth(line) > columns)).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });
});
