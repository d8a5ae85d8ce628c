// From offsets of the stream to bytes of the file: the stream's go on growing over cuts, headers
// and new files.

/** Valid for stream offsets from the last `goesOn` on. */
export class FilePlace {
  #stream: number;
  #file: number;

  constructor(stream: number, file: number) {
    this.#stream = stream;
    this.#file = file;
  }

  /** The stream offset from which on the file's bytes are those of the stream. */
  get begin(): number {
    return this.#stream;
  }

  /** Where in the file the byte at this offset of the stream stands. */
  of(stream: number): number {
    if (stream < this.#stream) throw new RangeError(`offset ${stream} is in no file any more`);
    return this.#file + (stream - this.#stream);
  }

  /** What comes at offset `stream` of the stream is written at offset `file` of the file. */
  goesOn(stream: number, file: number): void {
    this.#stream = stream;
    this.#file = file;
  }
}
