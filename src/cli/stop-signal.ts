// SIGINT, SIGTERM and SIGHUP: the first asks for a clean stop, the second ends at once.

import type { EventEmitter } from 'node:events';
import { EXIT } from '../errors.ts';
import { leaveClosedTerminals } from './closed-terminal.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function stopSignal(process: EventEmitter & { exit(code: number): never }): AbortSignal {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) {
      leaveClosedTerminals();
      process.exit(EXIT.secondSignal);
    }
    controller.abort();
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  return controller.signal;
}
