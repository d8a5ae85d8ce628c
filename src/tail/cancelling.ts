// A user's stop while the server works on something that leaves traces, such as making a slot: it is
// asked to give it up.

import { unlessLate } from './stopping.ts';

const CANCEL_INTERVAL = 200;
/** How long a stop waits for what was asked to be given up, in ms. */
const CANCEL_PATIENCE = 600;

/** Null if the user stopped meanwhile; what was about to be made is then not made. */
export async function unlessCancelled<T>(
  session: { cancel(): void },
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T | null> {
  let again: NodeJS.Timeout | undefined;
  // repeated: the first request may come before the server has begun what is to be cancelled
  const cancel = (): void => {
    session.cancel();
    again = setInterval(() => session.cancel(), CANCEL_INTERVAL);
  };
  signal.addEventListener('abort', cancel);
  try {
    const done = await unlessLate(work, signal, CANCEL_PATIENCE);
    return signal.aborted || done === undefined ? null : done;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    clearInterval(again);
  }
}
