// Runs a program and tells the time, CPU time and memory it took.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Seconds and bytes. */
export interface Usage {
  readonly wall: number;
  readonly user: number;
  readonly system: number;
  readonly peakRss: number;
}

interface Report extends Usage {
  readonly code: number;
}

/** A file that standard output goes to, or a pipe that `cat` reads and throws away. */
export type OutputTarget = { readonly file: string } | 'pipe';

const RUSAGE = fileURLToPath(new URL('rusage.py', import.meta.url));
const MOST_OF_STDERR = 16 * 1024 * 1024;
const run = promisify(execFile);

/** Nothing of the user's connection settings or of npm reaches what is measured. */
export function plainEnvironment(
  environment: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const { PATH = '', HOME = '/nonexistent' } = environment;
  return { PATH, HOME, LC_ALL: 'C.UTF-8' };
}

/** @throws if the program fails, with what it said; if there is no python3. */
export async function measuredRun(
  command: readonly string[],
  output: OutputTarget,
): Promise<Usage> {
  const target = output === 'pipe' ? '|' : output.file;
  const { stdout, stderr } = await run('python3', [RUSAGE, target, ...command], {
    env: plainEnvironment(),
    maxBuffer: MOST_OF_STDERR,
  }).catch(explain);
  const { code, ...usage } = JSON.parse(stdout) as Report; // rusage.py's own words
  if (code !== 0) throw new Error(`${command.join(' ')}\nended with ${code}: ${stderr}`);
  return usage;
}

function explain(error: NodeJS.ErrnoException): never {
  if (error.code !== 'ENOENT') throw error;
  throw new Error('python3 is needed to measure CPU time: apt-get install python3');
}
