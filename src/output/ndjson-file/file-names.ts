// The names of a file: where links lead to, and what a full file is renamed to.

import { basename, dirname, join, resolve } from 'node:path';
import { errorCode, type FileSystem } from './file-system.ts';

const MOST_LINKS = 40;

/**
 * The path of the file itself, behind all symbolic links: it is what is renamed and created. The
 * file need not exist. @throws NodeJS.ErrnoException, as if the file had been opened.
 */
export function pathBehindLinks(files: FileSystem, path: string): string {
  let target = resolve(path);
  for (let links = 0; links < MOST_LINKS; links++) {
    try {
      return files.realPath(target);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
    const inFolder = join(files.realPath(dirname(target)), basename(target));
    const link = linkTarget(files, inFolder);
    if (link === undefined) return inFolder;
    target = resolve(dirname(inFolder), link);
  }
  return files.realPath(target);
}

/** Undefined: no link, or nothing at all. */
function linkTarget(files: FileSystem, path: string): string | undefined {
  try {
    return files.linkTarget(path);
  } catch (error) {
    if (['ENOENT', 'EINVAL'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** The rotated files of `path`: `PATH.1`, `PATH.2` …, the highest number first. */
export function rotatedFiles(files: FileSystem, path: string): string[] {
  return rotatedNumbers(files, path).map((number) => `${path}.${number}`);
}

export function nextRotatedFile(files: FileSystem, path: string): string {
  return `${path}.${(rotatedNumbers(files, path)[0] ?? 0) + 1}`;
}

function rotatedNumbers(files: FileSystem, path: string): number[] {
  const prefix = `${basename(path)}.`;
  return files
    .names(dirname(path))
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .filter((number) => /^[1-9]\d{0,14}$/.test(number))
    .map(Number)
    .sort((a, b) => b - a);
}
