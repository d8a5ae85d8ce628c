// What is opened in the place of a file that somebody may have renamed, as logrotate does.

import { constants } from 'node:fs';
import type { Lsn } from '../../lsn.ts';
import { readContents } from './examine.ts';
import { FileChanged, notOurFile } from './failure.ts';
import type { FileHeader } from './file-header.ts';
import { pathBehindLinks } from './file-names.ts';
import { type FileSystem, statusIfThere } from './file-system.ts';
import { createFile, type OpenFile, openExisting } from './open-file.ts';

export interface Replaced {
  /** Synced, and at the end of a unit. */
  readonly current: OpenFile;
  /** For a new file. */
  readonly header: FileHeader;
  /** The highest end in the current file, or its header's position. */
  readonly position: Lsn;
}

/**
 * Nothing, or an empty file: begun with a header. The same file: goes on. Another one goes on only
 * if it holds the same units to the same end, as a copy does: an older one would get a hole, and
 * one that is further ahead the same units again.
 * @throws PgtailError (output), also FileChanged; else NodeJS.ErrnoException.
 */
export function openReplacement(
  files: FileSystem,
  path: string,
  { current, header, position }: Replaced,
): OpenFile {
  const target = pathBehindLinks(files, path);
  const status = statusIfThere(files, target);
  if (status === undefined) return createFile(files, target, header);
  if (status.id !== current.id) return openOther(files, path, target, header, position);
  if (status.size !== current.size) throw new FileChanged(path);
  return { ...current, target };
}

function openOther(
  files: FileSystem,
  path: string,
  target: string,
  header: FileHeader,
  position: Lsn,
): OpenFile {
  const found = readContents(files, target, constants.O_RDWR);
  if (found === undefined) throw new FileChanged(path);
  const { id, size } = found.status;
  const expected = { target, id, size, keep: found.keep };
  if (found.header === null) return openExisting(files, expected, header);
  const isSameOrigin = found.header.slot === header.slot && found.header.system === header.system;
  if (!isSameOrigin) throw notOurFile(path, 'it is now a file of another slot');
  if (found.position !== position || found.keep !== size) {
    throw notOurFile(path, 'it is now another file, which does not end where the last one did');
  }
  return openExisting(files, expected, null);
}
