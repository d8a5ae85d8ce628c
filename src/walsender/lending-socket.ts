// A socket that reads into the same memory again and again.

import { Socket } from 'node:net';

/** What one read can bring: a Unix socket holds about 200 KB. */
const READ_BYTES = 256 * 1024;

/**
 * Node makes 64 KB of new memory for each read, and cuts it down to what came. Here chunks are
 * copied at first, as they would be, and lent once somebody says that they are not kept.
 */
export class LendingSocket extends Socket {
  /** Chunks are valid until the listeners of `data` have returned. */
  lends = false;

  constructor() {
    const onread = {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (count: number, buffer: Uint8Array): boolean => {
        const chunk = Buffer.from(buffer.buffer, 0, count);
        this.emit('data', this.lends ? chunk : Buffer.from(chunk));
        return true;
      },
    };
    // connect() takes it too, but pg gives that a port and a host only
    super({ onread } as object);
  }
}
