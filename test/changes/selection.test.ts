// What --table and --op mean for each kind of line.

import { describe, expect, it } from 'vitest';
import { LINE_OPS, type LineOp } from '../../src/changes/selection.ts';
import { selectionOf } from './followed.ts';

const CHANGES: readonly LineOp[] = ['insert', 'update', 'delete', 'truncate', 'message'];

describe('a selection', () => {
  it('shows every kind of line if nothing is said', () => {
    const selection = selectionOf({});
    for (const op of LINE_OPS) expect([op, selection.shows(op)]).toEqual([op, true]);
    expect(selection.wantsMessages).toBe(true);
  });

  it.each(LINE_OPS)('shows only %s if that is named', (named) => {
    const selection = selectionOf({ ops: [named] });
    expect(LINE_OPS.filter((op) => selection.shows(op))).toEqual([named]);
  });

  it.each(CHANGES)('keeps the frame around %s for pretty, and no other change', (named) => {
    const selection = selectionOf({ ops: [named], keepsFrame: true });
    expect(CHANGES.filter((op) => selection.shows(op))).toEqual([named]);
    expect(selection.shows('begin') && selection.shows('stream_commit')).toBe(true);
  });

  it('opens the frame for a change that is shown, and for all if the frame is what was named', () => {
    expect(selectionOf({ ops: ['delete'] }).opensFrame('insert')).toBe(false);
    expect(selectionOf({ ops: ['delete'] }).opensFrame('delete')).toBe(true);
    expect(selectionOf({ ops: ['commit'] }).opensFrame('insert')).toBe(true);
    expect(selectionOf({ ops: ['delete'], keepsFrame: true }).opensFrame('insert')).toBe(false);
  });

  it('wants messages unless certain tables are wanted', () => {
    expect(selectionOf({ tables: ['orders'] }).wantsMessages).toBe(false);
    expect(selectionOf({ tables: ['!audit_*'] }).wantsMessages).toBe(true);
    expect(selectionOf({ tables: ['orders'], ops: ['message', 'insert'] }).wantsMessages).toBe(
      true,
    );
    expect(selectionOf({ tables: ['orders'], ops: ['insert'] }).wantsMessages).toBe(false);
  });
});
