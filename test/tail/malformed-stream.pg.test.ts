// A stream that is not what the protocol says: exit code 7 with the position, and nothing of it
// acknowledged.

import { expect, it } from 'vitest';
import { FaultProxy, type Tamper } from '../support/fault-proxy.ts';
import { runPgtail } from '../support/pgtail.ts';
import { insertedIds, lastEnd, opsOf, Shop } from '../support/tail.ts';

const XLOG_DATA = 'w'.charCodeAt(0);
const HEADER = 25;

/** Changes the message of the second transaction that has this tag. */
function inSecondTransaction(tag: string, change: (message: Buffer) => Buffer): Tamper {
  let rows = 0;
  return (payload) => {
    if (payload[0] !== XLOG_DATA) return payload;
    const kind = String.fromCharCode(payload[HEADER]!);
    if (kind === 'I') rows++;
    // 14 sends empty transactions too, so rows are what counts
    if (kind !== tag || rows !== 2) return payload;
    rows++;
    return Buffer.concat([
      payload.subarray(0, HEADER),
      change(Buffer.from(payload.subarray(HEADER))),
    ]);
  };
}

const cases: readonly (readonly [string, Tamper, RegExp])[] = [
  [
    'a value longer than its message',
    inSecondTransaction('I', (message) => {
      message.writeUInt32BE(512, 9); // 'I', relation id, 'N', column count, 't', length
      return message;
    }),
    /insert at [0-9A-F]+\/[0-9A-F]+: column 1 "id": 512 bytes announced, \d+ left \(offset \d+\)/,
  ],
  [
    'a message that ends too early',
    inSecondTransaction('I', (message) => message.subarray(0, message.length - 1)),
    /insert at [0-9A-F]+\/[0-9A-F]+: column 2 "note": .* \(offset \d+\)/,
  ],
  [
    'a message with bytes too many',
    inSecondTransaction('I', (message) => Buffer.concat([message, Buffer.from('!')])),
    /insert at [0-9A-F]+\/[0-9A-F]+: .* \(offset \d+\)/,
  ],
  [
    'a relation nobody announced',
    inSecondTransaction('I', (message) => {
      message.writeUInt32BE(1, 1);
      return message;
    }),
    /insert at [0-9A-F]+\/[0-9A-F]+: .*\b1\b.* \(offset \d+\)/,
  ],
  [
    'a kind of message that does not exist',
    inSecondTransaction('I', (message) => {
      message[0] = 'Z'.charCodeAt(0);
      return message;
    }),
    /message at [0-9A-F]+\/[0-9A-F]+: message type: unknown tag 0x5a/,
  ],
  [
    'a commit that is cut off',
    inSecondTransaction('C', (message) => message.subarray(0, 9)),
    /commit at [0-9A-F]+\/[0-9A-F]+: .* \(offset \d+\)/,
  ],
  [
    'a commit that ends beyond all WAL',
    inSecondTransaction('C', (message) => {
      message.writeUInt32BE(0x7f, 10); // 'C', flags, commit lsn, end lsn
      return message;
    }),
    /commit at [0-9A-F]+\/[0-9A-F]+: end lsn: 7F\/[0-9A-F]+ is not where the message stands/,
  ],
  [
    'a commit at another position than its begin',
    inSecondTransaction('C', (message) => {
      message.writeUInt32BE(0x55, 2);
      return message;
    }),
    /commit at [0-9A-F]+\/[0-9A-F]+: message order: commit and begin name different positions/,
  ],
];

/** The message of another type comes in the place of the second row's. */
const insteadOfSecondRow = (type: string, payload: Buffer): Tamper => {
  let rows = 0;
  return (frame) => {
    const isRow = frame[0] === XLOG_DATA && frame[HEADER] === 'I'.charCodeAt(0);
    if (isRow) rows++;
    return isRow && rows === 2 ? { type, payload } : frame;
  };
};

it.concurrent.each([
  ['ReadyForQuery', 'Z', Buffer.from('I'), /ended without CommandComplete/],
  ['a type that does not exist', '!', Buffer.from('boo'), /received invalid response/],
] as const)('%s in the middle of the stream is exit code 7', async (_name, type, payload, told) => {
  await using shop = await Shop.open();
  await using proxy = await FaultProxy.start(shop.database, insteadOfSecondRow(type, payload));
  for (const id of [1, 2, 3]) await shop.order(id);
  const args = ['-p', String(proxy.port), '--no-follow', '-q'];
  const { code, stdout, stderr } = await runPgtail([...shop.args, ...args], {
    env: { PGSSLMODE: 'disable' },
  });
  expect({ code, stderr }).toEqual({ code: 7, stderr: expect.stringMatching(told) });
  expect(insertedIds(stdout)).toEqual([1]);
  const again = await runPgtail([...shop.args, '--no-follow', '-q']);
  expect(insertedIds(again.stdout)).toEqual(expect.arrayContaining([2, 3]));
});

it.concurrent.each(cases)('%s is exit code 7', async (_name, tamper, told) => {
  await using shop = await Shop.open();
  await using proxy = await FaultProxy.start(shop.database, tamper);
  for (const id of [1, 2, 3]) await shop.order(id);
  const args = ['-p', String(proxy.port), '--no-follow', '-q'];
  const { code, stdout, stderr } = await runPgtail([...shop.args, ...args], {
    env: { PGSSLMODE: 'disable' },
  });
  expect({ code, stderr }).toEqual({ code: 7, stderr: expect.stringMatching(told) });
  expect(insertedIds(stdout)[0]).toBe(1);
  expect(opsOf(stdout).filter((op) => op === 'commit')).toHaveLength(1);
  expect(stdout.endsWith('\n')).toBe(true);
  expect(await shop.confirmed()).toBe(lastEnd(stdout));
  const again = await runPgtail([...shop.args, '--no-follow', '-q']);
  expect(insertedIds(again.stdout)).toEqual([2, 3]);
});

it.concurrent('a keepalive that is too short is exit code 7', async () => {
  await using shop = await Shop.open();
  const tamper: Tamper = (payload) =>
    payload[0] === 'k'.charCodeAt(0) ? payload.subarray(0, 9) : payload;
  await using proxy = await FaultProxy.start(shop.database, tamper);
  const { code, stderr } = await runPgtail([...shop.args, '-p', String(proxy.port), '-q'], {
    env: { PGSSLMODE: 'disable' },
  });
  expect({ code, stderr }).toEqual({
    code: 7,
    stderr: expect.stringMatching(/keepalive: a frame of 9 bytes/),
  });
});

it.concurrent('a replication message of an unknown kind is exit code 7', async () => {
  await using shop = await Shop.open();
  await using proxy = await FaultProxy.start(shop.database, () => Buffer.from('zzz'));
  const { code, stderr } = await runPgtail([...shop.args, '-p', String(proxy.port), '-q'], {
    env: { PGSSLMODE: 'disable' },
  });
  expect({ code, stderr }).toEqual({
    code: 7,
    stderr: expect.stringMatching(/replication message: unknown tag 0x7a \(offset 0\)/),
  });
});
