// Where units end in the stream: where the file may be cut, renamed, or ended.

import type { Lsn } from '../../lsn.ts';

export interface Boundary {
  /** In the stream. */
  readonly offset: number;
  /** The highest end of a unit so far. */
  readonly lsn: Lsn;
  /** The same, of those that left lines in the file. */
  readonly fileLsn: Lsn;
}

/** Pure: it is told what ended and what was written. */
export class UnitEnds {
  #latest: Boundary;
  #written: Boundary;
  /** Behind `written`, in order. */
  #ahead: Boundary[] = [];

  constructor(start: Boundary) {
    this.#latest = start;
    this.#written = start;
  }

  /** The last one of all. */
  get latest(): Boundary {
    return this.#latest;
  }

  /** The last one that is written. */
  get written(): Boundary {
    return this.#written;
  }

  /**
   * A unit ended at `lsn`, with the bytes before `offset`. One that ends before another that came
   * earlier is a prepared transaction that its COMMIT PREPARED brings again: see last-unit.ts. It
   * is no boundary; that is the end of the COMMIT PREPARED, which follows at once.
   */
  ended(lsn: Lsn, offset: number): void {
    const { latest } = this;
    if (lsn <= latest.lsn) return;
    const hasLines = offset > latest.offset;
    this.#add({ offset, lsn, fileLsn: hasLines ? lsn : latest.fileLsn });
  }

  /** What comes at `offset` follows the last boundary directly: everything between is void. */
  cutTo(offset: number): void {
    this.#add({ ...this.#latest, offset });
  }

  /** The file has everything before `offset`. */
  wroteTo(offset: number): void {
    let count = 0;
    while (count < this.#ahead.length && this.#ahead[count]!.offset <= offset) count++;
    if (count === 0) return;
    this.#written = this.#ahead[count - 1]!;
    this.#ahead = this.#ahead.slice(count);
  }

  /** The offset of the first boundary at or behind `offset` that is not written yet. */
  nextFrom(offset: number): number | undefined {
    return this.#ahead.find((boundary) => boundary.offset >= offset)?.offset;
  }

  #add(boundary: Boundary): void {
    this.#latest = boundary;
    if (boundary.offset === this.#written.offset) this.#written = boundary;
    else if (this.#ahead.at(-1)?.offset === boundary.offset) this.#ahead.splice(-1, 1, boundary);
    else this.#ahead.push(boundary);
  }
}
