// A TCP proxy in front of a real server that changes single messages of the server on their way.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const COPY_DATA = 'd'.charCodeAt(0);

/**
 * Gets the payload of each CopyData from the server: what it returns is sent in its place.
 * It may be changed in place.
 */
export type Tamper = (payload: Buffer) => Buffer | OtherMessage;

/** A message of another type than CopyData. */
export interface OtherMessage {
  readonly type: string;
  readonly payload: Buffer;
}

export class FaultProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Ends the traffic of each open connection. */
  readonly #swallow = new Set<() => void>();

  private constructor(target: { host: string; port: number }, tamper: Tamper) {
    this.#server = createServer((client) => {
      const upstream = connect(target.port, target.host);
      const rewrite = rewriter(tamper);
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => this.#sockets.delete(socket));
      }
      client.pipe(upstream);
      const forward = (chunk: Buffer): void => void client.write(rewrite(chunk));
      const forwardEnd = (): void => void client.end();
      upstream.on('data', forward);
      upstream.on('end', forwardEnd);
      this.#swallow.add(() => {
        client.unpipe(upstream);
        client.resume();
        upstream.off('data', forward);
        upstream.off('end', forwardEnd);
        upstream.resume();
      });
    });
  }

  static async start(target: { host: string; port: number }, tamper: Tamper): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, tamper);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** From now on nothing of the connections that are open arrives on the other side, ends included. */
  swallow(): void {
    for (const swallow of this.#swallow) swallow();
    this.#swallow.clear();
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // listening on TCP
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** Cuts the server's bytes into messages; those that are not whole wait for the next chunk. */
function rewriter(tamper: Tamper): (chunk: Buffer) => Buffer {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const out: Buffer[] = [];
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const end = 1 + rest.readUInt32BE(1);
      const message = rest.subarray(0, end);
      rest = rest.subarray(end);
      out.push(message[0] === COPY_DATA ? tampered(tamper(message.subarray(5))) : message);
    }
    return Buffer.concat(out);
  };
}

function tampered(changed: Buffer | OtherMessage): Buffer {
  const { type, payload } = Buffer.isBuffer(changed) ? { type: 'd', payload: changed } : changed;
  const header = Buffer.alloc(5);
  header.write(type, 'latin1');
  header.writeUInt32BE(payload.length + 4, 1);
  return Buffer.concat([header, payload]);
}
