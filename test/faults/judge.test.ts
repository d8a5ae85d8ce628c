// The judge finds what a fault test must find: else its silence would mean nothing.

import { describe, expect, it } from 'vitest';
import { type Evidence, judge } from './judge.ts';

const HEADER =
  '{"op":"pgtail","version":1,"slot":"s","system":"1","timeline":1,"after_lsn":"0/1"}\n';

const lines = (...all: readonly object[]): string =>
  all.map((line) => `${JSON.stringify(line)}\n`).join('');

/** One transaction of the session 1 with one order, ending at 0/`end`. */
const transaction = (txn: number, end: number, note = 'paid'): string =>
  lines(
    { op: 'begin', xid: txn },
    { op: 'insert', table: 'orders', xid: txn, seq: 1, new: { txn, part: 1, note } },
    { op: 'insert', table: 'transactions', xid: txn, seq: 2, new: { txn } },
    { op: 'commit', xid: txn, end_lsn: `0/${end}`, changes: 2 },
  );

const witness = { session: 1, messages: 0, prepared: false };
const order = new Map([[1, 'paid']]);

/** Of a database in which the transactions 1 and 2 were committed. */
const evidence = (
  kind: Evidence['kind'],
  texts: readonly string[],
  more: Partial<Evidence> = {},
): Evidence => ({
  kind,
  texts: kind === 'file' ? texts.map((text) => HEADER + text) : texts,
  checks: [],
  starts: texts.map(() => 0n),
  truth: {
    transactions: new Map([
      [1, witness],
      [2, witness],
    ]),
    orders: new Map([
      [1, order],
      [2, order],
    ]),
    said: new Set(),
  },
  ...more,
});

const [first, second] = [transaction(1, 10), transaction(2, 20)];
const half = second.split('\n').slice(0, 2).join('\n');

describe('the judge of the fault test', () => {
  it('has nothing to say of files that hold everything once', () => {
    const verdict = judge(evidence('file', [first, second]));
    expect(verdict).toMatchObject({ transactions: 2, rows: 4, lost: [], repeated: [] });
    expect(verdict.problems).toEqual([]);
  });

  it('finds what is lost', () => {
    expect(judge(evidence('file', [first])).lost).toEqual([2]);
  });

  it('finds what is repeated, also in another file', () => {
    expect(judge(evidence('file', [first + first + second])).repeated).toHaveLength(1);
    expect(judge(evidence('file', [first + second, second])).repeated).toHaveLength(1);
  });

  it.each([
    ['out of order', [second + first], /out of order/],
    ['never committed', [first + second + transaction(3, 30)], /3 was never committed/],
    ['not as its table says', [first + transaction(2, 20, 'open')], /other rows than its table/],
    ['not whole', [first + half], /lines of no whole unit|torn line/],
    ['twice under other positions', [first + second + transaction(2, 30)], /2 came twice/],
  ])('finds what is %s', (_, texts, problem) => {
    expect(judge(evidence('file', texts)).problems.join('\n')).toMatch(problem);
  });

  it('takes what a reader of a pipe gets: again what nobody acknowledged, and void halves', () => {
    const restart = lines({ op: 'restart', after_lsn: '0/10', void_xids: [2] });
    const texts = [`${first}${half}\n${restart}${second}`, second];
    const verdict = judge(evidence('pipe', texts, { starts: [0n, 0x10n] }));
    expect(verdict).toMatchObject({ lost: [], repeated: [], cameAgain: 1, problems: [] });
  });

  it('finds a half in a pipe that nobody made void', () => {
    const verdict = judge(evidence('pipe', [`${first}${half}\n${second}`]));
    expect(verdict.problems.join('\n')).toMatch(/does not count its changes/);
  });

  it('finds what came again in a pipe although it was acknowledged', () => {
    const verdict = judge(evidence('pipe', [first + second, second], { starts: [0n, 0x20n] }));
    expect(verdict.repeated).toHaveLength(1);
  });

  it('finds what was acknowledged before it arrived, and leaves what was not alone', () => {
    const checks = [
      { fault: 'kill -9', confirmed: 0x20n, position: 0x10n },
      { fault: 'SIGTERM', confirmed: 0x19n, position: 0x10n },
    ];
    const { problems } = judge(evidence('file', [first + second], { checks }));
    expect(problems).toEqual([
      'commit ending at 20 was acknowledged before it arrived, after kill -9',
    ]);
  });
});
