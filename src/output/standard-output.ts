// Standard output, whatever it is: a terminal, a pipe, a socket or a file.

import { constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import { EXIT, PgtailError } from '../errors.ts';
import { DescriptorOutput } from './descriptor-output.ts';
import type { Output, OutputListener } from './output.ts';
import { PipeOutput } from './pipe-output.ts';
import { watchReader } from './reader-watch.ts';

export type OutputKind = 'terminal' | 'pipe' | 'file';

const STDOUT = 1;

/** @throws PgtailError (output) if standard output is closed. */
export function standardOutputKind(): OutputKind {
  if (isatty(STDOUT)) return 'terminal';
  if (isClosed()) throw closedOutput();
  const status = fstatSync(STDOUT);
  return status.isFIFO() || status.isSocket() ? 'pipe' : 'file';
}

/**
 * Node opens /dev/null in the place of a closed descriptor, for reading and writing, before any of
 * our code runs: rows would be acknowledged that nobody can ever have. A shell's `> /dev/null` is
 * opened for writing only.
 */
function isClosed(): boolean {
  try {
    if (fstatSync(STDOUT).rdev !== statSync('/dev/null').rdev) return false;
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${STDOUT}`, 'utf8'));
    return flags !== null && (Number.parseInt(flags[1]!, 8) & constants.O_RDWR) !== 0;
  } catch {
    return false; // no such paths on this system
  }
}

function closedOutput(): PgtailError {
  return new PgtailError(EXIT.output, 'cannot write to standard output: it is closed', {
    hint: 'send it to a pipe or a file; to throw everything away: > /dev/null',
  });
}

export async function openStandardOutput(listener: OutputListener): Promise<Output> {
  switch (standardOutputKind()) {
    case 'file':
      return new DescriptorOutput(STDOUT, listener);
    case 'terminal':
      return new DescriptorOutput(reopened() ?? STDOUT, listener);
    case 'pipe':
      return openPipe(listener);
  }
}

async function openPipe(listener: OutputListener): Promise<Output> {
  const output = new PipeOutput(reopened() ?? STDOUT, listener);
  const watched = reopened();
  if (watched === undefined) return output;
  output.endWatch = await watchReader(watched, () => output.readerGone());
  return output;
}

/**
 * Standard output opened a second time: non-blocking mode belongs to the opening, and whoever else
 * shares ours (the shell, another process of the pipe) must not get it. Undefined where the
 * system has no such path, as for a socket.
 */
function reopened(): number | undefined {
  try {
    const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
    return openSync('/proc/self/fd/1', flags);
  } catch {
    return undefined;
  }
}
