// A replication session: frames in order through hold and pause, and how it ends.

import { describe, expect, it } from 'vitest';
import { connectionSettings } from '../../src/connection/settings.ts';
import { PgtailError } from '../../src/errors.ts';
import { startReplication } from '../../src/walsender/commands.ts';
import { ReplicationSession, type ServerNotice } from '../../src/walsender/session.ts';
import { encodeStandbyStatus } from '../../src/wire/replication.ts';
import { expectNoHang } from '../support/in-time.ts';
import { Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

const XLOG_DATA_HEADER = 25;
const INSERT = 'I'.charCodeAt(0);
const COMMIT = 'C'.charCodeAt(0);

function settingsFor(shop: Shop, more: Record<string, string> = {}) {
  const { host, port, user, name } = shop.database;
  const env = { PGHOST: host, PGPORT: String(port), PGUSER: user, PGDATABASE: name, ...more };
  return connectionSettings({}, { env, userName: user, exists: () => false });
}

async function connect(shop: Shop, notices: ServerNotice[] = []): Promise<ReplicationSession> {
  return ReplicationSession.connect(settingsFor(shop), (notice) => notices.push(notice));
}

const startFrom = (slot: string): string =>
  startReplication({
    slot,
    from: 0n,
    options: { proto_version: '1', publication_names: '"shop"' },
  });

const status = (lsn: bigint): Buffer =>
  encodeStandbyStatus({
    write: lsn,
    flush: lsn,
    apply: lsn,
    clientTime: 0n,
    replyRequested: false,
  });

/** The messages of a slot until so many commits with rows, as copies; `onFrame` may hold. */
async function messagesOf(
  shop: Shop,
  slot: string,
  rows: number,
  onFrame: (session: ReplicationSession, count: number) => void,
): Promise<Buffer[]> {
  const session = await connect(shop);
  const messages: Buffer[] = [];
  try {
    session.attach({
      frame(bytes, start, end) {
        if (bytes[start] !== 'w'.charCodeAt(0)) return;
        messages.push(Buffer.from(bytes.subarray(start + XLOG_DATA_HEADER, end)));
        onFrame(session, messages.length);
      },
      batchEnd() {},
    });
    await session.start(startFrom(slot));
    const inserts = (): number => messages.filter((message) => message[0] === INSERT).length;
    await until(() => messages.at(-1)?.[0] === COMMIT && inserts() === rows);
    return messages;
  } finally {
    session.destroy();
  }
}

describe('hold and release', () => {
  it('keep the order and the bytes of every frame, wherever the stream is held', async () => {
    await using shop = await Shop.open();
    await shop.createSlot(`${shop.slot}_2`);
    for (const from of [1, 1001, 2001]) await shop.orderMany(from, from + 999, 300);
    const unheld = await messagesOf(shop, shop.slot, 3000, () => undefined);
    let holds = 0;
    const held = await messagesOf(shop, `${shop.slot}_2`, 3000, (session, count) => {
      if (count !== 3 && count % 97 !== 0) return;
      holds++;
      session.hold();
      session.hold(); // once more changes nothing
      setImmediate(() => session.release());
    });
    expect(holds).toBeGreaterThan(30);
    expect(held).toHaveLength(unheld.length);
    expect(Buffer.concat(held).equals(Buffer.concat(unheld))).toBe(true);
  });

  it('let status updates through meanwhile', async () => {
    await using shop = await Shop.open();
    const session = await connect(shop);
    let frames = 0;
    session.attach({
      frame() {
        frames++;
      },
      batchEnd() {},
    });
    await session.start(startFrom(shop.slot));
    session.hold();
    const before = frames;
    await shop.orderMany(1, 2000);
    const position = await shop.position();
    session.sendStatus(status(position));
    await until(async () => (await shop.confirmed()) >= position);
    expect(frames).toBe(before);
    session.release();
    await until(() => frames >= before + 2000);
    session.destroy();
  });

  it('respect a pause: nothing more is read until both have ended', async () => {
    await using shop = await Shop.open();
    const session = await connect(shop);
    let inserts = 0;
    session.attach({
      frame(bytes, start) {
        if (bytes[start + XLOG_DATA_HEADER] === INSERT) inserts++;
      },
      batchEnd() {},
    });
    await session.start(startFrom(shop.slot));
    session.pause();
    session.hold();
    await shop.orderMany(1, 1000);
    const position = await shop.position();
    session.release();
    session.sendStatus(status(position));
    await until(async () => (await shop.confirmed()) >= position);
    expect(inserts).toBe(0);
    session.resume();
    await until(() => inserts === 1000);
    session.destroy();
  });
});

describe('a session', () => {
  it('ends between transactions with the last status, quickly', async () => {
    await using shop = await Shop.open();
    const session = await connect(shop);
    session.attach({ frame() {}, batchEnd() {} });
    const { ended } = await session.start(startFrom(shop.slot));
    await shop.order(1);
    const position = await shop.position();
    const begun = performance.now();
    await session.finish(status(position), false);
    await ended;
    expectNoHang(performance.now() - begun, 500);
    expect(await shop.confirmed()).toBe(position);
    await until(async () => !(await shop.slotIsActive()));
  });

  it('ends in the middle of a transaction with the last status', async () => {
    await using shop = await Shop.open();
    await shop.order(1);
    const position = await shop.position();
    await shop.orderMany(1000, 200_000, 10);
    const session = await connect(shop);
    let inserts = 0;
    session.attach({
      frame(bytes, start) {
        if (bytes[start + XLOG_DATA_HEADER] === INSERT) inserts++;
      },
      batchEnd() {},
    });
    await session.start(startFrom(shop.slot));
    await until(() => inserts > 10);
    const begun = performance.now();
    await session.finish(status(position), true);
    expectNoHang(performance.now() - begun, 1500);
    expect(inserts).toBeLessThan(199_000);
    expect(await shop.confirmed()).toBe(position);
  });

  it('hands a refusal over and can try again', async () => {
    await using shop = await Shop.open();
    const session = await connect(shop);
    session.attach({ frame() {}, batchEnd() {} });
    await expect(session.start(startFrom('no_such_slot'))).rejects.toMatchObject({ code: '42704' });
    expect(session.streaming).toBe(false);
    await session.start(startFrom(shop.slot));
    expect(session.streaming).toBe(true);
    session.destroy();
  });

  it('passes the notices of the server on', async () => {
    await using shop = await Shop.open();
    const notices: ServerNotice[] = [];
    const session = await connect(shop, notices);
    await session.query(
      `DO $$ BEGIN RAISE NOTICE 'stock is low' USING HINT = 'order more'; END $$`,
    );
    expect(notices).toMatchObject([
      { severity: 'NOTICE', message: 'stock is low', hint: 'order more' },
    ]);
    session.destroy();
  });

  it('that cannot be opened is an error with an exit code, and names the place', async () => {
    await using shop = await Shop.open();
    const settings = settingsFor(shop, { PGDATABASE: 'no_such_shop' });
    const error: unknown = await ReplicationSession.connect(settings, () => undefined).catch(
      (cause: unknown) => cause,
    );
    expect(error).toBeInstanceOf(PgtailError);
    expect(error).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining(`${shop.database.host}:${shop.database.port}`),
    });
  });
});
