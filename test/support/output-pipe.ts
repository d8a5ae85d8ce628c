// A real pipe (Node gives its children sockets) whose reading end belongs to the test: nothing is
// read from it before the test says so.

import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

export class OutputPipe implements Disposable {
  /** For the child: its standard output. Closed by `handedOver`. */
  readonly writingEnd: number;
  readonly #readingEnd: number;
  readonly #folder: string;
  readonly #chunk = Buffer.alloc(64 * 1024);
  #open = true;
  #writable = true;
  #text = '';
  /** Bytes read so far. */
  length = 0;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'pgtail-pipe-'));
    const path = join(this.#folder, 'pipe');
    execFileSync('mkfifo', [path]);
    this.#readingEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.writingEnd = openSync(path, constants.O_WRONLY);
  }

  /** The child has it: from now on the pipe ends with the child. */
  handedOver(): void {
    if (this.#writable) closeSync(this.writingEnd);
    this.#writable = false;
  }

  /** What was read so far. */
  get text(): string {
    return this.#text;
  }

  /** Reads what is there now, at most `limit` bytes; false at the end of the pipe. */
  read(limit = Number.POSITIVE_INFINITY): boolean {
    for (let left = limit; left > 0; ) {
      const count = this.#readOnce(Math.min(left, this.#chunk.length));
      if (count === undefined) return true;
      if (count === 0) return false;
      this.#text += this.#chunk.toString('utf8', 0, count);
      this.length += count;
      left -= count;
    }
    return true;
  }

  /** Reads until the text matches. */
  async readUntil(pattern: RegExp): Promise<string> {
    await until(() => !this.read() || pattern.test(this.#text), { what: `${pattern} in the pipe` });
    return this.#text;
  }

  /** Reads until the writer is gone. */
  async readToEnd(timeout = 60_000): Promise<string> {
    await until(() => !this.read(), { what: 'the end of the pipe', timeout, interval: 1 });
    return this.#text;
  }

  /** The reader leaves. */
  close(): void {
    if (this.#open) closeSync(this.#readingEnd);
    this.#open = false;
  }

  [Symbol.dispose](): void {
    this.handedOver();
    this.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Undefined: nothing there yet. */
  #readOnce(count: number): number | undefined {
    try {
      return readSync(this.#readingEnd, this.#chunk, 0, count, null);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
      throw error;
    }
  }
}
