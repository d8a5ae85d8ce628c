// The tail without a process of its own: with so many modes to run, starting Node would take most
// of the time.

import { commandOptions } from '../../src/cli/options.ts';
import type { RawOptions } from '../../src/cli/raw-options.ts';
import { environmentOf } from '../../src/cli/tail-command.ts';
import { PgtailError } from '../../src/errors.ts';
import type { Output } from '../../src/output/output.ts';
import { tail } from '../../src/tail/tail.ts';

export interface TailResult {
  readonly code: number;
  readonly stdout: string;
  /** Messages of the server, and what went wrong. */
  readonly notices: readonly string[];
}

/** Runs a tail to its end; `env` is all it sees of an environment. */
export async function tailInProcess(
  raw: RawOptions,
  env: Readonly<Record<string, string>> = {},
): Promise<TailResult> {
  const output = new MemoryOutput();
  const notices: string[] = [];
  let code = 0;
  try {
    const machine = { env, userName: 'nobody', exists: () => false };
    const options = commandOptions({ ...raw, quiet: true }, machine, false);
    const environment = await environmentOf(options, new AbortController().signal);
    await tail(options, {
      ...environment,
      openOutput: async () => output,
      onServerNotice: (notice) => notices.push(`${notice.severity}: ${notice.message}`),
      onAgain: (without) => notices.push(`again without ${without}`),
    });
  } catch (error) {
    if (!(error instanceof PgtailError)) throw error;
    code = error.exitCode;
    notices.push(error.message);
  }
  return { code, stdout: output.text, notices };
}

/** Accepts everything at once. */
class MemoryOutput implements Output {
  readonly pending = 0;
  readonly #blocks: Buffer[] = [];
  safe = 0;

  write(block: Buffer): void {
    this.#blocks.push(Buffer.from(block));
    this.safe += block.length;
  }

  get text(): string {
    return Buffer.concat(this.#blocks).toString('utf8');
  }

  confirmAccepted(): void {}

  close(): void {}
}
