// What an existing file holds, read from its end: where to cut it and where the stream goes on.
// Reads only: another process may be writing the file.

import { constants } from 'node:fs';
import { EXIT, PgtailError } from '../../errors.ts';
import type { Lsn } from '../../lsn.ts';
import { fileFailure, foreignFile, notOurFile } from './failure.ts';
import {
  type FileHeader,
  type FileOrigin,
  FORMAT_VERSION,
  isTornHeader,
  LONGEST_HEADER,
  parseHeader,
} from './file-header.ts';
import { pathBehindLinks, rotatedFiles } from './file-names.ts';
import { type FileStatus, type FileSystem, nodeFileSystem, statusIfThere } from './file-system.ts';
import { FileTail } from './file-tail.ts';
import { lastHeader } from './last-header.ts';
import { lastUnit } from './last-unit.ts';

/**
 * After a crash of the machine, what had not been synced may be there in part, with zeros in the
 * place of the rest. The writer never has more than this unsynced, so zeros are looked for so far.
 */
export const MOST_UNSYNCED = 64 * 1024 * 1024;

export interface ExamineOptions extends FileOrigin {
  readonly path: string;
  /** The server's timeline. */
  readonly timeline: number;
  readonly files?: FileSystem;
  readonly blockBytes?: number;
}

/** A file as it was found. */
export interface Examined extends FileOrigin {
  /** As the user wrote it. */
  readonly path: string;
  /** The file itself, behind symbolic links. */
  readonly target: string;
  /** Null: there is no such file yet. */
  readonly status: FileStatus | null;
  /** The bytes to keep: up to the end of the last complete unit. 0: not even a header is there. */
  readonly keep: number;
  /**
   * Everything up to here is in the file, or in those rotated away before it. Undefined: no file
   * says anything; then the slot's own position counts.
   */
  readonly position: Lsn | undefined;
  /** The timeline that the file's last header names; undefined: it has none. */
  readonly timeline: number | undefined;
}

/** What one file holds. */
export interface FileContents {
  readonly status: FileStatus;
  /** Null: empty, or only a part of a header. */
  readonly header: FileHeader | null;
  readonly keep: number;
  readonly position: Lsn | undefined;
}

/**
 * @throws PgtailError (output) if the file cannot be opened for writing or is none of pgtail's,
 * (slot) if it holds the changes of another slot or system. FileChanged: it shrank meanwhile.
 */
export function examine(options: ExamineOptions): Examined {
  const { files = nodeFileSystem, path, slot, system } = options;
  try {
    const target = pathBehindLinks(files, path);
    const contents = readContents(files, target, constants.O_RDWR, options.blockBytes);
    const header = contents?.header ?? null;
    if (header !== null) checkOrigin(path, header, options);
    return {
      path,
      target,
      slot,
      system,
      status: contents?.status ?? null,
      keep: contents?.keep ?? 0,
      position: header === null ? rotatedPosition(files, target, options) : contents?.position,
      timeline: contents && lastTimeline(files, target, contents, options),
    };
  } catch (error) {
    throw fileFailure('open', path, error);
  }
}

/** As much as a header may be: a limit or a full disk shows only when something is written. */
const PROBE = Buffer.alloc(LONGEST_HEADER, ' ');

/** @throws PgtailError (output) if a file that is not there yet cannot be made and written. */
export function checkCreatable({ path, target, status }: Examined, files = nodeFileSystem): void {
  if (status !== null) return;
  try {
    const fd = files.open(target, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      files.writeNow(fd, PROBE, 0);
      files.syncNow(fd);
    } finally {
      files.close(fd);
      files.remove(target);
    }
  } catch (error) {
    throw fileFailure('open', path, error);
  }
}

/** Undefined: there is no such file. @throws as `examine`, but for slot and system. */
export function readContents(
  files: FileSystem,
  path: string,
  flags: number,
  blockBytes?: number,
): FileContents | undefined {
  const status = statusIfThere(files, path);
  if (status === undefined) return undefined;
  checkKind(path, status);
  return withTail(files, path, flags, blockBytes, readTail);
}

