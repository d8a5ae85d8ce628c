// Runs the real program as a child process, and waits for what it prints instead of for a time.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const PGTAIL = fileURLToPath(new URL('../../bin/pgtail.js', import.meta.url));

/** How a child ended and all it printed. */
export interface PgtailResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface PgtailOptions {
  /** Added to an environment without PG*, PGTAIL_*, a password file or colour variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** A descriptor to be its standard output; else what it prints is collected. */
  readonly stdout?: number;
  /** Milliseconds until the child is killed and the test fails. */
  readonly deadline?: number;
  readonly uid?: number;
  readonly cwd?: string;
}

const DEADLINE = 60_000;

/** Nothing of the machine that runs the tests shows through. */
export function cleanEnvironment(
  added: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH, HOME: '/nonexistent', LC_ALL: 'C.UTF-8', ...added };
}

export class PgtailProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<PgtailResult>;
  readonly #deadline: number;
  #stdout = '';
  #stderr = '';

  /** `file` may be a wrapper, such as a shell that builds a pipe. */
  constructor(file: string, args: readonly string[], options: PgtailOptions = {}) {
    const { env, stdout = 'pipe', deadline = DEADLINE, uid, cwd } = options;
    this.#deadline = deadline;
    this.#child = spawn(file, args, {
      stdio: ['ignore', stdout, 'pipe'],
      env: cleanEnvironment(env),
      ...(uid === undefined ? {} : { uid, gid: uid }),
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#exited = this.#untilExit();
    this.#exited.catch(() => {}); // whoever awaits it handles it
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves when it has ended and all it printed has arrived. */
  get exited(): Promise<PgtailResult> {
    return this.#exited;
  }

  /** The stream has started: everything committed from now on arrives. */
  started(): Promise<string> {
    return this.notice(/^pgtail: publications? .*/m);
  }

  /** It has lost its connection, and goes on with another one. */
  reconnected(): Promise<string> {
    return this.notice(/^pgtail: connected again.*$/m);
  }

  /** The first match in what it printed on standard output, now or later. */
  output(pattern: RegExp): Promise<string> {
    return this.#match('stdout', pattern);
  }

  notice(pattern: RegExp): Promise<string> {
    return this.#match('stderr', pattern);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends the signal and waits for the end. */
  stop(signal: NodeJS.Signals = 'SIGINT'): Promise<PgtailResult> {
    this.kill(signal);
    return this.#exited;
  }

  /** Stops reading what it prints. */
  pauseReading(): void {
    this.#child.stdout?.pause();
  }

  resumeReading(): void {
    this.#child.stdout?.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.kill('SIGKILL');
    await this.#exited.catch(() => {});
  }

  async #match(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string> {
    const source = this.#child[stream];
    for (;;) {
      const match = pattern.exec(stream === 'stdout' ? this.#stdout : this.#stderr);
      if (match !== null) return match[0];
      if (source === null || source.readableEnded) throw this.#inVain(pattern);
      await this.#nextFrom(source);
    }
  }

  /** More was printed, or nothing more will be. */
  async #nextFrom(source: Readable): Promise<void> {
    const waiting = new AbortController();
    const { signal } = waiting;
    try {
      await Promise.race([
        once(source, 'data', { signal }),
        once(source, 'close', { signal }),
        this.#exited,
      ]);
    } finally {
      waiting.abort(); // the listeners that lost would pile up
    }
  }

  async #untilExit(): Promise<PgtailResult> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.kill('SIGKILL');
    }, this.#deadline);
    const [code, signal] = (await once(this.#child, 'close').finally(() => {
      clearTimeout(timer);
    })) as [number | null, NodeJS.Signals | null];
    if (late) throw this.#inVain('its end');
    return { code, signal, stdout: this.#stdout, stderr: this.#stderr };
  }

  #inVain(what: RegExp | string): Error {
    const printed = `stdout: ${this.#stdout.slice(-2000)}\nstderr: ${this.#stderr.slice(-2000)}`;
    return new Error(`pgtail: waited in vain for ${what}\n${printed}`);
  }
}

/** Starts it; use it with `await using`, which ends it whatever happens. */
export function startPgtail(args: readonly string[], options?: PgtailOptions): PgtailProcess {
  return new PgtailProcess(process.execPath, [PGTAIL, ...args], options);
}

/** Runs it to its end. */
export async function runPgtail(
  args: readonly string[],
  options?: PgtailOptions,
): Promise<PgtailResult> {
  await using child = startPgtail(args, options);
  return await child.exited;
}

/** Runs a shell command in which `pgtail` is the program. */
export function startShell(command: string, options?: PgtailOptions): PgtailProcess {
  const script = `pgtail() { ${quoted(process.execPath)} ${quoted(PGTAIL)} "$@"; }\n${command}`;
  return new PgtailProcess('bash', ['-c', script], options);
}

export async function runShell(command: string, options?: PgtailOptions): Promise<PgtailResult> {
  await using child = startShell(command, options);
  return await child.exited;
}

/** Words for a shell, each quoted. */
export function shellWords(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
