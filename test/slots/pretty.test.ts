// The list of slots as people see it, and how it changes between two looks.

import { describe, expect, it } from 'vitest';
import { slotsLines } from '../../src/slots/pretty.ts';
import { slotsTrend } from '../../src/slots/trend.ts';
import { createTheme } from '../../src/terminal/theme.ts';
import { GB, MB, READER, report, slot } from './slot-case.ts';

const layout = { theme: createTheme(0), columns: 120, verbose: false };

const COUNTERS = {
  spillTransactions: 2,
  spillCount: 40,
  spillBytes: 300 * MB,
  streamTransactions: 0,
  streamCount: 0,
  streamBytes: 0,
  totalTransactions: 1234,
  totalBytes: 2 * GB,
};

const SLOTS = [
  slot({ reader: READER, inactiveSince: undefined, inactiveFor: undefined }),
  slot({ name: 'forgotten', retained: 2 * GB, behind: 2 * GB, twoPhase: true, failover: true }),
  slot({
    name: 'replica',
    kind: 'physical',
    plugin: undefined,
    database: undefined,
    behind: undefined,
  }),
  slot({ name: 'late', invalidation: 'wal_removed', retained: undefined, behind: undefined }),
];

describe('the list of slots', () => {
  it('shows each with its kind, its reader and its cost, and what needs attention below', () => {
    expect(`\n${slotsLines(report(SLOTS), layout).join('\n')}\n`).toMatchInlineSnapshot(`
      "
      PostgreSQL 18.4: 4 of 10 slots used, WAL ends at 0/20B3748

         slot       kind              flags               state                                      keeps         behind
      ✗  late       pgoutput in shop                      lost: wal_removed
      !  forgotten  pgoutput in shop  two-phase failover  inactive for 1 min                        2.0 GB         2.0 GB
         audit      pgoutput in shop                      read by pgtail (PID 4711) from 10.0.0.7  10.0 MB  9.0 MB, 12 ms
         replica    physical                              inactive for 1 min                       10.0 MB

      ✗ slot "late" was invalidated (wal_removed): nobody can read it any more
          its consumer has missed what it had not read yet, and needs a new slot and a new copy of the data
          fix: SELECT pg_drop_replication_slot('late');
      ! slot "forgotten" keeps 2.0 GB of WAL and nobody reads it, for 1 min
          the WAL grows without an end: a full disk stops the whole server
          fix: SELECT pg_drop_replication_slot('forgotten'); -- if nobody needs it any more; else start its consumer
      "
    `);
  });

  it('shows counters and ages to those who want to know more', () => {
    const lines = slotsLines(report([slot({ counters: COUNTERS })]), { ...layout, verbose: true });
    expect(`\n${lines.slice(1).join('\n')}\n`).toMatchInlineSnapshot(`
      "

      slot   kind              state                keeps  behind  catalog age  wal_status         spilled             decoded
      audit  pgoutput in shop  inactive for 1 m…  10.0 MB  9.0 MB           12  reserved    300 MB in 2 tx  2.0 GB in 1,234 tx
      "
    `);
  });

  it('keeps to the width of a narrow terminal', () => {
    const lines = slotsLines(report(SLOTS), { ...layout, columns: 70 });
    const table = lines.slice(2, 7);
    expect(Math.max(...table.map((line) => line.length))).toBe(70);
    expect(table.join()).toContain('…');
  });

  it('leaves out what is missed least where the terminal is too narrow for all', () => {
    const trend = { walPerSecond: 0, retainedPerSecond: new Map([['forgotten', 2 * MB]]) };
    const table = (columns: number): string => {
      const lines = slotsLines(report(SLOTS), { ...layout, columns, trend });
      const header = lines.findIndex((line) => /^ +slot .*keeps/.test(line));
      return `\n${lines.slice(header, header + 5).join('\n')}\n`;
    };
    expect(table(60)).toMatchInlineSnapshot(`
      "
         slot       state          keeps         behind      trend
      ✗  late       lost: wal_…
      !  forgotten  inactive f…   2.0 GB         2.0 GB  +2.0 MB/s
         audit      read by pg…  10.0 MB  9.0 MB, 12 ms
         replica    inactive f…  10.0 MB
      "
    `);
    expect(table(40)).toMatchInlineSnapshot(`
      "
         slot     state       keeps      trend
      ✗  late     lost: w…
      !  forgot…  inactiv…   2.0 GB  +2.0 MB/s
         audit    read by…  10.0 MB
         replica  inactiv…  10.0 MB
      "
    `);
    expect(table(20)).toMatchInlineSnapshot(`
      "
         slot        keeps
      ✗  late
      !  forgott…   2.0 GB
         audit     10.0 MB
         replica   10.0 MB
      "
    `);
  });

  it('is one line where there is no slot', () => {
    expect(slotsLines(report([]), layout)).toEqual([
      'PostgreSQL 18.4: 0 of 10 slots used, WAL ends at 0/20B3748',
    ]);
  });
});

describe('a second look', () => {
  const before = report([slot(), slot({ name: 'read', retained: 5 * MB }), slot({ name: 'gone' })]);
  const now = report([
    slot({ retained: 14 * MB }),
    slot({ name: 'read', retained: MB }),
    slot({ name: 'new' }),
  ]);
  const later = { ...now, server: { ...now.server, walEnd: now.server.walEnd! + BigInt(4 * MB) } };
  const trend = slotsTrend(before, later, 2);

  it('says how fast WAL and what is kept grow', () => {
    expect(trend.walPerSecond).toBe(2 * MB);
    expect([...trend.retainedPerSecond]).toEqual([
      ['audit', 2 * MB],
      ['read', -2 * MB],
    ]);
  });

  it('shows it in a column of its own', () => {
    const lines = slotsLines(later, { ...layout, trend });
    expect(lines[0]).toMatch(/WAL ends at 0\/24B3748 and grows by 2.0 MB per second$/);
    expect(lines.join('\n')).toMatch(/audit .* \+2\.0 MB\/s/);
    expect(lines.join('\n')).toMatch(/read .* −2\.0 MB\/s/);
  });
});
