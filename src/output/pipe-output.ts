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

/** What a pipe took of a block is known this exactly. */
const PIECE = 16 * 1024;

export class PipeOutput implements Output {
  /** Called when this is closed: ends what watches the reader. */
  endWatch: () => void = () => {};
  readonly #socket: Socket;
  readonly #listener: OutputListener;
  /** Blocks not accepted yet; of the first one, what is left of it. */
  readonly #waiting: Buffer[] = [];
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

  get pending(): number {
    return this.#pending;
  }

  get safe(): number {
    return Math.max(this.#confirmed, this.#accepted - PIPE_CAPACITY);
  }

  write(block: Buffer): void {
    if (this.#gone) return;
    this.#pending += block.length;
    const isIdle = this.#waiting.length === 0;
    this.#waiting.push(block);
    if (isIdle) this.#writePiece();
  }

  /** One at a time: Node writes what waits in it as a whole, and reports it as a whole. */
  #writePiece(): void {
    const block = this.#waiting[0];
    if (block === undefined || this.#gone) return;
    const piece = block.subarray(0, PIECE);
    this.#socket.write(piece, (error) => {
      if (error || this.#gone) return;
      this.#accept(block, piece.length);
      this.#writePiece();
      this.#listener.progressed();
    });
  }

  #accept(block: Buffer, count: number): void {
    this.#pending -= count;
    this.#accepted += count;
    if (count < block.length) this.#waiting[0] = block.subarray(count);
    else {
      this.#waiting.shift();
      this.#listener.returned(block);
    }
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
    this.endWatch();
    this.#socket.destroy();
  }
}
