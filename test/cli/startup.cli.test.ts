// What is loaded before anything is seen: each command only its own part.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runPgtail } from '../support/pgtail.ts';
import { temporaryFolder } from '../support/pty.ts';

const PRELOAD = fileURLToPath(new URL('../support/loaded-parts.cjs', import.meta.url));

/** Words that only the code of these packages has. */
const WORDS = { pg: 'sendCopyFromChunk', zod: 'ZodMiniObject', chalk: 'bgMagentaBright' };

interface Loaded {
  readonly code: number | null;
  readonly packages: readonly string[];
  /** Whether Node's modules of these names were needed. */
  readonly needs: (...modules: readonly string[]) => boolean;
}

async function loadedBy(...args: readonly string[]): Promise<Loaded> {
  using folder = temporaryFolder();
  const list = join(folder.path, 'parts.json');
  const env = { NODE_OPTIONS: `--require=${PRELOAD}`, LOADED_PARTS: list };
  const { code } = await runPgtail(args, { env });
  const { files, modules } = JSON.parse(readFileSync(list, 'utf8')) as {
    readonly files: readonly string[];
    readonly modules: readonly string[];
  };
  const program = files.map((file) => readFileSync(file, 'utf8')).join('');
  return {
    code,
    packages: Object.entries(WORDS).flatMap(([name, word]) => (program.includes(word) ? name : [])),
    needs: (...names) => names.some((name) => modules.includes(`NativeModule ${name}`)),
  };
}

it.concurrent.each(['--version', '--help'])(
  '%s loads neither pg nor zod, nor streams and sockets',
  async (option) => {
    const { code, packages, needs } = await loadedBy(option);
    expect({ code, packages }).toEqual({ code: 0, packages: [] });
    expect(needs('net', 'stream', 'child_process')).toBe(false);
  },
);

it.concurrent('a tail to NDJSON loads pg and zod, but no colours, and not what fetch() is made of', async () => {
  const { code, packages, needs } = await loadedBy('-h', '/nonexistent', '--format', 'ndjson');
  expect({ code, packages }).toEqual({ code: 3, packages: ['pg', 'zod'] });
  expect(needs('internal/deps/undici/undici')).toBe(false);
});

it.concurrent('a pretty tail loads the colours', async () => {
  const { packages } = await loadedBy('-h', '/nonexistent', '--format', 'pretty');
  expect(packages).toEqual(['pg', 'zod', 'chalk']);
});
