// Opens the file for writing: cuts off what is torn, writes the header where there is none.

import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { FileChanged } from './failure.ts';
import { type FileHeader, headerLine } from './file-header.ts';
import { errorCode, type FileSystem, syncFolder } from './file-system.ts';

export interface OpenFile {
  /** Behind symbolic links. */
  readonly target: string;
  readonly fd: number;
  /** See FileStatus. */
  readonly id: string;
  readonly size: number;
}

/**
 * Written at offsets that this program keeps, not with O_APPEND: cutting and writing then agree on
 * where the file ends, whoever else may have written to it.
 */
const FLAGS = constants.O_WRONLY;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
/** As other programs create files: what the umask leaves of it. */
const MODE = 0o666;

/** @throws FileChanged if something stands there already, else NodeJS.ErrnoException. */
export function createFile(files: FileSystem, target: string, header: FileHeader): OpenFile {
  const fd = openExpected(files, target, CREATE);
  return closedOnError(files, fd, () => {
    const size = appendHeader(files, fd, 0, header);
    syncFolder(files, dirname(target));
    return { target, fd, id: files.statusOf(fd).id, size };
  });
}

/** What is expected to stand at a path. */
export interface ExpectedFile {
  readonly target: string;
  readonly id: string;
  readonly size: number;
  /** See Examined. */
  readonly keep: number;
}

/**
 * `header` is written at the end of what is kept, if given. @throws FileChanged if the file is not
 * as expected, else NodeJS.ErrnoException.
 */
export function openExisting(
  files: FileSystem,
  { target, id, size, keep }: ExpectedFile,
  header: FileHeader | null,
): OpenFile {
  const fd = openExpected(files, target, FLAGS);
  return closedOnError(files, fd, () => {
    const found = files.statusOf(fd);
    if (found.id !== id || found.size !== size) throw new FileChanged(target);
    if (size > keep) files.truncate(fd, keep);
    const end = header === null ? keep : appendHeader(files, fd, keep, header);
    // what comes after a cut must not reach the disk before it; and what an earlier run wrote may
    // still be unsynced, the file's name too: from now on it counts as safe
    files.syncNow(fd);
    syncFolder(files, dirname(target));
    return { target, fd, id, size: end };
  });
}

/** Returns where the file ends then; it is synced. */
export function appendHeader(
  files: FileSystem,
  fd: number,
  at: number,
  header: FileHeader,
): number {
  const line = headerLine(header);
  for (let done = 0; done < line.length; ) {
    done += files.writeNow(fd, line.subarray(done), at + done);
  }
  files.syncNow(fd);
  return at + line.length;
}

function openExpected(files: FileSystem, target: string, flags: number): number {
  try {
    return files.open(target, flags, MODE);
  } catch (error) {
    const code = errorCode(error);
    const isOther = code === 'EEXIST' || (code === 'ENOENT' && flags === FLAGS);
    throw isOther ? new FileChanged(target) : error;
  }
}

function closedOnError<T>(files: FileSystem, fd: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    files.close(fd);
    throw error;
  }
}
