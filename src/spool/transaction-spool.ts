// The messages of one transaction in progress, kept in a private temporary file until it ends.

import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, PgtailError } from '../errors.ts';
import type { LsnWords } from '../wire/replication.ts';

/** Int32 length of the message, then the halves of its walStart. */
const RECORD_HEADER = 12;
const BLOCK_BYTES = 64 * 1024;

/** A message that was kept. Borrowed: valid until the next one is read. */
export interface SpooledMessage {
  readonly bytes: Buffer;
  readonly walStart: LsnWords;
}

/**
 * Append all, then read all, once. The file has no name any more when the first byte is written, so
 * nothing of it stays behind, however the program ends. A small transaction never gets a file.
 */
export class TransactionSpool {
  readonly #directory: string;
  #fd: number | undefined;
  #block: Buffer = Buffer.allocUnsafe(4096);
  #length = 0;
  #written = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** @throws PgtailError (exit code 8) if the file cannot be made or written. */
  append(message: Buffer, walStart: LsnWords): void {
    this.#reserve(RECORD_HEADER + message.length);
    const block = this.#block;
    block.writeUInt32BE(message.length, this.#length);
    block.writeUInt32BE(walStart.high, this.#length + 4);
    block.writeUInt32BE(walStart.low, this.#length + 8);
    message.copy(block, this.#length + RECORD_HEADER);
    this.#length += RECORD_HEADER + message.length;
    if (this.#length >= BLOCK_BYTES) this.#writeBlock();
  }

  /** All messages in the order they were appended. */
  *messages(): Generator<SpooledMessage> {
    const reader = new BlockReader(this.#fd, this.#written, this.#block.subarray(0, this.#length));
    const walStart = { high: 0, low: 0 };
    while (!reader.atEnd) {
      const header = reader.read(RECORD_HEADER);
      const length = header.readUInt32BE(0);
      walStart.high = header.readUInt32BE(4);
      walStart.low = header.readUInt32BE(8);
      yield { bytes: reader.read(length), walStart };
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#block.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#block.length * 2));
    this.#block.copy(grown, 0, 0, this.#length);
    this.#block = grown;
  }

  #writeBlock(): void {
    try {
      this.#fd ??= namelessFile(this.#directory);
      for (let at = 0; at < this.#length; ) {
        at += writeSync(this.#fd, this.#block, at, this.#length - at);
      }
    } catch (cause) {
      throw spoolFailure(this.#directory, cause);
    }
    this.#written += this.#length;
    this.#length = 0;
    // one large value must not stay in memory
    if (this.#block.length > 4 * BLOCK_BYTES) this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
  }
}

/** Reads the file's blocks, then what had not been written to it. */
class BlockReader {
  readonly #fd: number | undefined;
  #position = 0;
  #unread: number;
  readonly #rest: Buffer;
  #restTaken = false;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(fd: number | undefined, fileBytes: number, rest: Buffer) {
    this.#fd = fd;
    this.#unread = fileBytes;
    this.#rest = rest;
  }

  get atEnd(): boolean {
    return this.#at === this.#block.length && this.#unread === 0 && this.#restIsOver;
  }

  get #restIsOver(): boolean {
    return this.#restTaken || this.#rest.length === 0;
  }

  /** Records never straddle the file and the rest: a block is written at a record's end. */
  read(length: number): Buffer {
    if (this.#block.length - this.#at < length) this.#fill(length);
    const from = this.#at;
    this.#at += length;
    return this.#block.subarray(from, this.#at);
  }

  #fill(length: number): void {
    const left = this.#block.subarray(this.#at);
    if (this.#unread === 0) {
      this.#block = this.#rest;
      this.#restTaken = true;
    } else {
      this.#block = this.#readFile(left, Math.max(length, BLOCK_BYTES));
    }
    this.#at = 0;
  }

  #readFile(left: Buffer, wanted: number): Buffer {
    const block = Buffer.allocUnsafe(Math.min(wanted, left.length + this.#unread));
    left.copy(block);
    for (let at = left.length; at < block.length; ) {
      const count = readSync(this.#fd!, block, at, block.length - at, this.#position);
      if (count === 0) throw new PgtailError(EXIT.output, 'the spool file was cut short');
      at += count;
      this.#position += count;
      this.#unread -= count;
    }
    return block;
  }
}

/** A file that never has a name; Node does not know this flag of Linux. */
const O_TMPFILE = 0o20_000_000 | constants.O_DIRECTORY;

function namelessFile(directory: string): number {
  if (process.platform !== 'linux') return unlinkedFile(directory);
  try {
    return openSync(directory, constants.O_RDWR | O_TMPFILE, 0o600);
  } catch (error) {
    // not every file system has it
    const { code } = error as NodeJS.ErrnoException; // openSync throws nothing else
    if (code === 'EOPNOTSUPP' || code === 'EISDIR') return unlinkedFile(directory);
    throw error;
  }
}

/** Opened in a folder that nobody else can enter, and removed with it at once. */
function unlinkedFile(directory: string): number {
  const folder = mkdtempSync(join(directory, 'pgtail-spool-'));
  try {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
    return openSync(join(folder, 'transaction'), flags, 0o600);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function spoolFailure(directory: string, cause: unknown): PgtailError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  return new PgtailError(EXIT.output, `cannot keep a transaction in ${directory}: ${code}`, {
    hint: 'make room there, name another folder with TMPDIR, or use --streaming off',
    cause,
  });
}
