// `pgtail slots --watch`: looks again and again, and waits for a server that is away.

import { setTimeout as delay } from 'node:timers/promises';
import { isTransient, PgtailError } from '../errors.ts';
import type { SlotsReport } from '../slots/report.ts';
import { backoff } from '../tail/backoff.ts';
import { unlessAborted } from '../tail/stopping.ts';
import type { Inspection } from './inspection.ts';
import { openPicture, type SlotsPicture } from './slots-picture.ts';
import { WatchedServer } from './watched-server.ts';

/** A look that takes longer is worth a word: what is shown is not how it is now. In ms. */
const ANSWER_PATIENCE = 3000;
/** How often the word is renewed, in ms. */
const TICK = 1000;

/** Until the user's stop, or until nobody reads any more. `interval` is in ms. */
export async function watchSlots(inspection: Inspection, interval: number): Promise<void> {
  const server = new WatchedServer(inspection.options.connection);
  try {
    // what is wrong from the start is an error of its own, not one below an empty picture
    const first = await unlessAborted(server.slots(), inspection.signal);
    if (first === null) return;
    const picture = await openPicture(first, inspection);
    const stop = AbortSignal.any([inspection.signal, picture.gone]);
    await watch(server, picture, interval, stop).finally(() => picture.close());
  } finally {
    await server.close();
  }
}

async function watch(
  server: WatchedServer,
  picture: SlotsPicture,
  interval: number,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    const { attempts } = picture;
    const pause = attempts === 0 ? interval : backoff(attempts, Math.random);
    await unlessAborted(delay(pause), stop);
    if (stop.aborted) return;
    const found = await tellingOfSilence(picture, unlessAborted(slotsOrReason(server), stop));
    if (found instanceof PgtailError) picture.missed(found);
    else if (found !== null) picture.seen(found);
  }
}

/** A server that hangs refuses nothing: until the look is given up, which takes long, it just waits. */
async function tellingOfSilence<T>(picture: SlotsPicture, look: Promise<T>): Promise<T> {
  const begun = performance.now();
  const timer = setInterval(() => {
    const waited = performance.now() - begun;
    if (waited >= ANSWER_PATIENCE) picture.unanswered(waited);
  }, TICK);
  return await look.finally(() => clearInterval(timer));
}

/** @throws PgtailError what will not go away by itself */
async function slotsOrReason(server: WatchedServer): Promise<SlotsReport | PgtailError> {
  return await server.slots().catch((error: unknown) => {
    if (isTransient(error)) return error;
    throw error;
  });
}
