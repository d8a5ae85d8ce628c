// What a user's stop does to that which is being waited for. No listener outlives the wait: a run
// waits as often as it connects.

/** Null if the signal comes first; what is being waited for is then left to itself. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return (await unlessLate(work, signal, 0)) ?? null;
}

/** How long a user's stop waits for a reader that does not read, in ms. */
const LAST_WRITE_PATIENCE = 300;

/** Settles with the work, or some time after the user asked to stop. */
export async function withReaderPatience(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await unlessLate(work, signal, LAST_WRITE_PATIENCE);
}

/** Undefined if so many ms after the signal it is not done; it is then left to itself. */
export async function unlessLate<T>(
  work: Promise<T>,
  signal: AbortSignal,
  patience: number,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    onAbort = () => {
      timer = setTimeout(() => resolve(undefined), patience);
    };
  });
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort);
  return await Promise.race([work, late]).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  });
}
