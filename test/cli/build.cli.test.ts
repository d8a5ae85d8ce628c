// How the program is built, and what says so where it is not.

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/pty.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** As much of the project as a build needs; other tests are using what is built already. */
function copyProject(folder: string): string {
  for (const name of ['src', 'node_modules', 'package.json']) {
    symlinkSync(join(root, name), join(folder, name));
  }
  mkdirSync(join(folder, 'scripts'));
  cpSync(join(root, 'scripts', 'build.mjs'), join(folder, 'scripts', 'build.mjs'));
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  return folder;
}

const version = (folder: string) =>
  spawnSync(process.execPath, ['bin/pgtail.js', '--version'], { cwd: folder, encoding: 'utf8' });

it('a program that is started while it is built anew runs, and nothing of the build stays', async () => {
  using folder = temporaryFolder();
  const project = copyProject(folder.path);
  spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: project });
  const files = readdirSync(project);
  const building = spawn(process.execPath, ['scripts/build.mjs'], { cwd: project });
  const ended = new Promise((resolve) => building.once('exit', resolve));
  let isBuilding = true;
  ended.then(() => {
    isBuilding = false;
  });
  while (isBuilding) {
    expect(version(project)).toMatchObject({ status: 0, stderr: '' });
    await new Promise(setImmediate); // the end may be told
  }
  expect(await ended).toBe(0);
  expect(readdirSync(project)).toEqual(files);
});

it('a program that was not built says what to run', () => {
  using folder = temporaryFolder();
  expect(version(copyProject(folder.path))).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^pgtail: not built yet: run `npm ci`[^\n]*\n$/),
  });
});
