// Keeps pgtail running, as a service manager does: a process that ended is followed by another one.

import { type PgtailProcess, type PgtailResult, startPgtail } from '../support/pgtail.ts';
import { until } from '../support/until.ts';
import type { DeliveredOutput } from './outputs.ts';

/** Longer than any run. */
const DEADLINE = 3_600_000;
const STARTED = /^pgtail: publications? /m;

export interface SupervisedOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly output: DeliveredOutput;
  /** Called before each start. */
  readonly onStart: () => void;
}

export class SupervisedTail implements AsyncDisposable {
  readonly #options: SupervisedOptions;
  #child!: PgtailProcess; // set by start
  #wanted = false;
  #starts = 0;
  /** Ends that should not have been. */
  readonly problems: string[] = [];

  constructor(options: SupervisedOptions) {
    this.#options = options;
  }

  get starts(): number {
    return this.#starts;
  }

  get stderr(): string {
    return this.#child.stderr;
  }

  /** Its process streams, or has streamed. */
  get hasStarted(): boolean {
    return STARTED.test(this.#child.stderr);
  }

  start(): void {
    const { args, env, output, onStart } = this.#options;
    this.#wanted = true;
    this.#starts++;
    onStart();
    const stdout = output.next();
    this.#child = startPgtail(['-v', ...args, ...output.args], {
      env: { ...env, ...output.env },
      deadline: DEADLINE,
      ...(stdout === undefined ? {} : { stdout }),
    });
    output.handedOver();
    void this.#startAgain(this.#child);
  }

  /** Resolves when a process streams. */
  async started(timeout: number): Promise<void> {
    await until(() => this.hasStarted, { timeout, what: 'pgtail to start' });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it, and starts no other. */
  async end(signal: NodeJS.Signals): Promise<PgtailResult> {
    this.#wanted = false;
    const child = this.#child;
    child.kill(signal);
    const result = await child.exited;
    const isClean = result.code === 0 || result.signal === signal;
    if (!isClean) this.#checkEnd(result);
    if (result.signal !== null && signal !== 'SIGKILL' && STARTED.test(result.stderr)) {
      this.problems.push(`${signal} did not stop it cleanly`);
    }
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wanted = false;
    await this.#child?.[Symbol.asyncDispose]();
  }

  async #startAgain(child: PgtailProcess): Promise<void> {
    const result = await child.exited;
    if (!this.#wanted) return;
    this.#checkEnd(result);
    this.start();
  }

  /** Before the stream has started nothing is tried again: that is for whoever starts it. */
  #checkEnd({ code, signal, stderr }: PgtailResult): void {
    if (code === 5 || !STARTED.test(stderr)) {
      if (code === null || [0, 1, 3, 5].includes(code)) return;
    }
    this.problems.push(`pgtail ended with ${code ?? signal}: ${stderr.slice(-500)}`);
  }
}
