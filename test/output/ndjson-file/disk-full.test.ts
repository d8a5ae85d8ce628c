// A disk that is full: really, 64 KB of memory, where the system lets us mount it; else one that
// takes no more than that.

import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/errors.ts';
import { type FileSystem, nodeFileSystem } from '../../../src/output/ndjson-file/file-system.ts';
import { temporaryFolder } from '../../support/pty.ts';
import { FileRun } from './file-run.ts';

type Folder = Disposable & { readonly path: string };

/** Undefined: we may not mount. */
function smallDisk(): Folder | undefined {
  const folder = temporaryFolder();
  const { path } = folder;
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path]);
  if (status !== 0) {
    folder[Symbol.dispose]();
    return undefined;
  }
  const unmount = (): void => {
    spawnSync('umount', [path]);
    folder[Symbol.dispose]();
  };
  return { path, [Symbol.dispose]: unmount };
}

const DISK_BYTES = 64 * 1024;

/** Takes in part what does not fit, and then nothing, as a full disk does. */
const smallFiles: FileSystem = {
  ...nodeFileSystem,
  write(fd, bytes, position) {
    const room = DISK_BYTES - position;
    if (room > 0) return nodeFileSystem.write(fd, bytes.subarray(0, room), position);
    const full = new Error('ENOSPC: no space left on device, write');
    return Promise.reject(Object.assign(full, { code: 'ENOSPC', errno: -constants.errno.ENOSPC }));
  },
};

describe('a full disk', () => {
  it('ends the tail, and leaves a file of whole units', async () => {
    const disk = smallDisk();
    const files = disk === undefined ? smallFiles : nodeFileSystem;
    using run = new FileRun({ fsyncInterval: 0, files }, disk);
    let lsn = 100n;
    while (run.failures.length === 0) {
      lsn += 50n;
      run.unit(lsn);
      await run.output.sync();
    }
    const { exitCode, message } = await run.failure();
    expect(exitCode).toBe(EXIT.output);
    expect(message).toBe(`cannot write ${run.path}: no space left on device`);
    const { keep, position } = run.examined();
    expect({ keep, position }).toEqual({ keep: statSync(run.path).size, position: lsn - 50n });
    // nothing of the last unit was acknowledged, all before it was
    expect(run.output.safe).toBe(keep - run.contents().indexOf('\n') - 1);
  });
});
