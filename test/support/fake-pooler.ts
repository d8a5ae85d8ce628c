// Something between client and server that lets ordinary connections through: a forwarded port, or a
// pooler that knows nothing of replication.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * forwards: all; refuses: no replication connection, with this message; ignores: makes it an
 * ordinary one; shares: gives each query of a connection to the next of two backends.
 */
export type PoolerManner =
  | { readonly kind: 'forwards' }
  | { readonly kind: 'refuses'; readonly message: string }
  | { readonly kind: 'ignores' }
  | { readonly kind: 'shares' };

export interface FakePooler extends AsyncDisposable {
  readonly port: number;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

export async function startFakePooler(target: Target, manner: PoolerManner): Promise<FakePooler> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => client.destroy());
    client.once('data', (first) => beginning(client, first, target, manner));
  });
  server.listen(0, target.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const SSL_REQUEST = 80_877_103;

function beginning(client: Socket, startup: Buffer, target: Target, manner: PoolerManner): void {
  if (startup.readInt32BE(4) === SSL_REQUEST) {
    client.write('N');
    return;
  }
  const isReplication = startup.includes('replication\0');
  if (manner.kind === 'refuses' && isReplication) {
    client.end(errorResponse(manner.message));
    return;
  }
  if (manner.kind === 'shares' && !isReplication) share(client, startup, target);
  else passOn(client, manner.kind === 'ignores' ? withoutReplication(startup) : startup, target);
}

function passOn(client: Socket, startup: Buffer, target: Target): void {
  const upstream = connectTo(target, client);
  upstream.write(startup);
  client.pipe(upstream).pipe(client);
}

function connectTo({ host, port }: Target, client: Socket): Socket {
  const upstream = connect(port, host);
  upstream.on('error', () => client.destroy());
  client.on('close', () => upstream.destroy());
  return upstream;
}

/** Both backends begin alike; the client sees the first one's beginning, then each answer. */
function share(client: Socket, startup: Buffer, target: Target): void {
  const backends = [connectTo(target, client), connectTo(target, client)] as const;
  for (const backend of backends) backend.write(startup);
  backends[0].pipe(client);
  passOnAnswers(backends[1], client);
  let next = 0;
  client.on('data', (query) => backends[next++ % backends.length]!.write(query));
}

/** ReadyForQuery, outside a transaction. */
const READY = Buffer.from('Z\0\0\0\x05I');

/** All but how it began. */
function passOnAnswers(backend: Socket, client: Socket): void {
  let begun = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    begun = Buffer.concat([begun, chunk]);
    const end = begun.indexOf(READY);
    if (end === -1) return;
    backend.off('data', onData);
    client.write(begun.subarray(end + READY.length));
    backend.pipe(client);
  };
  backend.on('data', onData);
}

/** https://www.postgresql.org/docs/current/protocol-error-fields.html */
function errorResponse(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E', 0);
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

function withoutReplication(startup: Buffer): Buffer {
  const text = startup.toString('latin1', 8).replace(/replication\0[^\0]*\0/, '');
  const rest = Buffer.from(text, 'latin1');
  const head = Buffer.from(startup.subarray(0, 8));
  head.writeInt32BE(rest.length + head.length, 0);
  return Buffer.concat([head, rest]);
}
