// The few functions of the file system that the file needs: passed in, so that a test can let any
// of them fail.

import * as fs from 'node:fs';

export interface FileStatus {
  readonly kind: 'file' | 'folder' | 'other';
  readonly size: number;
  /** Device and inode: what stays the same under another name. */
  readonly id: string;
}

/** All of them throw, or reject with, a NodeJS.ErrnoException. */
export interface FileSystem {
  /** Follows symbolic links. */
  status(path: string): FileStatus;
  statusOf(fd: number): FileStatus;
  realPath(path: string): string;
  linkTarget(path: string): string;
  /** The names in a folder. */
  names(folder: string): readonly string[];
  remove(path: string): void;
  open(path: string, flags: number, mode?: number): number;
  close(fd: number): void;
  read(fd: number, into: Buffer, position: number): number;
  truncate(fd: number, size: number): void;
  rename(from: string, to: string): void;
  /** For a header line; all else is written with `write`. */
  writeNow(fd: number, bytes: Buffer, position: number): number;
  syncNow(fd: number): void;
  /** In the thread pool. Returns how many of the bytes were written: at least one. */
  write(fd: number, bytes: Buffer, position: number): Promise<number>;
  /** fdatasync, in the thread pool. */
  dataSync(fd: number): Promise<void>;
}

export const nodeFileSystem: FileSystem = {
  status: (path) => fileStatus(fs.statSync(path, { bigint: true })),
  statusOf: (fd) => fileStatus(fs.fstatSync(fd, { bigint: true })),
  realPath: (path) => fs.realpathSync(path),
  linkTarget: (path) => fs.readlinkSync(path),
  names: (folder) => fs.readdirSync(folder),
  remove: (path) => fs.unlinkSync(path),
  open: (path, flags, mode) => fs.openSync(path, flags, mode),
  close: (fd) => fs.closeSync(fd),
  read: (fd, into, position) => fs.readSync(fd, into, 0, into.length, position),
  truncate: (fd, size) => fs.ftruncateSync(fd, size),
  rename: (from, to) => fs.renameSync(from, to),
  writeNow: (fd, bytes, position) => fs.writeSync(fd, bytes, 0, bytes.length, position),
  syncNow: (fd) => fs.fsyncSync(fd),
  write: (fd, bytes, position) =>
    new Promise((resolve, reject) => {
      fs.write(fd, bytes, 0, bytes.length, position, (error, count) => {
        if (error) reject(error);
        else resolve(count);
      });
    }),
  dataSync: (fd) =>
    new Promise((resolve, reject) => {
      fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()));
    }),
};

function fileStatus(stats: fs.BigIntStats): FileStatus {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other';
  return { kind, size: Number(stats.size), id: `${stats.dev}:${stats.ino}` };
}

/** Every function above throws this and nothing else. */
export const errorCode = (error: unknown): string | undefined =>
  (error as NodeJS.ErrnoException).code;

/** The status of what stands there; undefined: nothing does. */
export function statusIfThere(files: FileSystem, path: string): FileStatus | undefined {
  try {
    return files.status(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Makes a name last that was given to a file in this folder. As PostgreSQL's fsync_fname_ext: a
 * folder that may not be read, or a file system that cannot sync one, is no failure.
 */
export function syncFolder(files: FileSystem, folder: string): void {
  try {
    const fd = files.open(folder, fs.constants.O_RDONLY);
    try {
      files.syncNow(fd);
    } finally {
      files.close(fd);
    }
  } catch (error) {
    if (!['EACCES', 'EISDIR', 'EBADF', 'EINVAL'].includes(errorCode(error) ?? '')) throw error;
  }
}
