// Bundles a benchmark as dist/ is bundled, and runs it: node bench/run.mjs in-process [ARG…]
// A loader that translates while it runs would add wrappers of its own to what is measured.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const [name, ...args] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'pgtail-bench-'));
try {
  const outfile = join(folder, 'main.mjs');
  await build({
    absWorkingDir: root,
    entryPoints: [`bench/${name}/main.ts`],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['pg-native'],
    // for the packages that are CommonJS
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
    },
    logLevel: 'error',
  });
  const command = [outfile, '--fixtures', `${root}/bench/fixtures`, ...args];
  process.exitCode = spawnSync(process.execPath, command, { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
