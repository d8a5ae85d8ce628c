// What pgtail delivers to: a file with those that were rotated away before it, or a pipe for each
// process, whose reader reads as fast as it can unless it is told to stop.

import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OutputPipe } from '../support/output-pipe.ts';
import { highestEnd } from './units.ts';

export interface DeliveredOutput extends Disposable {
  readonly kind: 'file' | 'pipe';
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** For a new process, its standard output. */
  readonly next: () => number | undefined;
  /** The process has what `next` gave. */
  readonly handedOver: () => void;
  /** Bytes that arrived; after a rotation those of the new file. */
  readonly size: () => number;
  /** The highest end of a unit that arrived. */
  readonly position: () => bigint;
  /** All that arrived: one text each file or process, in order. */
  readonly texts: () => readonly string[];
}

const RECORD_SYNCS = fileURLToPath(new URL('./record-syncs.cjs', import.meta.url));
/** Read at once from a file's end, at first. */
const TAIL_BYTES = 64 * 1024;

export class FileOutput implements DeliveredOutput {
  readonly kind = 'file';
  readonly path: string;
  readonly rotates: boolean;

  constructor(path: string, rotates: boolean) {
    this.path = path;
    this.rotates = rotates;
  }

  get args(): readonly string[] {
    const rotating = this.rotates ? ['--rotate-size', '300k'] : [];
    return ['-f', this.path, '--fsync-interval', '0.1', ...rotating];
  }

  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--require ${RECORD_SYNCS}`, SYNC_NOTES: this.#notes };
  }

  get #notes(): string {
    return join(dirname(this.path), 'syncs');
  }

  size(): number {
    return existsSync(this.path) ? statSync(this.path).size : 0;
  }

  next(): undefined {}

  handedOver(): void {}

  /** A new file begins empty: then the one before it tells. */
  position(): bigint {
    for (const path of this.#paths().reverse()) {
      const end = endOfFile(path);
      if (end > 0n) return end;
    }
    return 0n;
  }

  texts(): readonly string[] {
    return this.#paths().map((path) => readFileSync(path, 'utf8'));
  }

  /** As logrotate does: the highest number is the newest. False: there is no file to rename. */
  rename(): boolean {
    if (!existsSync(this.path)) return false;
    renameSync(this.path, `${this.path}.${(this.#numbers().at(-1) ?? 0) + 1}`);
    return true;
  }

  /**
   * What a power cut may leave: all that is synced, and of the rest a part, with zeros in the place
   * of what is missing. `keepShare` is from 0 to 1.
   */
  tear(keepShare: number, withZeros: boolean): void {
    if (!existsSync(this.path)) return;
    const { size, ino } = statSync(this.path);
    const synced = this.#synced(ino);
    if (synced === undefined || synced >= size) return;
    truncateSync(this.path, synced + Math.floor((size - synced) * keepShare));
    if (withZeros) truncateSync(this.path, size);
  }

  [Symbol.dispose](): void {}

  /** Undefined: nothing of it was ever synced. */
  #synced(ino: number): number | undefined {
    let synced: number | undefined;
    for (const line of readFileSync(this.#notes, 'utf8').split('\n')) {
      const [, own, limit, size] = /^(\d+) (at most )?(\d+)$/.exec(line) ?? [];
      if (Number(own) !== ino) continue;
      const bytes = Number(size);
      synced = limit === undefined ? bytes : Math.min(synced ?? 0, bytes);
    }
    return synced;
  }

  #paths(): string[] {
    const rotated = this.#numbers().map((number) => `${this.path}.${number}`);
    return existsSync(this.path) ? [...rotated, this.path] : rotated;
  }

  #numbers(): number[] {
    const prefix = `${basename(this.path)}.`;
    return readdirSync(dirname(this.path))
      .filter((name) => name.startsWith(prefix))
      .map((name) => Number(name.slice(prefix.length)))
      .sort((a, b) => a - b);
  }
}

/** The highest of its last units; 0 if there is none, or no such file any more. */
function endOfFile(path: string): bigint {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0n; // renamed just now
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    for (let length = TAIL_BYTES; ; length *= 8) {
      const start = Math.max(0, size - length);
      const bytes = Buffer.alloc(size - start);
      const count = readSync(fd, bytes, 0, bytes.length, start);
      const text = bytes.toString('latin1', 0, count);
      const end = highestEnd(start === 0 ? text : text.slice(text.indexOf('\n') + 1));
      if (end > 0n || start === 0) return end;
    }
  } finally {
    closeSync(fd);
  }
}

/** How often the pipes are read, in ms. */
const READ_INTERVAL = 5;

export class PipeOutputs implements DeliveredOutput {
  readonly kind = 'pipe';
  readonly args = ['--status-interval', '0.5'];
  readonly env = {};
  readonly #pipes: OutputPipe[] = [];
  readonly #timer = setInterval(() => this.#read(), READ_INTERVAL);
  /** Of each pipe, how far its text was looked at. */
  readonly #seen: number[] = [];
  #position = 0n;
  #reads = true;

  next(): number {
    const pipe = new OutputPipe();
    this.#pipes.push(pipe);
    return pipe.writingEnd;
  }

  handedOver(): void {
    this.#pipes.at(-1)!.handedOver();
  }

  size(): number {
    return this.#pipes.reduce((sum, pipe) => sum + pipe.length, 0);
  }

  stopReading(): void {
    this.#reads = false;
  }

  readOn(): void {
    this.#reads = true;
  }

  position(): bigint {
    for (const [i, pipe] of this.#pipes.entries()) {
      pipe.read();
      const fresh = pipe.text.slice(this.#seen[i] ?? 0);
      this.#seen[i] = (this.#seen[i] ?? 0) + fresh.lastIndexOf('\n') + 1;
      const end = highestEnd(fresh);
      if (end > this.#position) this.#position = end;
    }
    return this.#position;
  }

  texts(): readonly string[] {
    return this.#pipes.map((pipe) => {
      pipe.read();
      return pipe.text;
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const pipe of this.#pipes) pipe[Symbol.dispose]();
  }

  #read(): void {
    if (this.#reads) for (const pipe of this.#pipes) pipe.read();
  }
}
