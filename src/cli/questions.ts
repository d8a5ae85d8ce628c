// Questions to whoever sits at the terminal: asked on standard error, answered on standard input.

import { createInterface } from 'node:readline';
import { isatty } from 'node:tty';
import { unlessAborted } from '../tail/stopping.ts';
import { safeText } from '../terminal/safe-text.ts';

const STDIN = 0;
const STDERR = 2;

export const canAsk = (): boolean => isatty(STDIN) && isatty(STDERR);

/** Open from the first question to the last, so that an answer may be typed ahead. */
export class Questions implements Disposable {
  readonly #signal: AbortSignal;
  readonly #interface;
  readonly #lines: AsyncIterator<string>;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    // the terminal's own line editing leaves Ctrl-C to the signal
    this.#interface = createInterface({ input: process.stdin, terminal: false });
    this.#lines = this.#interface[Symbol.asyncIterator]();
  }

  /** Anything but a clear yes is a no; so are the end of the input and the user's stop. */
  async confirm(question: string): Promise<boolean> {
    process.stderr.write(`pgtail: ${safeText(question)} [y/N] `);
    const line = await unlessAborted(this.#lines.next(), this.#signal);
    if (line !== null && line.done !== true) return /^y(es)?$/i.test(line.value.trim());
    process.stderr.write('\n');
    return false;
  }

  [Symbol.dispose](): void {
    this.#interface.close();
  }
}
