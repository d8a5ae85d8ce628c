// Makes one plain file of a TypeScript program, so that what is measured does not translate itself.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** `script` is a file beside this one; the bundle stands in `folder`. Returns its path. */
export async function bundledScript(script: string, folder: string): Promise<string> {
  const outfile = join(folder, script.replace(/\.ts$/, '.cjs'));
  await build({
    entryPoints: [fileURLToPath(new URL(script, import.meta.url))],
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    external: ['pg-native'],
    logLevel: 'error',
  });
  return outfile;
}