function checkKind(path: string, { kind }: FileStatus): void {
  if (kind === 'folder') throw notOurFile(path, 'it is a folder');
  if (kind === 'other') throw notOurFile(path, 'it is no regular file');
}

type Work<T> = (tail: FileTail, path: string, status: FileStatus) => T;

function withTail<T>(
  files: FileSystem,
  path: string,
  flags: number,
  blockBytes: number | undefined,
  work: Work<T>,
): T {
  const fd = files.open(path, flags);
  try {
    const status = files.statusOf(fd);
    return work(new FileTail({ files, fd, path, size: status.size, blockBytes }), path, status);
  } finally {
    files.close(fd);
  }
}

function readTail(tail: FileTail, path: string, status: FileStatus): FileContents {
  const first = firstLine(tail, path);
  if (first === null) return { status, header: null, keep: 0, position: undefined };
  const end = tail.endBeforeZeros(MOST_UNSYNCED);
  const { end: keep, lsn } = lastUnit(tail, end, { end: first.end, lsn: first.header.afterLsn });
  return { status, header: first.header, keep, position: lsn };
}

/** The header, and the offset behind it. Null: a crash came before it was written. */
function firstLine(tail: FileTail, path: string): { header: FileHeader; end: number } | null {
  const start = tail.read(0, Math.min(tail.size, LONGEST_HEADER));
  const lineFeed = start.indexOf(0x0a);
  if (lineFeed === -1 && start.length === tail.size && isTornHeader(start)) return null;
  const header = parseHeader(start.toString('utf8', 0, Math.max(lineFeed, 0)));
  if (header === undefined) {
    throw notOurFile(path, 'its first line is not the header of a file written with -f');
  }
  if (!('slot' in header)) {
    throw notOurFile(path, `it is of version ${header.version}, not ${FORMAT_VERSION}`);
  }
  return { header, end: lineFeed + 1 };
}

function checkOrigin(path: string, found: FileOrigin, own: FileOrigin): void {
  if (found.system !== own.system) {
    throw foreignFile(path, 'database system', found.system, own.system);
  }
  if (found.slot !== own.slot) throw foreignFile(path, 'slot', found.slot, own.slot);
}

/**
 * A crash may come between renaming a full file and writing the next one's header: then the newest
 * of the rotated ones tells the position. Others may rename too, and number otherwise: the newest
 * is the one that reaches furthest. Those that are none of pgtail's are passed over.
 */
function rotatedPosition(
  files: FileSystem,
  target: string,
  options: ExamineOptions,
): Lsn | undefined {
  let furthest: Lsn | undefined;
  for (const path of rotatedFiles(files, target)) {
    const contents = contentsIfOurs(files, path, options.blockBytes);
    if (!contents?.header || contents.position === undefined) continue;
    checkOrigin(path, contents.header, options);
    if (furthest === undefined || contents.position > furthest) furthest = contents.position;
  }
  return furthest;
}

function contentsIfOurs(
  files: FileSystem,
  path: string,
  blockBytes: number | undefined,
): FileContents | undefined {
  try {
    return readContents(files, path, constants.O_RDONLY, blockBytes);
  } catch (error) {
    if (error instanceof PgtailError && error.exitCode === EXIT.output) return undefined;
    throw error;
  }
}

/** Only a file of another timeline is searched for a later header. */
function lastTimeline(
  files: FileSystem,
  path: string,
  { header, keep }: FileContents,
  { timeline, blockBytes }: ExamineOptions,
): number | undefined {
  if (header === null || header.timeline === timeline) return header?.timeline;
  const { O_RDONLY } = constants;
  const last = withTail(files, path, O_RDONLY, blockBytes, (tail) => lastHeader(tail, keep));
  return (last ?? header).timeline;
}
