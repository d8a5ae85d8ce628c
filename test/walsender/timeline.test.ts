// Positions on the branches of a server's history.

import { describe, expect, it } from 'vitest';
import type { ReplicationSession } from '../../src/walsender/session.ts';
import {
  checkSameHistory,
  checkWithinWal,
  identifySystem,
  switchPoint,
} from '../../src/walsender/timeline.ts';

/** As a third server's file has it: a comment, an empty line, and a path with a tab in the reason. */
const HISTORY = `# written by hand
1\t0/1772720\tno recovery target specified

2\tA/BC000000\tbefore 2026-11-29 20:36:49.05+00, 3\t1/0
`;

/** Answers each command with its rows; another one is a mistake. */
function serverWith(answers: Readonly<Record<string, Record<string, string>>>): ReplicationSession {
  const query = async (command: string) => {
    const row = answers[command];
    if (row === undefined) throw new Error(`nobody expected ${command}`);
    return [[row]];
  };
  return { query } as unknown as ReplicationSession; // all that is asked of it
}

const third = serverWith({
  'TIMELINE_HISTORY 3': { filename: '00000003.history', content: HISTORY },
});
const on = (timeline: number, system = '7') => ({ system, timeline });

describe('the point where a timeline was left', () => {
  it('stands in the line of that timeline', () => {
    expect(switchPoint(HISTORY, 1)).toBe(0x1772720n);
    expect(switchPoint(HISTORY, 2)).toBe(0xa_bc000000n);
  });

  it('is unknown for one that is not an ancestor', () => {
    expect(switchPoint(HISTORY, 3)).toBeUndefined();
    expect(switchPoint('', 1)).toBeUndefined();
  });
});

describe('a server', () => {
  it('tells its system and its timeline', async () => {
    const row = { systemid: '7578901234567890123', timeline: '12', xlogpos: '0/0' };
    const session = serverWith({ IDENTIFY_SYSTEM: row });
    expect(await identifySystem(session)).toEqual({ system: row.systemid, timeline: 12 });
  });

  it('goes on with a position up to the switch point of its own history', async () => {
    await checkSameHistory(third, on(1), on(3), 0x1772720n);
    await checkSameHistory(third, on(2), on(3), 0xa_bc000000n);
  });

  it('is not asked for a history where nothing was switched', async () => {
    await checkSameHistory(serverWith({}), on(3), on(3), 2n ** 60n);
  });

  it('has not what was printed behind the switch point', async () => {
    await expect(checkSameHistory(third, on(1), on(3), 0x1772721n)).rejects.toMatchObject({
      exitCode: 6,
      message:
        "timeline 1 was left at 0/1772720 for timeline 3: what was printed between 0/1772720 and 0/1772721 is no part of this server's history",
    });
  });

  it('that does not descend from the timeline is refused', async () => {
    const first = serverWith({});
    await expect(checkSameHistory(first, on(2), on(1), 1n)).rejects.toMatchObject({
      exitCode: 6,
      message: 'the server is on timeline 1, which does not descend from timeline 2',
    });
    await expect(checkSameHistory(third, on(4), on(3), 1n)).rejects.toMatchObject({ exitCode: 6 });
  });

  it('of another system is refused, on whichever timeline', async () => {
    await expect(checkSameHistory(third, on(1, '8'), on(1), 1n)).rejects.toMatchObject({
      exitCode: 6,
      message: 'this is another database system: 7, and not 8',
    });
  });

  it('has WAL up to its end, but for a page header', () => {
    checkWithinWal(0x2000028n, 0x2000000n);
    expect(() => checkWithinWal(0x2000029n, 0x2000000n)).toThrow(
      "the server's WAL ends at 0/2000000, before 0/2000029, up to which was printed already",
    );
  });
});
