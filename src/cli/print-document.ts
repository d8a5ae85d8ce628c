// Prints what a command has to say, however long it is and however slowly it is read.

import type { PgtailError } from '../errors.ts';
import type { OutputListener } from '../output/output.ts';
import { openStandardOutput } from '../output/standard-output.ts';

/**
 * Settles when it was taken whole, or nobody wants it any more: the reader has gone, or the user's
 * stop has come.
 * @throws PgtailError (output)
 */
export async function printDocument(text: string, signal: AbortSignal): Promise<void> {
  const bytes = Buffer.from(text);
  let settle: (failure?: PgtailError) => void = () => {};
  const over = new Promise<void>((resolve, reject) => {
    settle = (failure) => (failure === undefined ? resolve() : reject(failure));
  });
  let pending = (): number => bytes.length;
  const listener: OutputListener = {
    progressed: () => {
      if (pending() === 0) settle();
    },
    readerGone: () => settle(),
    returned: () => {},
    failed: (error) => settle(error),
  };
  const output = await openStandardOutput(listener);
  signal.addEventListener('abort', () => settle());
  output.write(bytes);
  pending = () => output.pending;
  if (output.pending === 0) settle();
  try {
    await over;
  } finally {
    output.close();
  }
}
