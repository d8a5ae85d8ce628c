// Runs the program on a terminal of its own (util-linux `script`), and gives the bytes it received.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGTAIL, type PgtailOptions, PgtailProcess, shellWords } from './pgtail.ts';

export interface TerminalOptions extends PgtailOptions {
  readonly columns?: number;
}

/** Standard output and error are the terminal: both come as `stdout`, lines ending in \r\n. */
export function startOnTerminal(
  args: readonly string[],
  options: TerminalOptions = {},
): PgtailProcess {
  const { columns = 120, env, ...others } = options;
  const command = `stty cols ${columns} rows 40; exec ${shellWords([process.execPath, PGTAIL, ...args])}`;
  return new PgtailProcess('script', ['-qefc', command, '/dev/null'], {
    ...others,
    env: { TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
  });
}

/** Runs it to its end; gives what the terminal received. */
export async function runOnTerminal(
  args: readonly string[],
  options?: TerminalOptions,
): Promise<{ readonly code: number | null; readonly screen: string }> {
  await using child = startOnTerminal(args, options);
  const { code, stdout } = await child.exited;
  return { code, screen: stdout };
}

/** A folder of the test, gone afterwards. */
export function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'pgtail-test-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
