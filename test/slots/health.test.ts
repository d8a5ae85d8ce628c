// What is wrong with a slot, from what is known of it.

import { describe, expect, it } from 'vitest';
import type { Slot, SlotSettings } from '../../src/slots/slot.ts';
import { GB, MB, READER, report, slot } from './slot-case.ts';

const found = (different: Partial<Slot>, server: Partial<SlotSettings> = {}) =>
  report([slot(different)], server).findings.map(({ id, severity }) => `${severity} ${id}`);

describe('a slot', () => {
  it('that keeps little is healthy, read or not', () => {
    expect(found({})).toEqual([]);
    expect(found({ reader: READER })).toEqual([]);
    expect(found({ retained: undefined, restartLsn: undefined })).toEqual([]);
  });

  it('that is invalidated has no other finding', () => {
    const lost = { invalidation: 'wal_removed', retained: 90 * GB, catalogXminAge: 150_000_000 };
    expect(found(lost)).toEqual(['error slot-invalidated']);
  });

  it('is close to being lost in the last fifth of what it may keep', () => {
    const server = { maxSlotWalKeepSize: 10 * GB };
    expect(found({ safeWal: 3 * GB }, server)).toEqual([]);
    expect(found({ safeWal: 2 * GB }, server)).toEqual(['warning slot-close-to-being-lost']);
    expect(found({ safeWal: 0, walStatus: 'unreserved' }, server)).toEqual([
      'error slot-close-to-being-lost',
    ]);
    expect(found({ safeWal: 2 * GB, retained: 8 * GB }, server)).toEqual([
      'warning slot-close-to-being-lost',
    ]);
  });

  it('keeps too much beyond what the server may keep for itself', () => {
    expect(found({ retained: GB })).toEqual([]);
    expect(found({ retained: GB + 1 })).toEqual(['warning slot-inactive-retains-wal']);
    expect(found({ retained: GB + 1, reader: READER })).toEqual([
      'warning slot-active-retains-wal',
    ]);
  });

  it('is close to its idle timeout in the last fifth of it, unless somebody reads it', () => {
    const server = { idleTimeout: 100 };
    expect(found({ inactiveFor: 79 }, server)).toEqual([]);
    expect(found({ inactiveFor: 80 }, server)).toEqual(['warning slot-close-to-idle-timeout']);
    expect(found({ inactiveFor: undefined, reader: READER }, server)).toEqual([]);
    expect(found({ inactiveFor: 80, synced: true }, server)).toEqual([]);
  });

  it('holds VACUUM back from half of autovacuum_freeze_max_age on', () => {
    expect(found({ catalogXminAge: 99_999_999, xminAge: 99_999_999 })).toEqual([]);
    expect(found({ catalogXminAge: 100_000_000 })).toEqual(['warning slot-holds-catalog-xmin']);
    expect(found({ xminAge: 100_000_000 })).toEqual(['warning slot-holds-xmin']);
  });

  it('that a standby copies is mended on its primary', () => {
    const [finding] = report([slot({ synced: true, invalidation: 'wal_removed' })]).findings;
    expect(finding?.fix.join()).toMatch(/on the primary/);
  });
});

it('the worst slot comes first, then the costliest, then by name', () => {
  const { slots, findings } = report([
    slot({ name: 'a_small', retained: MB }),
    slot({ name: 'b_large', retained: 2 * MB }),
    slot({ name: 'c_forgotten', retained: 2 * GB }),
    slot({ name: 'd_lost', invalidation: 'wal_removed', retained: undefined }),
    slot({ name: 'e_small', retained: MB }),
  ]);
  const names = slots.map(({ name }) => name);
  expect(names).toEqual(['d_lost', 'c_forgotten', 'b_large', 'a_small', 'e_small']);
  expect(findings.map(({ id }) => id)).toEqual(['slot-invalidated', 'slot-inactive-retains-wal']);
});

it('slots that are close to being lost are given one setting that is enough for all', () => {
  const { findings } = report(
    [
      slot({ name: 'a_over', retained: 30 * GB, safeWal: 0, walStatus: 'unreserved' }),
      slot({ name: 'b_nearly', retained: 9 * GB, safeWal: GB }),
    ],
    { maxSlotWalKeepSize: 10 * GB },
  );
  const settings = findings.map(({ fix }) => fix[0]?.split(';')[0]);
  const wanted = `ALTER SYSTEM SET max_slot_wal_keep_size = '${60 * 1024}MB'`;
  expect(settings).toEqual([wanted, wanted]);
});

it('what the role may not read of a reader is named', () => {
  const hidden = { ...READER, clientAddress: undefined, flushLag: undefined, readable: false };
  expect(report([slot({ reader: hidden })]).unreadable).toEqual(['client_addr', 'flush_lag_ms']);
  expect(report([slot({ reader: READER }), slot()]).unreadable).toEqual([]);
});

describe('a slot that is read and keeps much', () => {
  const consequence = (behind: number): string => {
    const { findings } = report([slot({ retained: 2 * GB, behind, reader: READER })]);
    expect(findings.map(({ id }) => id)).toEqual(['slot-active-retains-wal']);
    return findings[0]!.consequence;
  };

  it('has a slow consumer if that has not confirmed most of it', () => {
    expect(consequence(2 * GB)).toMatch(/^its consumer is slow, does not acknowledge, or /);
  });

  it('accuses no consumer that has confirmed it', () => {
    expect(consequence(0)).toMatch(/^its consumer has confirmed all of it: restart_lsn trails, /);
    expect(consequence(MB)).toMatch(/^its consumer has confirmed all but 1\.0 MB of it: /);
  });
});
