// argv → command → exit code: the only place that prints errors and picks exit codes.

import { leaveClosedTerminals } from './cli/closed-terminal.ts';
import { runProgram } from './cli/program.ts';
import { stopSignal } from './cli/stop-signal.ts';

/** Runs pgtail with these arguments (without node and script) and ends the process. */
export async function main(args: readonly string[]): Promise<void> {
  const stop = stopSignal(process);
  process.on('uncaughtException', (error) => void fail(error));
  try {
    const exitCode = await runProgram(args, stop);
    // null: nothing waits, and standard error would be loaded for nothing
    if (exitCode !== null) await end(exitCode);
  } catch (error) {
    await fail(error);
  }
}

/** What prints errors is loaded when there is one: 2 ms. */
async function fail(error: unknown): Promise<void> {
  const { printError } = await import('./cli/standard-error.ts');
  await end(printError(error));
}

/** Whatever still waits (a connection attempt given up, a reader that never reads) is left. */
async function end(exitCode: number): Promise<void> {
  const { stderr } = process;
  stderr.on('error', () => {}); // who closes it does not want to be told
  await new Promise((resolve) => stderr.write('', resolve));
  leaveClosedTerminals();
  process.exit(exitCode);
}
