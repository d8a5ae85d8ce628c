// argv → command → exit code: the only place that prints errors and picks exit codes.

import { runProgram } from './cli/program.ts';
import { printError } from './cli/standard-error.ts';
import { stopSignal } from './cli/stop-signal.ts';
import { EXIT } from './errors.ts';

/** Runs pgtail with these arguments (without node and script) and ends the process. */
export async function main(args: readonly string[]): Promise<void> {
  const stop = stopSignal(process);
  process.stderr.on('error', () => {}); // who closes it does not want to be told
  process.on('uncaughtException', (error) => void end(printError(error)));
  try {
    await runProgram(args, stop);
    await end(EXIT.ok);
  } catch (error) {
    await end(printError(error));
  }
}

/** Whatever still waits (a connection attempt given up, a reader that never reads) is left. */
async function end(exitCode: number): Promise<void> {
  await new Promise((resolve) => process.stderr.write('', resolve));
  process.exit(exitCode);
}
