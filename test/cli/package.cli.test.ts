// What npm packs runs by itself: the dependencies are in it.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/pty.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

it('the packed program runs with nothing installed beside it, and holds the licences of what is in it', () => {
  using folder = temporaryFolder();
  const run = (program: string, args: readonly string[], cwd: string): string =>
    execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  // dist/ is there already, and other tests are using it
  const pack = ['pack', '--ignore-scripts', '--pack-destination', folder.path];
  const tarball = run('npm', pack, root).trim().split('\n').at(-1)!;
  run('tar', ['-xzf', tarball], folder.path);
  const packed = join(folder.path, 'package');
  expect(run(process.execPath, ['bin/pgtail.js', '--version'], packed)).toBe(`${version}\n`);
  expect(() => run(process.execPath, ['bin/pgtail.js', '-h', '/nonexistent'], packed)).toThrow(
    // connecting loads everything that a tail needs
    expect.objectContaining({ status: 3 }),
  );
  const licences = readFileSync(join(packed, 'dist', 'LICENSES.txt'), 'utf8');
  for (const name of Object.keys(dependencies)) {
    expect(licences).toMatch(new RegExp(`^${name} ${dependencies[name]}$`, 'm'));
  }
});
