// `pgtail demo`: wires the demo's server to the tail.

import { basename, relative } from 'node:path';
import { runDemo } from '../demo/demo.ts';
import { checkedOptions } from './options.ts';
import type { RawOptions } from './raw-options.ts';
import { printNotice } from './standard-error.ts';
import { runTailCommand } from './tail-command.ts';

/** `pgtail` if it is on the path, else how it was started. */
function thisProgram(): string {
  const script = process.argv[1] ?? 'pgtail';
  return basename(script) === 'pgtail' ? 'pgtail' : `node ${relative(process.cwd(), script)}`;
}

export async function runDemoCommand(raw: RawOptions, signal: AbortSignal): Promise<void> {
  const { format, color, quiet } = raw;
  checkedOptions({ format, color }); // before a server is started for nothing
  await runDemo(
    { once: raw.once === true },
    {
      signal,
      program: thisProgram(),
      notice: (line) => {
        if (quiet !== true) printNotice(line);
      },
      async tail(target, tailSignal) {
        const { host, port, user, database, slot, publication, follow } = target;
        const options = {
          host,
          port: String(port),
          username: user,
          dbname: database,
          slot,
          publication: [publication],
          follow,
          format,
          color,
          quiet: true,
        };
        await runTailCommand(options, tailSignal, {}); // PG* speak of another server
        return 0;
      },
    },
  );
}
