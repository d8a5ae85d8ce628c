// A TCP proxy in front of a real server that changes single messages of the server on their way, and
// does to the connections what networks do.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { ProxyLink } from './proxy-link.ts';

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

/** Lengths of the pieces that a chunk is cut into; what is left is sent as it is. */
export type PieceLengths = () => readonly number[];

const WHOLE: PieceLengths = () => [];

/** A server to pass connections on to. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

export class FaultProxy implements AsyncDisposable {
  readonly #server: Server;
  #target: Target;
  readonly #links = new Set<ProxyLink>();
  /** How many connections have come so far. */
  connections = 0;
  #pieceLengths = WHOLE;
  #fatalWords: string | undefined;
  #passable = Promise.resolve();
  #thaw = (): void => {};

  private constructor(target: Target, tamper: Tamper | null) {
    this.#target = target;
    const network = {
      passable: () => this.#passable,
      pieces: (chunk: Buffer) => cut(chunk, this.#pieceLengths()),
    };
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      this.connections++;
      const { host, port } = this.#target;
      const upstream = connect({ host, port, allowHalfOpen: true });
      const toClient = tamper === null ? (chunk: Buffer) => chunk : rewriter(tamper);
      const toServer = (chunk: Buffer): Buffer => this.#overhear(chunk);
      for (const link of this.#links) if (!link.isOpen) this.#links.delete(link);
      this.#links.add(new ProxyLink(client, upstream, network, { toServer, toClient }));
    });
  }

  /** Without `tamper` bytes come in the chunks in which they arrived. */
  static async start(target: Target, tamper: Tamper | null = null): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, tamper);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // listening on TCP
  }

  /** New connections go there from now on, as after a switchover. */
  retarget(target: Target): void {
    this.#target = target;
  }

  /** From now on nothing of the connections that are open arrives on the other side, ends included. */
  swallow(): void {
    for (const link of this.#links) link.swallow();
  }

  /** Both sides of every open connection see it end, in order (FIN) or by a reset (RST). */
  cut(how: 'end' | 'reset'): void {
    for (const link of this.#links) {
      if (how === 'end') link.end();
      else link.reset();
    }
  }

  /** The next connection on which a client says this is reset before the server hears it. */
  resetAt(words: string): void {
    this.#fatalWords = words;
  }

  #overhear(chunk: Buffer): Buffer {
    if (this.#fatalWords === undefined || !chunk.includes(this.#fatalWords)) return chunk;
    this.#fatalWords = undefined;
    throw new Error('reset, as it was asked for');
  }

  /** Nothing gets through, on new connections neither, until `thaw`; then everything does. */
  freeze(): void {
    this.#thaw();
    this.#passable = new Promise((resolve) => {
      this.#thaw = resolve;
    });
  }

  thaw(): void {
    this.#thaw();
  }

  /** Cuts what passes into pieces, until `join`. */
  split(pieceLengths: PieceLengths): void {
    this.#pieceLengths = pieceLengths;
  }

  join(): void {
    this.#pieceLengths = WHOLE;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#thaw();
    for (const link of this.#links) link.destroy();
    this.#server.close();
  }
}

function cut(chunk: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let rest = chunk;
  for (const length of lengths) {
    if (rest.length <= length) break;
    pieces.push(rest.subarray(0, length));
    rest = rest.subarray(length);
  }
  return [...pieces, rest];
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
