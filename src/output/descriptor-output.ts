// Terminals and files: written at once; a terminal that is stopped (Ctrl-S) is tried again later.

import { writeSync } from 'node:fs';
import { isReaderGone, type Output, type OutputListener, outputFailure } from './output.ts';

const FIRST_RETRY = 5;
const LONGEST_RETRY = 50;

export class DescriptorOutput implements Output {
  #fd: number;
  readonly #what: string;
  readonly #listener: OutputListener;
  #waiting: Buffer[] = [];
  #pending = 0;
  #written = 0;
  #retry: NodeJS.Timeout | undefined;
  #retryDelay = FIRST_RETRY;
  #closed = false;

  /** `fd` should be in non-blocking mode if it can block at all; `what` it is stands in errors. */
  constructor(fd: number, listener: OutputListener, what = 'standard output') {
    this.#fd = fd;
    this.#what = what;
    this.#listener = listener;
  }

  get pending(): number {
    return this.#pending;
  }

  get safe(): number {
    return this.#written;
  }

  write(block: Buffer): void {
    if (this.#closed) return;
    this.#waiting.push(block);
    this.#pending += block.length;
    if (this.#retry === undefined) this.#drain();
  }

  confirmAccepted(): void {}

  /** What comes from now on goes there. Returns the descriptor used before. */
  moveTo(fd: number): number {
    const before = this.#fd;
    this.#fd = fd;
    return before;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
  }

  #drain(): void {
    this.#retry = undefined;
    try {
      while (this.#waiting.length > 0) this.#writeFirst();
    } catch (error) {
      return this.#stopped(error as NodeJS.ErrnoException); // writeSync throws nothing else
    }
    this.#listener.progressed();
  }

  #writeFirst(): void {
    const block = this.#waiting[0]!;
    const count = writeSync(this.#fd, block);
    this.#written += count;
    this.#pending -= count;
    this.#retryDelay = FIRST_RETRY;
    if (count === block.length) {
      this.#waiting.shift();
      this.#listener.returned(block);
    } else this.#waiting[0] = block.subarray(count);
  }

  #stopped(error: NodeJS.ErrnoException): void {
    if (error.code === 'EAGAIN') {
      this.#retry = setTimeout(() => this.#drain(), this.#retryDelay);
      this.#retryDelay = Math.min(this.#retryDelay * 2, LONGEST_RETRY);
      return this.#listener.progressed();
    }
    this.close();
    // a terminal that was closed answers EIO
    if (isReaderGone(error.code)) this.#listener.readerGone();
    else this.#listener.failed(outputFailure(error, this.#what));
  }
}
