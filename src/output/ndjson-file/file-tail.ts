// Reads a file from its end backwards, in blocks: never more of it than is asked for.

import { FileChanged } from './failure.ts';
import type { FileSystem } from './file-system.ts';

const DEFAULT_BLOCK_BYTES = 256 * 1024;

interface Block {
  readonly start: number;
  readonly bytes: Buffer;
}

export interface FileTailOptions {
  readonly files: FileSystem;
  readonly fd: number;
  readonly path: string;
  readonly size: number;
  readonly blockBytes?: number | undefined;
}

export class FileTail {
  readonly size: number;
  readonly #files: FileSystem;
  readonly #fd: number;
  readonly #path: string;
  readonly #blockBytes: number;
  #block: Block = { start: 0, bytes: Buffer.alloc(0) };

  constructor({ files, fd, path, size, blockBytes = DEFAULT_BLOCK_BYTES }: FileTailOptions) {
    this.size = size;
    this.#files = files;
    this.#fd = fd;
    this.#path = path;
    this.#blockBytes = blockBytes;
  }

  /** Where the last `byte` before `end` stands, or -1. */
  lastIndexOf(byte: number, end: number): number {
    while (end > 0) {
      const { start, bytes } = this.#blockBefore(end);
      const index = bytes.lastIndexOf(byte, end - start - 1);
      if (index !== -1) return start + index;
      end = start;
    }
    return -1;
  }

  /** Where the last `text` starts that starts before `end`, or -1. */
  lastIndexOfText(text: Buffer, end: number): number {
    while (end > 0) {
      const start = Math.max(0, end - this.#blockBytes);
      // a text that straddles the border belongs to the block it starts in
      const bytes = this.read(start, Math.min(end + text.length - 1, this.size));
      const index = bytes.lastIndexOf(text);
      if (index !== -1) return start + index;
      end = start;
    }
    return -1;
  }

  /** The size without what follows a zero byte that stands within the last `window` bytes. */
  endBeforeZeros(window: number): number {
    let sound = this.size;
    for (let end = this.size; end > 0; ) {
      const { start, bytes } = this.#blockBefore(end);
      const zero = bytes.subarray(0, end - start).indexOf(0);
      if (zero !== -1) sound = start + zero;
      else if (this.size - start >= window) break;
      end = start;
    }
    return sound;
  }

  /** Borrowed: valid until the next call. */
  read(start: number, end: number): Buffer {
    const { start: blockStart, bytes } = this.#block;
    if (start >= blockStart && end <= blockStart + bytes.length) {
      return bytes.subarray(start - blockStart, end - blockStart);
    }
    return this.#readFile(start, end);
  }

  #blockBefore(end: number): Block {
    const { start, bytes } = this.#block;
    if (start < end && end <= start + bytes.length) return this.#block;
    const from = Math.max(0, end - this.#blockBytes);
    this.#block = { start: from, bytes: this.#readFile(from, end) };
    return this.#block;
  }

  #readFile(start: number, end: number): Buffer {
    const bytes = Buffer.allocUnsafe(end - start);
    for (let at = 0; at < bytes.length; ) {
      const count = this.#files.read(this.#fd, bytes.subarray(at), start + at);
      if (count === 0) throw new FileChanged(this.#path); // it was cut short meanwhile
      at += count;
    }
    return bytes;
  }
}
