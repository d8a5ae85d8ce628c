// A terminal whose window is closed while the program runs: SIGHUP, and nothing can be written.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PGTAIL, PgtailProcess, shellWords } from '../support/pgtail.ts';
import { temporaryFolder } from '../support/pty.ts';
import { Shop } from '../support/tail.ts';
import { until } from '../support/until.ts';

/**
 * `script` owns the terminal. The shell in it, which hears of its end, passes that on as an interactive
 * one does, and writes into a file how the program ended: the first wait ends with the signal.
 */
function startInWindow(args: readonly string[], status: string): PgtailProcess {
  const program = shellWords([process.execPath, PGTAIL, ...args]);
  const end = `wait $!; wait $!; echo $? > ${shellWords([status])}`;
  const command = `trap 'kill -HUP $!' HUP; ${program} & ${end}`;
  return new PgtailProcess('script', ['-qefc', command, '/dev/null'], {
    env: { TERM: 'xterm-256color', SHELL: '/bin/sh' },
  });
}

/** As a shell gives it: 128 and the number of the signal, if one ended the program. */
async function statusIn(path: string): Promise<number> {
  const text = await until(() => existsSync(path) && readFileSync(path, 'utf8'));
  return Number(text);
}

it.concurrent.each([
  ['a tail', [], /slot/],
  ['slots --watch', ['slots', '--watch', '0.2'], /slots used/],
] as const)('%s on it stops as asked', async (_name, command, shown) => {
  await using shop = await Shop.open();
  using folder = temporaryFolder();
  const status = join(folder.path, 'status');
  const args =
    command.length > 0 ? [...command, ...shop.database.options] : [...shop.args, '--no-reconnect'];
  await using window = startInWindow(args, status);
  await window.output(shown);
  await window.stop('SIGKILL');
  expect(await statusIn(status)).toBe(0);
});
