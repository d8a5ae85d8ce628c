// Ends the throw-away server and removes its folder, also if this process is killed with -9.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';

// Each line read is the process (group) to end; an empty line means that there is none.
// End of file means that our side is gone, or asks for the clean-up.
// SIGQUIT is PostgreSQL's immediate shutdown: the postmaster ends all its children first.
const SCRIPT = `
trap '' INT TERM HUP
pid=
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then
  kill -s QUIT -- "-$pid"
  turns=100
  while kill -s 0 "$pid" && [ "$turns" -gt 0 ]; do sleep 0.1; turns=$((turns - 1)); done
  kill -s KILL -- "-$pid"
fi
turns=100
until rm -rf "$1" || [ "$turns" -eq 0 ]; do sleep 0.1; turns=$((turns - 1)); done
`;

export interface Watchdog {
  /** From now on this process group is ended if we are gone. */
  guard(pid: number): void;
  /** It ended by itself: its number may soon be somebody else's. */
  release(): void;
  /** Ends what is guarded, removes the folder, and resolves when both are done. */
  cleanUp(): Promise<void>;
}

export function startWatchdog(folder: string): Watchdog {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', folder], {
    cwd: '/',
    detached: true, // out of reach of the terminal's Ctrl-C
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const gone = once(shell, 'close');
  gone.catch(() => undefined);
  const input: Writable = shell.stdin;
  input.on('error', () => undefined); // the shell was killed: nothing can be told any more
  unreference(shell);
  return {
    guard: (pid) => {
      // 0 stands for a program that could not be started; to kill it would be our own group.
      if (pid > 0) input.write(`${pid}\n`);
    },
    release: () => {
      input.write('\n');
    },
    cleanUp: async () => {
      shell.ref();
      input.end();
      await gone;
    },
  };
}

/** Lets Node end although the shell still runs: that is just what it waits for. */
function unreference(shell: ChildProcess): void {
  shell.unref();
  const stdin = shell.stdin as { unref?: () => void } | null; // a socket: typed as Writable only
  stdin?.unref?.();
}
