// Where the looks of `--watch` go: drawn in place on a terminal, elsewhere one after the other.

import type { PgtailError } from '../errors.ts';
import { openStandardOutput } from '../output/standard-output.ts';
import { ENTER_SCREEN, LEAVE_SCREEN, screenFrame } from '../terminal/live-screen.ts';

export interface RepeatedOutput {
  /** Lines without their ends. Left out if the reader has not taken the last ones yet. */
  show(lines: readonly string[]): void;
  /** Nobody reads any more. */
  readonly gone: AbortSignal;
  /** @throws PgtailError if it could not be written */
  close(): void;
}

/** `onResize`: the same is to be drawn again. */
export function openScreen(onResize: () => void): RepeatedOutput {
  const { stdout } = process;
  const gone = new AbortController();
  const onError = (): void => gone.abort(); // the terminal was closed
  stdout.on('error', onError);
  stdout.on('resize', onResize);
  stdout.write(ENTER_SCREEN);
  return {
    gone: gone.signal,
    show: (lines) => void stdout.write(screenFrame(lines, stdout.rows || DEFAULT_ROWS)),
    close() {
      stdout.off('resize', onResize);
      stdout.write(LEAVE_SCREEN);
    },
  };
}

const DEFAULT_ROWS = 24;

export async function openLines(): Promise<RepeatedOutput> {
  const gone = new AbortController();
  let failure: PgtailError | undefined;
  const output = await openStandardOutput({
    progressed: () => {},
    readerGone: () => gone.abort(),
    returned: () => {},
    failed(error) {
      failure = error;
      gone.abort();
    },
  });
  return {
    gone: gone.signal,
    show(lines) {
      if (output.pending === 0) output.write(Buffer.from(`${lines.join('\n')}\n`));
    },
    close() {
      output.close();
      if (failure !== undefined) throw failure;
    },
  };
}
