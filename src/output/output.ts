// Where the lines go, and what of them has arrived: the interface of every kind of output.

import { EXIT, PgtailError } from '../errors.ts';

export interface OutputListener {
  /** More bytes were accepted, or became safe, since the last call. */
  progressed(): void;
  /** The reader closed its end: nothing more can be delivered, and that is no error. */
  readerGone(): void;
  /** This block is not needed any more: its memory may be used again. */
  returned(block: Buffer): void;
  failed(error: PgtailError): void;
}

export interface Output {
  /** Takes over a block. It may be kept in memory: see `pending`. */
  write(block: Buffer): void;
  /** Bytes taken over and not accepted by the receiving side yet. */
  readonly pending: number;
  /**
   * Everything before this offset of the stream may be acknowledged: on a terminal and in a file
   * what was written, on a pipe what was accepted 64 KiB ago.
   */
  readonly safe: number;
  /** The reader is there: what a pipe has accepted counts as safe. Does nothing if it is not. */
  confirmAccepted(): void;
  /** Stops watching and writing. */
  close(): void;
}

/** A pipe holds this much that nobody has read yet. */
export const PIPE_CAPACITY = 64 * 1024;

export const isReaderGone = (code: string | undefined): boolean =>
  code === 'EPIPE' || code === 'ECONNRESET';

/** `what` was being written. */
export function outputFailure(error: NodeJS.ErrnoException, what = 'standard output'): PgtailError {
  const reasons: Readonly<Record<string, string>> = {
    ENOSPC: 'no space left on the device',
    EIO: 'input/output error',
    EFBIG: 'the file is too large',
    EDQUOT: 'disk quota exceeded',
    EBADF: 'it is closed',
  };
  const reason = reasons[error.code ?? ''] ?? error.message;
  return new PgtailError(EXIT.output, `cannot write to ${what}: ${reason}`, {
    hint: 'nothing unwritten was acknowledged: mend it and start again',
    cause: error,
  });
}
