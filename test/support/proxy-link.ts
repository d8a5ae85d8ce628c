// One connection through a proxy: the bytes of both sides on their way to the other one.

import type { Socket } from 'node:net';

/** What happens to bytes on their way. */
export interface Network {
  /** Settles when bytes get through. */
  readonly passable: () => Promise<void>;
  /** What a chunk is sent as, one piece after the other. */
  readonly pieces: (chunk: Buffer) => readonly Buffer[];
}

/** Throws to reset the connection. */
export type Rewrite = (chunk: Buffer) => Buffer;

/** What becomes of bytes, by where they go. */
export interface Rewriting {
  readonly toServer: Rewrite;
  readonly toClient: Rewrite;
}

export class ProxyLink {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #network: Network;
  #swallows = false;

  /** The sockets are open, or about to be, and stay open when the other end closes. */
  constructor(client: Socket, upstream: Socket, network: Network, rewriting: Rewriting) {
    this.#client = client;
    this.#upstream = upstream;
    this.#network = network;
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true); // else pieces would be joined again
      socket.on('error', () => {}); // told by the loop below
    }
    void this.#carry(client, upstream, rewriting.toServer);
    void this.#carry(upstream, client, rewriting.toClient);
  }

  get isOpen(): boolean {
    return !this.#client.destroyed || !this.#upstream.destroyed;
  }

  /** From now on nothing arrives on the other side, ends included. */
  swallow(): void {
    this.#swallows = true;
  }

  /** Both sides see the other one close its end. */
  end(): void {
    this.#swallows = true;
    this.#client.end();
    this.#upstream.end();
  }

  /** Both sides see the connection fail. */
  reset(): void {
    this.#client.resetAndDestroy();
    this.#upstream.resetAndDestroy();
  }

  destroy(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  async #carry(from: Socket, to: Socket, rewrite: Rewrite): Promise<void> {
    try {
      for await (const chunk of from.iterator({ destroyOnReturn: false })) {
        await this.#network.passable();
        await this.#send(to, rewrite(chunk as Buffer)); // no encoding is set
      }
      await this.#network.passable();
      if (!this.#swallows) to.end();
    } catch {
      if (!this.#swallows) this.reset();
    }
  }

  /** Waits until the system has taken it: whoever does not read holds up the other side. */
  async #send(to: Socket, bytes: Buffer): Promise<void> {
    const pieces = this.#network.pieces(bytes);
    for (const [i, piece] of pieces.entries()) {
      if (i > 0) await new Promise(setImmediate); // let the other side read it alone
      if (this.#swallows) return;
      if (piece.length > 0) await written(to, piece);
    }
  }
}

const written = (socket: Socket, bytes: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
