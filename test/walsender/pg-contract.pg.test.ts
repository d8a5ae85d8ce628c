// The private parts of pg that session.ts leans on: an upgrade of pg that changes one fails here.

import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeStandbyStatus } from '../../src/wire/replication.ts';
import { lsnOf, Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

interface PrivateStream extends NodeJS.EventEmitter {
  pause(): void;
  resume(): void;
  destroy(): void;
  isPaused(): boolean;
}

interface PrivateConnection extends NodeJS.EventEmitter {
  readonly stream: PrivateStream;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  end(): void;
}

interface PrivateClient {
  readonly connection: PrivateConnection;
  readonly processID: number;
  readonly secretKey: number;
}

let shop: Shop;
let client: Client;
let inner: PrivateClient;

beforeEach(async () => {
  shop = await Shop.open();
  const config = { ...shop.database.connection, replication: 'database' };
  client = new Client(config);
  client.on('error', () => undefined);
  await client.connect();
  inner = client as unknown as PrivateClient; // the private parts under test
});

afterEach(async () => {
  inner.connection.stream.destroy();
  await shop.database.drop();
});

/** START_REPLICATION; resolves once streaming, with what the query becomes. */
async function stream(): Promise<{ readonly query: Promise<unknown> }> {
  const started = new Promise<void>((resolve) => {
    inner.connection.once('replicationStart', resolve);
  });
  const options = `proto_version '1', publication_names '"shop"'`;
  const query = client.query(`START_REPLICATION SLOT "${shop.slot}" LOGICAL 0/0 (${options})`);
  query.catch(() => undefined);
  await started;
  return { query };
}

const statusUpTo = (flush: bigint): Buffer =>
  encodeStandbyStatus({ write: flush, flush, apply: flush, clientTime: 0n, replyRequested: false });

describe('pg', () => {
  it('tells the process id and the secret key of the session', async () => {
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    expect(inner.processID).toBe(Number(rows[0].pid));
    expect(Number.isInteger(inner.secretKey)).toBe(true);
  });

  it('emits each CopyData payload as `chunk`, before later data listeners run', async () => {
    const order: string[] = [];
    inner.connection.removeAllListeners('copyData');
    await stream();
    inner.connection.on('copyData', ({ chunk }: { chunk: Buffer }) => {
      expect(Buffer.isBuffer(chunk)).toBe(true);
      if (chunk[0] === 'w'.charCodeAt(0)) order.push(String.fromCharCode(chunk[25]!));
    });
    inner.connection.stream.on('data', () => order.push('|'));
    await shop.order(1);
    await until(() => order.includes('C'));
    await until(() => order.at(-1) === '|');
    const tags = order.join('').replaceAll('|', '');
    expect(tags.replace(/^(BC)*/, '')).toMatch(/^BRIC/);
  });

  it('parses what its one data listener on the stream is given, message by message', async () => {
    const { stream: socket } = inner.connection;
    const [parse, ...others] = socket.listeners('data') as ((bytes: Buffer) => void)[];
    expect(others).toEqual([]);
    const notice = new Promise((resolve) => inner.connection.once('notice', resolve));
    const fields = Buffer.from('SNOTICE\0Mstock is low\0\0');
    const header = Buffer.from([0x4e, 0, 0, 0, 4 + fields.length]); // NoticeResponse
    parse?.call(socket, Buffer.concat([header, fields]));
    expect(await notice).toMatchObject({ message: 'stock is low' });
  });

  it('sends CopyData that the server takes as a status update, also while paused', async () => {
    await shop.order(1);
    const position = await shop.position();
    await stream();
    inner.connection.stream.pause();
    expect(inner.connection.stream.isPaused()).toBe(true);
    inner.connection.sendCopyFromChunk(statusUpTo(position));
    await until(async () => (await shop.confirmed()) >= position);
    inner.connection.stream.resume();
  });

  it('delivers nothing while paused, and everything after', async () => {
    let frames = 0;
    inner.connection.on('copyData', ({ chunk }: { chunk: Buffer }) => {
      if (chunk[0] === 'w'.charCodeAt(0) && chunk[25] === 'I'.charCodeAt(0)) frames++;
    });
    await stream();
    inner.connection.stream.pause();
    await shop.orderMany(1, 5000);
    const position = await shop.position();
    await until(async () => {
      const [row] = await shop.database.query<{ lsn: string | null }>(
        'SELECT sent_lsn::text AS lsn FROM pg_stat_replication WHERE pid = $1',
        [inner.processID],
      );
      return row?.lsn != null && lsnOf(row.lsn) > position - 100_000n;
    });
    expect(frames).toBe(0);
    inner.connection.stream.resume();
    await until(() => frames === 5000);
  });

  it('ends the stream on endCopyFrom: commandComplete, and the connection lives on to end()', async () => {
    const { query } = await stream();
    const complete = new Promise((resolve) => inner.connection.once('commandComplete', resolve));
    inner.connection.endCopyFrom();
    await complete;
    await query;
    const ended = new Promise((resolve) => inner.connection.once('end', resolve));
    inner.connection.end();
    await ended;
  });

  it('rejects the query of a stream that is refused, after which another may start', async () => {
    await expect(client.query('START_REPLICATION SLOT "none" LOGICAL 0/0')).rejects.toMatchObject({
      code: '42704',
      severity: 'ERROR',
    });
    await stream();
  });

  it('gives one result a statement, with values through the types asked for', async () => {
    const types = { getTypeParser: () => (text: string) => `«${text}»` };
    const results: unknown = await client.query({ text: 'SELECT 1 AS a; SELECT true AS b', types });
    expect(results).toMatchObject([{ rows: [{ a: '«1»' }] }, { rows: [{ b: '«t»' }] }]);
  });
});
