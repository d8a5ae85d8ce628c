// How the file is used: `examine` it, start the stream at its position, and `openNdjsonFile` before
// the first message. Holding the slot is what keeps a second pgtail away from the file.

import { INVALID_LSN, type Lsn } from '../../lsn.ts';
import type { OutputListener } from '../output.ts';
import type { Examined } from './examine.ts';
import { fileFailure } from './failure.ts';
import type { FileHeader } from './file-header.ts';
import { type FileSystem, nodeFileSystem } from './file-system.ts';
import { type NdjsonFileOptions, NdjsonFileOutput } from './ndjson-file-output.ts';
import { createFile, type OpenFile, openExisting } from './open-file.ts';

/**
 * Opens what was examined, once the slot is held: whoever writes the file holds its slot. A torn
 * end is cut off; a header is written if the file has none, or if it does not name this timeline or
 * this position. What is in the file then is synced.
 * @throws FileChanged if it is not what was examined: somebody else held the slot meanwhile, and
 * `examine` and the start of the stream are to be done again. PgtailError (output) if it cannot be
 * opened or written.
 */
export function openNdjsonFile(
  examined: Examined,
  options: NdjsonFileOptions,
  listener: OutputListener,
): NdjsonFileOutput {
  const { path, slot, system } = examined;
  const { files = nodeFileSystem, timeline } = options;
  const header = { slot, system, timeline, afterLsn: startPosition(examined, options) };
  try {
    const file = openExamined(files, examined, header);
    return new NdjsonFileOutput({ ...options, files, path, file, header, listener });
  } catch (error) {
    throw fileFailure('open', path, error);
  }
}

function startPosition({ position = INVALID_LSN }: Examined, options: NdjsonFileOptions): Lsn {
  if (position > options.position) return position;
  return options.position;
}

function openExamined(files: FileSystem, examined: Examined, header: FileHeader): OpenFile {
  const { target, status, keep, timeline, position } = examined;
  if (status === null) return createFile(files, target, header);
  const isTold = timeline === header.timeline && position !== undefined;
  const isNews = !isTold || position < header.afterLsn;
  const { id, size } = status;
  return openExisting(files, { target, id, size, keep }, isNews || keep === 0 ? header : null);
}
