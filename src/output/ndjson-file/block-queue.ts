// The blocks that wait to be written, as one row of bytes.

interface Waiting {
  /** In the stream. */
  readonly start: number;
  readonly bytes: Buffer;
}

export class BlockQueue {
  #blocks: Waiting[] = [];
  #length = 0;

  /** All bytes that wait. */
  get length(): number {
    return this.#length;
  }

  /** `start` is the block's offset in the stream. */
  push(start: number, bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#blocks.push({ start, bytes });
    this.#length += bytes.length;
  }

  /**
   * Takes the first bytes before `limit`, at most `most`: small blocks are joined. The caller owns
   * them: what is left of a block lies elsewhere.
   */
  take(limit: number, most: number): Buffer {
    const parts: Buffer[] = [];
    let room = most;
    let isCut = false;
    for (let first = this.#blocks[0]; first !== undefined && room > 0; first = this.#blocks[0]) {
      const count = Math.min(first.bytes.length, limit - first.start, room);
      if (count <= 0) break;
      parts.push(first.bytes.subarray(0, count));
      isCut = count < first.bytes.length;
      room -= count;
      this.#takeOffFirst(first, count);
    }
    return parts.length === 1 && !isCut ? parts[0]! : Buffer.concat(parts);
  }

  /** Forgets everything from this offset of the stream on. */
  dropFrom(offset: number): void {
    const kept = this.#blocks.flatMap(({ start, bytes }) => {
      return start < offset ? [{ start, bytes: bytes.subarray(0, offset - start) }] : [];
    });
    this.#blocks = kept;
    this.#length = kept.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  #takeOffFirst({ start, bytes }: Waiting, count: number): void {
    this.#length -= count;
    if (count === bytes.length) this.#blocks.shift();
    else this.#blocks[0] = { start: start + count, bytes: bytes.subarray(count) };
  }
}
