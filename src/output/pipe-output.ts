// Pipes and sockets: written without ever blocking the event loop, so that status updates go on
// while nobody reads.

import { Socket } from 'node:net';
import {
  isReaderGone,
  type Output,
  type OutputListener,
  outputFailure,
  PIPE_CAPACITY,
} from './output.ts';

export class PipeOutput implements Output {
  readonly #socket: Socket;
  #pending = 0;
  #accepted = 0;
  #confirmed = 0;
  #gone = false;

  /** The descriptor is put into non-blocking mode, and belongs to this object from now on. */
  constructor(fd: number, listener: OutputListener) {
    this.#socket = new Socket({ fd, readable: false, writable: true });
    this.#listener = listener;
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      if (this.#gone) return;
      this.#gone = true;
      if (isReaderGone(error.code)) listener.readerGone();
      else listener.failed(outputFailure(error));
    });
  }

  readonly #listener: OutputListener;

  get pending(): number {
    return this.#pending;
  }

  get safe(): number {
    return Math.max(this.#confirmed, this.#accepted - PIPE_CAPACITY);
  }

  write(block: Buffer): void {
    if (this.#gone) return;
    this.#pending += block.length;
    this.#socket.write(block, (error) => {
      if (error || this.#gone) return;
      this.#pending -= block.length;
      this.#accepted += block.length;
      this.#listener.progressed();
    });
  }

  confirmAccepted(): void {
    if (!this.#gone) this.#confirmed = this.#accepted;
  }

  /** The reader closed its end, as the reader watch saw it. */
  readerGone(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#listener.readerGone();
  }

  close(): void {
    this.#gone = true;
    this.#socket.destroy();
  }
}
