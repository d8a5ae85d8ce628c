// A running program whose output is watched: when a text arrives is told by our own clock.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { plainEnvironment } from './measured-run.ts';

export class LiveOutput {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #text = '';
  #errors = '';
  #wanted: { readonly text: string; readonly arrived: (at: number) => void } | undefined;

  constructor(command: readonly string[]) {
    const [program = '', ...args] = command;
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: plainEnvironment(),
    });
    this.#child = child;
    this.#ended = once(child, 'close');
    this.#ended.catch(() => {}); // told by whoever waits for a text
    watch(child.stdout, (text) => this.#received(text));
    watch(child.stderr, (text) => {
      this.#errors += text;
    });
  }

  /**
   * `performance.now()` of the moment when the text arrived. Only what comes after the call counts,
   * so ask before it can come. Ask for one at a time.
   */
  async arrival(text: string): Promise<number> {
    this.#text = '';
    const arrived = new Promise<number>((resolve) => {
      this.#wanted = { text, arrived: resolve };
    });
    const ended = this.#ended.then(() => {
      throw new Error(
        `${this.#child.spawnargs.join(' ')}\nended without "${text}": ${this.#errors}`,
      );
    });
    return await Promise.race([arrived, ended]);
  }

  /** As Ctrl-C does, and waits for its end. */
  async stop(): Promise<void> {
    this.#child.kill('SIGINT');
    await this.#ended;
  }

  /** Waits until it ends by itself. */
  async ended(): Promise<void> {
    await this.#ended;
  }

  #received(text: string): void {
    if (this.#wanted === undefined) return;
    this.#text += text;
    if (!this.#text.includes(this.#wanted.text)) return;
    const { arrived } = this.#wanted;
    this.#wanted = undefined;
    arrived(performance.now());
  }
}

/** In latin1: the bytes of raw pgoutput are no UTF-8. */
function watch(stream: Readable, receive: (text: string) => void): void {
  stream.setEncoding('latin1').on('data', receive);
}
